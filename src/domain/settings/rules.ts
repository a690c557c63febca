/** Results of a change of the settings, as functions of values: aliases resolved, combinations checked, differences. */
import { isDeepStrictEqual } from 'node:util';
import { changeBranchProtection } from '../../kernel/policy/branch-protection.ts';
import {
  type ApplicationSettings,
  ApplicationSettingsSchema,
  type SettingName,
} from '../../kernel/settings/definitions.ts';
import type { ValidationMessages } from '../../platform/failure.ts';
import { isRefName } from '../../platform/git/names.ts';
import { isWebAddress } from '../../platform/http/web-address.ts';
import { publicSettingNames } from './public-names.ts';
import { type SettingsInput, settingAliases, settingTexts } from './schema.ts';

const isSettingName = (name: string): name is SettingName =>
  Object.hasOwn(ApplicationSettingsSchema.properties, name);

const isOwnName = (name: string): boolean =>
  isSettingName(name) || Object.hasOwn(settingAliases, name) || Object.hasOwn(settingTexts, name);

/** A message for every setting of the public API that has no effect here; unknown names are ignored. */
export const refusedNames = (input: object): ValidationMessages =>
  Object.fromEntries(
    Object.keys(input)
      .filter((name) => publicSettingNames.has(name) && !isOwnName(name))
      .map((name) => [name, ['is not supported']]),
  );

const linesOf = (text: string): string[] =>
  text.split(/[\r\n]+/).flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));

const linesOrNothing = (text: string | undefined): string[] | undefined =>
  text === undefined ? undefined : linesOf(text);

/** The settings after the change. A setting sent under two names has the value of its own name. */
export function applyChange(current: ApplicationSettings, input: SettingsInput): ApplicationSettings {
  const web = input.password_authentication_enabled ?? input.signin_enabled;
  const own = Object.fromEntries(
    Object.entries(input).filter(([name, value]) => isSettingName(name) && value !== undefined),
  );
  const renamed = {
    password_authentication_enabled_for_web: web,
    allow_local_requests_from_web_hooks_and_services: input.allow_local_requests_from_hooks_and_services,
    throttle_unauthenticated_web_enabled: input.throttle_unauthenticated_enabled,
    throttle_unauthenticated_web_requests_per_period: input.throttle_unauthenticated_requests_per_period,
    throttle_unauthenticated_web_period_in_seconds: input.throttle_unauthenticated_period_in_seconds,
    domain_allowlist: linesOrNothing(input.domain_allowlist_raw),
    domain_denylist: linesOrNothing(input.domain_denylist_raw),
    outbound_local_requests_allowlist:
      linesOrNothing(input.outbound_local_requests_allowlist_raw) ?? input.outbound_local_requests_whitelist,
    notes_create_limit_allowlist: linesOrNothing(input.notes_create_limit_allowlist_raw),
  };
  const given = Object.fromEntries(Object.entries(renamed).filter(([, value]) => value !== undefined));
  const protection = changeBranchProtection(current.default_branch_protection_defaults, {
    level: input.default_branch_protection,
    record: input.default_branch_protection_defaults,
  });
  return {
    ...current,
    ...given,
    ...own,
    default_branch_protection: protection.level,
    default_branch_protection_defaults: protection.record,
  };
}

const isOwnPath = (text: string): boolean => /^\/(?![/\\])/.test(text);

const isServiceAddress = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
};

/** The spam check needs a key or address for each service. */
function checkSpamServices(settings: ApplicationSettings): ValidationMessages {
  const needed = [
    ...(settings.akismet_enabled ? (['akismet_api_key'] as const) : []),
    ...(settings.recaptcha_enabled ? (['recaptcha_site_key', 'recaptcha_private_key'] as const) : []),
  ];
  const missing = needed.filter((name) => settings[name].trim() === '');
  const addresses = (['akismet_url', 'recaptcha_url'] as const).filter(
    (name) => !isServiceAddress(settings[name]),
  );
  return Object.fromEntries([
    ...missing.map((name) => [name, ["can't be blank"]]),
    ...addresses.map((name) => [name, ['must be an http or https address without credentials']]),
  ]);
}

/** Problems of the settings as a whole; empty when there are none. `storages` are the configured names. */
export function checkSettings(
  settings: ApplicationSettings,
  storages: ReadonlySet<string> = new Set(['default']),
): ValidationMessages {
  const messages: ValidationMessages = {};
  const weights = Object.entries(settings.repository_storages_weighted);
  const unknown = weights.filter(([name, weight]) => weight > 0 && !storages.has(name)).map(([name]) => name);
  if (unknown.length > 0) {
    messages.repository_storages_weighted = [`can't include: ${unknown.join(', ')}`];
  } else if (weights.some(([, weight]) => !Number.isInteger(weight) || weight < 0 || weight > 100)) {
    messages.repository_storages_weighted = ["value for a storage must be between '0' and '100'"];
  }
  if (settings.default_branch_name !== '' && !isRefName(settings.default_branch_name)) {
    messages.default_branch_name = ['is not a name that a branch can have'];
  }
  const restricted = settings.restricted_visibility_levels;
  for (const name of [
    'default_project_visibility',
    'default_group_visibility',
    'default_snippet_visibility',
  ] as const) {
    if (restricted.includes(settings[name])) messages[name] = ['cannot be a restricted visibility level'];
  }
  const { after_sign_out_path: path } = settings;
  if (path !== '' && !isWebAddress(path) && !isOwnPath(path)) {
    messages.after_sign_out_path = ['must be an http or https address, or a path'];
  }
  if (!/^[A-Za-z0-9_+=/@:.-]*$/.test(settings.personal_access_token_prefix)) {
    messages.personal_access_token_prefix = ["can contain only Base64 letters, '_', '-', '@', ':' and '.'"];
  }
  for (const name of Object.values(settingTexts)) {
    if (settings[name].length > 1_000) messages[name] = ['is too long (maximum is 1000 entries)'];
    else if (settings[name].some((entry) => entry.length > 255)) {
      messages[name] = ['has an entry that is too long (maximum is 255 characters)'];
    }
  }
  const upstream = URL.parse(settings.dependency_proxy_upstream_url);
  if (!isServiceAddress(settings.dependency_proxy_upstream_url) || upstream?.search || upstream?.hash) {
    messages.dependency_proxy_upstream_url = [
      'must be an http or https address without credentials or a query',
    ];
  }
  return { ...messages, ...checkSpamServices(settings) };
}

type SettingDifference = { name: SettingName; from: unknown; to: unknown };

/** The settings whose value is another one after the change. */
export const differences = (before: ApplicationSettings, after: ApplicationSettings): SettingDifference[] =>
  Object.keys(after)
    .filter(isSettingName)
    .filter((name) => !isDeepStrictEqual(before[name], after[name]))
    .map((name) => ({ name, from: before[name], to: after[name] }));

/** The use of the licence as a table, whose head says of which licence it is. */
export function usageTable(
  license: { plan: string },
  counts: readonly { counted_at: Date; users: number }[],
  time: Date,
): string {
  const shown = (each: Date): string => each.toISOString().slice(0, 19).replace('T', ' ');
  const rows = [
    ['License Key', license.plan],
    ['Email', ''],
    ['License Start Date', ''],
    ['License End Date', ''],
    ['Company', ''],
    ['Generated At', shown(time)],
    ['', ''],
    ['Date', 'Billable User Count'],
    ...counts.map(({ counted_at, users }) => [shown(counted_at), String(users)]),
  ];
  return rows.map((row) => `${row.join(',')}\n`).join('');
}
