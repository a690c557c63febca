/** Administrators change the application settings in a browser. */
import { afterEach, describe, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { type Browser, hiddenFields, openBrowser, signInAs } from '../../../test/support/browser.ts';
import { bodyOf, makeUser } from '../../../test/support/factories.ts';
import { defaultSettings, type SettingName } from '../../kernel/settings/definitions.ts';
import { fieldsOf, isSection, optionName, type SectionName } from './settings-form.ts';
import { sectionList } from './settings-views.ts';

const app = useApp();
const SETTINGS = '/admin/settings';

const put = async (body: object) => bodyOf(await app.root('PUT /application/settings', { body }), 200);
const read = async () => bodyOf(await app.root('GET /application/settings'), 200);

const touched = [
  'signup_enabled',
  'minimum_password_length',
  'domain_allowlist',
  'after_sign_up_text',
  'restricted_visibility_levels',
  'default_project_visibility',
  'akismet_enabled',
  'akismet_api_key',
  'maintenance_mode',
  'session_expire_delay',
] as const satisfies SettingName[];
afterEach(() =>
  put({
    ...Object.fromEntries(touched.map((name) => [name, defaultSettings[name]])),
    throttle_protected_paths_enabled: false,
  }),
);

async function signedIn(admin: boolean): Promise<Browser> {
  await put({ throttle_protected_paths_enabled: false });
  const browser = openBrowser(app);
  const { username } = await makeUser(app, { admin });
  await signInAs(browser, username, 'correct horse battery staple');
  return browser;
}

/** What a browser would send of the form as it is shown. */
function formOf(text: string): Record<string, string> {
  const form = text.slice(text.indexOf('<form class="settings"'));
  const decode = (value: string) =>
    value
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&');
  const fields: Record<string, string> = {};
  for (const [tag = ''] of form.matchAll(/<input [^>]*>/g)) {
    const attribute = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1];
    if (attribute('type') === 'checkbox' && !tag.includes(' checked')) continue;
    fields[attribute('name') ?? ''] = decode(attribute('value') ?? '');
  }
  for (const [, name = '', value = ''] of form.matchAll(
    /<textarea [^>]*name="([^"]*)"[^>]*>\n([^<]*)<\/textarea>/g,
  ))
    fields[name] = decode(value).replaceAll('\n', '\r\n');
  for (const [, name = '', options = ''] of form.matchAll(
    /<select [^>]*name="([^"]*)"[^>]*>(.*?)<\/select>/gs,
  ))
    fields[name] = /value="([^"]*)" selected/.exec(options)?.[1] ?? '';
  return fields;
}

/** Opens the section, changes its form and sends it; a value of undefined unticks a box. */
async function save(browser: Browser, section: SectionName, changes: Record<string, string | undefined>) {
  const path = `${SETTINGS}/${section}`;
  const given = Object.entries({ ...formOf((await browser.get(path)).text), ...changes });
  return browser.post(
    path,
    Object.fromEntries(given.filter((pair): pair is [string, string] => pair[1] !== undefined)),
  );
}

