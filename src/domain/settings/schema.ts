/** Records and parameters of the instance's settings and data for administrators. */
import Type, { type Static } from 'typebox';
import { ApplicationSettingsSchema, settingChanges } from '../../kernel/settings/definitions.ts';
import { commaList, deprecated, nullable } from '../../platform/http/parameters/schema.ts';

const {
  akismet_api_key: _key,
  recaptcha_private_key: _privateKey,
  ...shown
} = ApplicationSettingsSchema.properties;

const lines = (name: string) =>
  Type.String({ maxLength: 260_000, description: `${name} as text, an entry to a line.` });
const aliasOfBoolean = (name: string) => deprecated(Type.Boolean(), name);
const aliasOfCount = (name: string) => deprecated(Type.Integer({ minimum: 0, maximum: 2_147_483_647 }), name);

/** Settings that have a second name, by that name (facts: Application settings fields). */
export const settingAliases = {
  password_authentication_enabled: 'password_authentication_enabled_for_web',
  signin_enabled: 'password_authentication_enabled_for_web',
  allow_local_requests_from_hooks_and_services: 'allow_local_requests_from_web_hooks_and_services',
  outbound_local_requests_whitelist: 'outbound_local_requests_allowlist',
  throttle_unauthenticated_enabled: 'throttle_unauthenticated_web_enabled',
  throttle_unauthenticated_requests_per_period: 'throttle_unauthenticated_web_requests_per_period',
  throttle_unauthenticated_period_in_seconds: 'throttle_unauthenticated_web_period_in_seconds',
} as const;

/** Lists that are also one text. */
export const settingTexts = {
  domain_allowlist_raw: 'domain_allowlist',
  domain_denylist_raw: 'domain_denylist',
  outbound_local_requests_allowlist_raw: 'outbound_local_requests_allowlist',
  notes_create_limit_allowlist_raw: 'notes_create_limit_allowlist',
} as const;

const aliases = {
  password_authentication_enabled: aliasOfBoolean(settingAliases.password_authentication_enabled),
  signin_enabled: aliasOfBoolean(settingAliases.signin_enabled),
  allow_local_requests_from_hooks_and_services: aliasOfBoolean(
    settingAliases.allow_local_requests_from_hooks_and_services,
  ),
  outbound_local_requests_whitelist: deprecated(
    commaList(Type.String({ maxLength: 255 }), { maxItems: 1_000 }),
    settingAliases.outbound_local_requests_whitelist,
  ),
  throttle_unauthenticated_enabled: aliasOfBoolean(settingAliases.throttle_unauthenticated_enabled),
  throttle_unauthenticated_requests_per_period: aliasOfCount(
    settingAliases.throttle_unauthenticated_requests_per_period,
  ),
  throttle_unauthenticated_period_in_seconds: aliasOfCount(
    settingAliases.throttle_unauthenticated_period_in_seconds,
  ),
  domain_allowlist_raw: lines(settingTexts.domain_allowlist_raw),
  domain_denylist_raw: lines(settingTexts.domain_denylist_raw),
  outbound_local_requests_allowlist_raw: lines(settingTexts.outbound_local_requests_allowlist_raw),
  notes_create_limit_allowlist_raw: lines(settingTexts.notes_create_limit_allowlist_raw),
};

export const ApplicationSettingRecord = Type.Object({
  id: Type.Integer(),
  ...shown,
  ...aliases,
  repository_size_limit: Type.Integer({ description: 'In bytes, and given in MiB.' }),
});
export type ApplicationSettingRecord = Static<typeof ApplicationSettingRecord>;

/** Open, so that a setting of the public API that has no effect here is refused, not ignored. */
export const SettingsInput = Type.Object(
  { ...settingChanges, ...Type.Partial(Type.Object(aliases)).properties },
  { additionalProperties: true },
);
export type SettingsInput = Static<typeof SettingsInput>;

const figure = Type.String({ description: 'A count with thousands separators.' });
export const ApplicationStatistics = Type.Object({
  forks: figure,
  issues: figure,
  merge_requests: figure,
  notes: figure,
  snippets: figure,
  ssh_keys: figure,
  milestones: figure,
  users: figure,
  projects: figure,
  groups: figure,
  active_users: figure,
});
export type ApplicationStatistics = Static<typeof ApplicationStatistics>;

export const FeatureDefinition = Type.Object({
  name: Type.String(),
  description: Type.String(),
  introduced_by_url: nullable(Type.String()),
  rollout_issue_url: nullable(Type.String()),
  milestone: nullable(Type.String()),
  type: Type.String(),
  group: nullable(Type.String()),
  default_enabled: Type.Boolean(),
});
export type FeatureDefinition = Static<typeof FeatureDefinition>;

export const Feature = Type.Object({
  name: Type.String(),
  state: Type.String({ description: 'on, off, or conditional: on for some.' }),
  gates: Type.Array(
    Type.Object({
      key: Type.String(),
      value: Type.Union([Type.Boolean(), Type.Number(), Type.Array(Type.String())]),
    }),
  ),
  definition: nullable(FeatureDefinition),
});
export type Feature = Static<typeof Feature>;

const License = {
  id: Type.Integer(),
  plan: Type.String(),
  created_at: nullable(Type.String()),
  starts_at: nullable(Type.String()),
  expires_at: nullable(Type.String()),
  historical_max: Type.Integer(),
  maximum_user_count: Type.Integer(),
  licensee: Type.Object({}),
  add_ons: Type.Object({}),
  expired: Type.Boolean(),
  overage: Type.Integer(),
  user_limit: Type.Integer({ description: '0 for no limit.' }),
};
export const InstanceLicense = Type.Object(License);
export const LicenseWithActiveUsers = Type.Object({ ...License, active_users: Type.Integer() });
export type LicenseWithActiveUsers = Static<typeof LicenseWithActiveUsers>;
