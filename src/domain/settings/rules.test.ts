/** Results of a change of the settings. */
import { describe, expect, test } from 'vitest';
import { branchProtectionOf } from '../../kernel/policy/branch-protection.ts';
import {
  type ApplicationSettings,
  ApplicationSettingsSchema,
  defaultSettings,
} from '../../kernel/settings/definitions.ts';
import { publicSettingNames } from './public-names.ts';
import { applyChange, checkSettings, differences, refusedNames } from './rules.ts';
import { type SettingsInput, settingAliases, settingTexts } from './schema.ts';

describe('refused names (facts: Application settings fields)', () => {
  test.each<[string, object, string[]]>([
    ['a setting', { signup_enabled: true }, []],
    ['another name of a setting', { signin_enabled: true, domain_denylist_raw: '' }, []],
    ['a public name that nothing obeys', { kroki_enabled: true, signup_enabled: true }, ['kroki_enabled']],
    ['a name that is nowhere', { colour: 'blue', private_token: 'x' }, []],
  ])('%s', (_, input, names) => {
    expect(Object.keys(refusedNames(input))).toEqual(names);
  });

  test('every setting is public, under one name at least', () => {
    const texts = Object.entries(settingTexts).filter(([name]) => publicSettingNames.has(name));
    const known = new Set<string>([...publicSettingNames, ...texts.map(([, setting]) => setting)]);
    // The spec makes this one a setting (Authentication, impersonation tokens); elsewhere it is in a file.
    known.add('impersonation_enabled');
    // Ours (docs/divergences.md): the public product takes plain http anywhere.
    known.add('oauth_plain_http_allowed');
    // Ours: elsewhere the services are always those of their makers, and a missing verdict lets everything pass.
    for (const name of ['akismet_url', 'recaptcha_url', 'spam_check_failure']) known.add(name);
    for (const name of ['enabled', 'upstream_url']) known.add(`dependency_proxy_${name}`);
    // Ours: elsewhere events are always kept for three years.
    known.add('activity_retention_days');
    // Ours: elsewhere it is a limit of the plan, which no request sets.
    known.add('web_hook_calls');
    // Ours: elsewhere a separate service keeps error reports.
    for (const name of ['max_event_bytes', 'events_per_minute', 'retention_days', 'events_per_error'])
      known.add(`error_tracking_${name}`);
    expect(Object.keys(ApplicationSettingsSchema.properties).filter((name) => !known.has(name))).toEqual([]);
    expect(Object.keys(settingAliases).filter((name) => !publicSettingNames.has(name))).toEqual([]);
  });
});

describe('changes', () => {
  test.each<[string, SettingsInput, Partial<ApplicationSettings>]>([
    ['nothing', {}, {}],
    ['one', { signup_enabled: false }, { signup_enabled: false }],
    [
      'its old name',
      { password_authentication_enabled: false },
      { password_authentication_enabled_for_web: false },
    ],
    ['its older name', { signin_enabled: false }, { password_authentication_enabled_for_web: false }],
    [
      'two names at once: its own wins',
      { signin_enabled: false, password_authentication_enabled_for_web: true },
      {},
    ],
    [
      'the throttle of old',
      { throttle_unauthenticated_enabled: true, throttle_unauthenticated_period_in_seconds: 60 },
      { throttle_unauthenticated_web_enabled: true, throttle_unauthenticated_web_period_in_seconds: 60 },
    ],
    [
      'a list as text',
      { domain_denylist_raw: 'a.example\r\n\n b.example ' },
      { domain_denylist: ['a.example', 'b.example'] },
    ],
    [
      'a list by its former name',
      { outbound_local_requests_whitelist: ['10.0.0.0/8'] },
      { outbound_local_requests_allowlist: ['10.0.0.0/8'] },
    ],
    [
      'branch protection by number',
      { default_branch_protection: 0 },
      { default_branch_protection: 0, default_branch_protection_defaults: branchProtectionOf(0) },
    ],
    [
      'branch protection by record',
      { default_branch_protection_defaults: { developer_can_initial_push: true } },
      { default_branch_protection: 4, default_branch_protection_defaults: branchProtectionOf(4) },
    ],
  ])('%s', (_, input, changes) => {
    expect(applyChange(defaultSettings, input)).toEqual({ ...defaultSettings, ...changes });
  });

  test('differences are by value', () => {
    const after = applyChange(defaultSettings, { signup_enabled: false, domain_denylist_raw: '' });
    expect(differences(defaultSettings, after)).toEqual([{ name: 'signup_enabled', from: true, to: false }]);
  });
});

describe('combinations', () => {
  test.each<[string, Partial<ApplicationSettings>, string[]]>([
    ['the defaults', {}, []],
    [
      'a default that is restricted',
      { restricted_visibility_levels: ['private'] },
      ['default_project_visibility', 'default_group_visibility', 'default_snippet_visibility'],
    ],
    ['other visibilities restricted', { restricted_visibility_levels: ['public', 'internal'] }, []],
    ['a path', { after_sign_out_path: '/explore' }, []],
    ['an address', { after_sign_out_path: 'https://example.com/bye' }, []],
    ['an address without a scheme', { after_sign_out_path: '//example.com' }, ['after_sign_out_path']],
    ['a script', { after_sign_out_path: 'javascript:alert(1)' }, ['after_sign_out_path']],
    ['a prefix', { personal_access_token_prefix: 'acme-' }, []],
    ['a prefix with a space', { personal_access_token_prefix: 'ac me' }, ['personal_access_token_prefix']],
    [
      'a storage that there is not',
      { repository_storages_weighted: { fast: 1 } },
      ['repository_storages_weighted'],
    ],
    ['one that is not used', { repository_storages_weighted: { default: 1, fast: 0 } }, []],
    [
      'a weight that is too great',
      { repository_storages_weighted: { default: 101 } },
      ['repository_storages_weighted'],
    ],
    ['a branch name', { default_branch_name: 'trunk/next' }, []],
    ['no branch name', { default_branch_name: '../x' }, ['default_branch_name']],
    ['a long list', { domain_allowlist: Array.from({ length: 1_001 }, () => 'a') }, ['domain_allowlist']],
    ['the spam service without its key', { akismet_enabled: true }, ['akismet_api_key']],
    ['with it', { akismet_enabled: true, akismet_api_key: 'sealed' }, []],
    [
      'the CAPTCHA service without its keys',
      { recaptcha_enabled: true },
      ['recaptcha_site_key', 'recaptcha_private_key'],
    ],
    ['with them', { recaptcha_enabled: true, recaptcha_site_key: 'a', recaptcha_private_key: 'sealed' }, []],
    [
      'a service without an address',
      { akismet_url: '', recaptcha_url: '/verify' },
      ['akismet_url', 'recaptcha_url'],
    ],
    ['a service that is no web address', { akismet_url: 'file:///etc/passwd' }, ['akismet_url']],
    [
      'an upstream registry with a query',
      { dependency_proxy_upstream_url: 'https://registry.example/?a=1' },
      ['dependency_proxy_upstream_url'],
    ],
    [
      'an upstream registry with credentials',
      { dependency_proxy_upstream_url: 'https://me:pass@registry.example' },
      ['dependency_proxy_upstream_url'],
    ],
    ['credentials in an address', { recaptcha_url: 'https://me:you@captcha.example' }, ['recaptcha_url']],
    ['a long entry', { domain_denylist: ['a'.repeat(256)] }, ['domain_denylist']],
  ])('%s', (_, changes, names) => {
    expect(Object.keys(checkSettings({ ...defaultSettings, ...changes }))).toEqual(names);
  });
});
