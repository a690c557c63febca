/** Settings, statistics, feature flags and the licence as records. */
import type { Tier } from '../../config.ts';
import type { ApplicationSettings } from '../../core/settings/definitions.ts';
import { type FeatureName, featureDefinitions } from '../../core/settings/features.ts';
import type { InstanceCounts } from './queries.ts';
import type {
  ApplicationSettingRecord,
  ApplicationStatistics,
  Feature,
  FeatureDefinition,
  LicenseWithActiveUsers,
} from './schema.ts';

/** Every setting under each of its names, but for those that are secret. */
export const presentSettings = ({
  akismet_api_key: _key,
  recaptcha_private_key: _privateKey,
  ...settings
}: ApplicationSettings): ApplicationSettingRecord => ({
  id: 1,
  ...settings,
  password_authentication_enabled: settings.password_authentication_enabled_for_web,
  signin_enabled: settings.password_authentication_enabled_for_web,
  allow_local_requests_from_hooks_and_services: settings.allow_local_requests_from_web_hooks_and_services,
  outbound_local_requests_whitelist: settings.outbound_local_requests_allowlist,
  throttle_unauthenticated_enabled: settings.throttle_unauthenticated_web_enabled,
  throttle_unauthenticated_requests_per_period: settings.throttle_unauthenticated_web_requests_per_period,
  throttle_unauthenticated_period_in_seconds: settings.throttle_unauthenticated_web_period_in_seconds,
  domain_allowlist_raw: settings.domain_allowlist.join('\n'),
  domain_denylist_raw: settings.domain_denylist.join('\n'),
  outbound_local_requests_allowlist_raw: settings.outbound_local_requests_allowlist.join('\n'),
  notes_create_limit_allowlist_raw: settings.notes_create_limit_allowlist.join('\n'),
});

const separated = (count: number): string => count.toLocaleString('en-US');

/** What does not exist here yet counts nothing. */
export const presentStatistics = (counts: InstanceCounts): ApplicationStatistics => ({
  forks: separated(counts.forks),
  issues: '0',
  merge_requests: '0',
  notes: '0',
  snippets: '0',
  ssh_keys: separated(counts.ssh_keys),
  milestones: '0',
  users: separated(counts.users),
  projects: separated(counts.projects),
  groups: separated(counts.groups),
  active_users: separated(counts.active_users),
});

const presentDefinition = (
  name: string,
  definition: (typeof featureDefinitions)[FeatureName],
): FeatureDefinition => ({
  name,
  description: definition.description,
  introduced_by_url: null,
  rollout_issue_url: null,
  milestone: null,
  type: 'development',
  group: null,
  default_enabled: definition.default,
});

export const presentDefinitions = (): FeatureDefinition[] =>
  Object.entries(featureDefinitions).map(([name, definition]) => presentDefinition(name, definition));

/** The flags that were set. One that was set under an older version and is defined no more is not shown. */
export const presentFeatures = (gates: readonly { name: string; value: string }[]): Feature[] => {
  const values = new Map(gates.map((gate) => [gate.name, gate.value === 'true']));
  return presentDefinitions().flatMap((definition) => {
    const value = values.get(definition.name);
    return value === undefined ? [] : [presentFeature(definition, value)];
  });
};

const presentFeature = (definition: FeatureDefinition, value: boolean): Feature => ({
  name: definition.name,
  state: value ? 'on' : 'off',
  gates: [{ key: 'boolean', value }],
  definition,
});

/** The tier as a licence: it is everybody's, without an end and without a limit. */
export const presentLicense = (plan: Tier, activeUsers: number): LicenseWithActiveUsers => ({
  id: 1,
  plan,
  created_at: null,
  starts_at: null,
  expires_at: null,
  historical_max: activeUsers,
  maximum_user_count: activeUsers,
  licensee: {},
  add_ons: {},
  expired: false,
  overage: 0,
  user_limit: 0,
  active_users: activeUsers,
});
