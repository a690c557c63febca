import { expect, test } from 'vitest';
import {
  ApplicationSettingsSchema,
  defaultSettings,
  settingSections,
} from '../../kernel/settings/definitions.ts';
import { compileDecoder } from '../../platform/http/parameters/decode.ts';
import type { RawObject } from '../../platform/http/parameters/raw-parameters.ts';
import { SettingsInput } from './schema.ts';
import {
  changesIn,
  fieldsOf,
  isSection,
  isSet,
  labelOf,
  marksOf,
  optionName,
  removalName,
  type SectionName,
  type SettingField,
  textOf,
} from './settings-form.ts';

const sections = Object.keys(settingSections).filter(isSection);
const all = sections.flatMap(fieldsOf);
const nothing = () => '';

/** The form as a browser sends it: unticked boxes are absent, and lines end by two characters. */
function sent(fields: readonly SettingField[], texts: Readonly<Record<string, string>>) {
  const typed = new Map(Object.entries(texts).map(([name, text]) => [name, text.replaceAll('\n', '\r\n')]));
  for (const field of fields)
    if (field.kind === 'several')
      for (const option of textOf(field, defaultSettings).split('\n'))
        if (!typed.has(optionName(field.name, option))) typed.set(optionName(field.name, option), '1');
  return (name: string) => typed.get(name) ?? '';
}

const asShown = (fields: readonly SettingField[]) =>
  Object.fromEntries(fields.map((field) => [field.name, textOf(field, defaultSettings)]));

/** What of a form is changed where these texts were typed. */
function typedInto(section: SectionName, texts: Readonly<Record<string, string>>) {
  const fields = fieldsOf(section);
  const marks = marksOf(fields, defaultSettings);
  return changesIn(fields, sent(fields, { ...asShown(fields), ...texts }), marks);
}

test('every setting is in one section, and described', () => {
  const names = sections.flatMap((section) => Object.keys(settingSections[section].properties));
  expect(names).toEqual(Object.keys(ApplicationSettingsSchema.properties));
  expect(all.filter(({ description }) => description === '')).toEqual([]);
  // Of two forms of one thing, the newer is shown.
  expect(names.filter((name) => !all.some((field) => field.name === name))).toEqual([
    'default_branch_protection',
  ]);
});

test('a form that is sent as it was shown changes nothing', () => {
  for (const section of sections)
    expect([section, typedInto(section, {})]).toEqual([section, { changes: {}, unreadable: [] }]);
});

test('what every form can send is what the API reads: each default, typed anew', () => {
  const decode = compileDecoder(SettingsInput);
  for (const section of sections) {
    const fields = fieldsOf(section);
    const { changes, unreadable } = changesIn(fields, sent(fields, asShown(fields)), 'no marks');
    expect(unreadable).toEqual([]);
    const wanted = Object.fromEntries(
      fields.filter(({ kind }) => kind !== 'secret').map(({ name }) => [name, defaultSettings[name]]),
    );
    expect({ ...decode(changes as RawObject) }).toEqual(wanted);
  }
});

test.each<[SectionName, Record<string, string>, object]>([
  ['sign_in', { signup_enabled: '' }, { signup_enabled: false }],
  ['sign_in', { minimum_password_length: '12' }, { minimum_password_length: '12' }],
  ['sign_in', { minimum_password_length: '' }, { minimum_password_length: '' }],
  ['sign_in', { email_confirmation_setting: 'hard' }, { email_confirmation_setting: 'hard' }],
  [
    'sign_in',
    { domain_allowlist: ' a.example\n\nb.example ' },
    { domain_allowlist: ['a.example', 'b.example'] },
  ],
  ['sign_in', { after_sign_up_text: 'One\n\nTwo' }, { after_sign_up_text: 'One\n\nTwo' }],
  ['tokens', { max_personal_access_token_lifetime: '30' }, { max_personal_access_token_lifetime: '30' }],
  ['creation', { 'restricted_visibility_levels.public': '1' }, { restricted_visibility_levels: ['public'] }],
  ['runners', { 'valid_runner_registrars.group': '' }, { valid_runner_registrars: ['project'] }],
  ['repositories', { repository_storages_weighted: '{"a": 1}' }, { repository_storages_weighted: { a: 1 } }],
  ['spam', { akismet_api_key: 'key' }, { akismet_api_key: 'key' }],
  ['spam', { akismet_api_key: '' }, {}],
  ['spam', { [removalName('akismet_api_key')]: '1' }, { akismet_api_key: '' }],
  ['spam', { akismet_api_key: 'new', [removalName('akismet_api_key')]: '1' }, { akismet_api_key: 'new' }],
])('of %s, %j changes %j', (section, texts, changes) => {
  expect(typedInto(section, texts)).toEqual({ changes, unreadable: [] });
});

test('an empty number is null where that is allowed', () => {
  const fields = fieldsOf('repositories');
  const settings = { ...defaultSettings, receive_max_input_size: 5 };
  const { changes } = changesIn(fields, sent(fields, asShown(fields)), marksOf(fields, settings));
  expect(changes).toEqual({ receive_max_input_size: null });
});

test.each([
  '{',
  '',
  '[1]',
  '{"a\\u0000b": 1}',
  '{"a\\ud800": 1}',
  `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`,
])('%j is no JSON', (text) => {
  expect(typedInto('repositories', { repository_storages_weighted: text })).toEqual({
    changes: {},
    unreadable: ['repository_storages_weighted'],
  });
});

test.each(['', 'null', '[]', '"text"', '{"signup_enabled":1}'])(
  'of marks that are %j, all counts as changed',
  (marks) => {
    const { changes } = changesIn(fieldsOf('sign_in'), nothing, marks);
    expect(Object.keys(changes)).toHaveLength(fieldsOf('sign_in').length);
  },
);

test('no field has a secret, but says whether it is set', () => {
  const settings = { ...defaultSettings, akismet_api_key: 'sealed' };
  const fields = fieldsOf('spam');
  expect(fields.map((field) => textOf(field, settings)).join()).not.toContain('sealed');
  expect(marksOf(fields, settings)).toBe(marksOf(fields, defaultSettings));
  expect([isSet('akismet_api_key', settings), isSet('akismet_api_key', defaultSettings)]).toEqual([
    true,
    false,
  ]);
  expect(isSet('akismet_url', settings)).toBe(false);
});

test.each([
  ['signup_enabled', 'Signup enabled'],
  ['akismet_url', 'Akismet URL'],
  ['npm_package_requests_forwarding', 'npm package requests forwarding'],
  ['throttle_authenticated_api_enabled', 'Throttle authenticated API enabled'],
])('%s is %s', (name, label) => {
  expect(labelOf(name)).toBe(label);
});