describe('a section', () => {
  test('has all its settings with what each does; sent as it is, it changes nothing', async () => {
    const browser = await signedIn(true);
    const list = await browser.get(SETTINGS);
    const sections = [...list.text.matchAll(/href="\/admin\/settings\/(\w+)"/g)].map(([, name = '']) => name);
    expect(sections.filter(isSection)).toHaveLength(18);
    const before = await read();
    for (const section of sections.filter(isSection)) {
      const { text } = await browser.get(`${SETTINGS}/${section}`);
      for (const field of fieldsOf(section)) expect(text).toContain(`<code>${field.name}</code>`);
      expect((await save(browser, section, {})).location).toBe(`${SETTINGS}/${section}?done=same`);
    }
    expect(await read()).toEqual(before);
  });

  test('is saved by the endpoint, with its audit event, and says so', async () => {
    const browser = await signedIn(true);
    const saved = await save(browser, 'sign_in', {
      signup_enabled: undefined,
      minimum_password_length: '12',
      domain_allowlist: ' a.example \r\n\r\nb.example',
      after_sign_up_text: 'Wait.\r\n\r\nPlease.',
    });
    expect([saved.status, saved.location]).toEqual([303, `${SETTINGS}/sign_in?done=saved`]);
    expect(await read()).toMatchObject({
      signup_enabled: false,
      minimum_password_length: 12,
      domain_allowlist: ['a.example', 'b.example'],
      after_sign_up_text: 'Wait.\n\nPlease.',
    });
    const { text } = await browser.get(saved.location ?? '');
    expect(text).toContain('Saved.');
    expect(text).toContain('Default: 8.');
    const changed = /(\d) changed/.exec((await browser.get(SETTINGS)).text);
    expect(changed?.[1]).toBe('4');
    const events = bodyOf(await app.root('GET /audit_events', { query: 'entity_type=InstanceScope' }), 200);
    expect(JSON.stringify(events)).toContain('"change":"minimum_password_length"');
  });

  test('takes several of some values, and none', async () => {
    const browser = await signedIn(true);
    const name = (level: string) => optionName('restricted_visibility_levels', level);
    await save(browser, 'creation', { [name('public')]: '1', [name('internal')]: '1' });
    expect((await read()).restricted_visibility_levels).toEqual(['internal', 'public']);
    await save(browser, 'creation', { [name('public')]: undefined, [name('internal')]: undefined });
    expect((await read()).restricted_visibility_levels).toEqual([]);
  });

  test('that is wrong is not saved: the reason is beside its field, and what was typed is kept', async () => {
    const browser = await signedIn(true);
    const refused = await save(browser, 'sign_in', {
      minimum_password_length: '3',
      session_expire_delay: 'soon',
      after_sign_up_text: 'Kept <b>',
      signup_enabled: undefined,
    });
    expect(refused.status).toBe(422);
    const { text } = refused;
    expect(text).toMatch(
      /id="minimum_password_length_problem">This does not have a valid value; it takes [^<]*8/,
    );
    expect(text).toContain('id="session_expire_delay_problem"');
    expect(formOf(text)).toMatchObject({
      minimum_password_length: '3',
      session_expire_delay: 'soon',
      after_sign_up_text: 'Kept <b>',
    });
    expect(formOf(text)).not.toHaveProperty('signup_enabled');
    expect(await read()).toMatchObject({ minimum_password_length: 8, signup_enabled: true });
    // Mended there, it is saved.
    const mended = await browser.post(`${SETTINGS}/sign_in`, {
      ...formOf(text),
      minimum_password_length: '9',
      session_expire_delay: '60',
    });
    expect(mended.location).toContain('done=saved');
    expect(await read()).toMatchObject({
      minimum_password_length: 9,
      signup_enabled: false,
      session_expire_delay: 60,
    });
  });

  test('of rules between settings tells the reason beside the one that is wrong', async () => {
    const browser = await signedIn(true);
    const refused = await save(browser, 'creation', {
      [optionName('restricted_visibility_levels', 'private')]: '1',
    });
    expect(refused.text).toContain('id="default_project_visibility_problem">This cannot be a restricted');
    const broken = await save(browser, 'repositories', { repository_storages_weighted: '{"default": ' });
    expect(broken.text).toContain('id="repository_storages_weighted_problem">This is not JSON.');
    const unknown = await save(browser, 'repositories', {
      repository_storages_weighted: '{"elsewhere": 100}',
    });
    expect(unknown.text).toContain('include: elsewhere');
  });
});

test('two administrators at the same section keep what the other changed', async () => {
  const [one, other] = [await signedIn(true), await signedIn(true)];
  const path = `${SETTINGS}/sign_in`;
  const shown = formOf((await one.get(path)).text);
  expect((await save(other, 'sign_in', { minimum_password_length: '16' })).location).toContain('done=saved');
  const { signup_enabled: _, ...unticked } = shown;
  expect((await one.post(path, unticked)).location).toContain('done=saved');
  expect(await read()).toMatchObject({ minimum_password_length: 16, signup_enabled: false });
  const both = await Promise.all([
    save(one, 'sign_in', { minimum_password_length: '10' }),
    save(other, 'sign_in', { session_expire_delay: '90' }),
  ]);
  expect(both.map(({ location }) => location)).toEqual([`${path}?done=saved`, `${path}?done=saved`]);
  expect(await read()).toMatchObject({ minimum_password_length: 10, session_expire_delay: 90 });
});

test('a secret is set and removed, never shown; left empty it stays', async () => {
  const browser = await signedIn(true);
  const path = `${SETTINGS}/spam`;
  expect((await browser.get(path)).text).toMatch(/id="akismet_api_key_hint">It is not set/);
  const stored = async () => (await app.app.services.settings.read()).akismet_api_key;
  await save(browser, 'spam', { akismet_api_key: 'the-secret-key' });
  app.app.services.settings.forget();
  const sealed = await stored();
  expect(sealed.length).toBeGreaterThan(20);
  const { text } = await browser.get(path);
  expect(text).toMatch(/id="akismet_api_key_hint">It is set; leave this empty to keep it/);
  for (const secret of ['the-secret-key', sealed]) expect(text).not.toContain(secret);
  // A wrong form does not have it either.
  const refused = await save(browser, 'spam', { akismet_api_key: 'another-key', akismet_url: 'nowhere' });
  expect(refused.status).toBe(422);
  expect(refused.text).not.toContain('another-key');
  await save(browser, 'spam', { akismet_enabled: '1' });
  app.app.services.settings.forget();
  expect(await stored()).toBe(sealed);
  await save(browser, 'spam', { akismet_enabled: undefined, 'akismet_api_key.remove': '1' });
  expect((await browser.get(path)).text).toMatch(/id="akismet_api_key_hint">It is not set/);
});

test('in maintenance other changes are refused as by the API, and it is ended here', async () => {
  const browser = await signedIn(true);
  const user = await makeUser(app);
  await save(browser, 'operation', { maintenance_mode: '1' });
  expect((await browser.get('/admin')).text).toContain('Maintenance mode is on');
  const refused = await browser.submit(`/admin/users/${user.id}`, {}, `/admin/users/${user.id}/block`);
  expect(refused.status).toBe(503);
  expect((await app.root(`GET /users/${user.id}`)).body.state).toBe('active');
  expect((await save(browser, 'operation', { maintenance_mode: undefined })).location).toContain(
    'done=saved',
  );
  expect((await browser.get('/admin')).text).not.toContain('Maintenance mode is on');
});

test('others read and change nothing; a form without its token is refused', async () => {
  const [browser, theirs] = [await signedIn(true), await signedIn(false)];
  const own = hiddenFields((await theirs.get('/-/profile/active_sessions')).text, '/users/sign_out');
  for (const path of [SETTINGS, `${SETTINGS}/sign_in`]) expect((await theirs.get(path)).status).toBe(404);
  expect((await theirs.post(`${SETTINGS}/sign_in`, { ...own, shown: '{}' })).status).toBe(404);
  expect((await browser.post(`${SETTINGS}/sign_in`, { minimum_password_length: '100' })).status).toBe(403);
  for (const section of ['nothing', 'toString', '__proto__'])
    expect((await browser.get(`${SETTINGS}/${section}`)).status).toBe(404);
  expect((await read()).minimum_password_length).toBe(8);
});

test('how much is changed counts a secret that is set', () => {
  const { text } = sectionList({ ...defaultSettings, akismet_api_key: 'sealed', maintenance_mode: true });
  expect(text.match(/1 changed/g)).toHaveLength(2);
});
