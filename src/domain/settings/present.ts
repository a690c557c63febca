/** Settings, statistics, feature flags and the licence as records. */
import type { Tier } from '../../kernel/config.ts';
import { limitInBytes } from '../../kernel/repository-size/rules.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import { type FeatureName, featureDefinitions } from '../../kernel/settings/features.ts';
import type { FeatureGate } from '../../kernel/settings/queries.ts';
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
  repository_size_limit: limitInBytes(settings.repository_size_limit),
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

/** Kinds of records that do not exist here count zero. */
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

const isDefined = (name: string): name is FeatureName => Object.hasOwn(featureDefinitions, name);

/** The first gate always, the others where they are set. */
export const presentFeature = (gate: FeatureGate): Feature => {
  const { name, actors, percentage_of_actors, percentage_of_time } = gate;
  const boolean = gate.value === 'true';
  const some = actors.length > 0 || percentage_of_actors > 0 || percentage_of_time > 0;
  return {
    name,
    state: boolean || percentage_of_time === 100 ? 'on' : some ? 'conditional' : 'off',
    gates: [
      { key: 'boolean', value: boolean },
      ...(actors.length > 0 ? [{ key: 'actors', value: actors }] : []),
      ...(percentage_of_actors > 0 ? [{ key: 'percentage_of_actors', value: percentage_of_actors }] : []),
      ...(percentage_of_time > 0 ? [{ key: 'percentage_of_time', value: percentage_of_time }] : []),
    ],
    definition: isDefined(name) ? presentDefinition(name, featureDefinitions[name]) : null,
  };
};

/** The tier as a licence, without an end and without a limit. */
export const presentLicense = (
  plan: Tier,
  activeUsers: number,
  mostUsers: number,
): LicenseWithActiveUsers => ({
  id: 1,
  plan,
  created_at: null,
  starts_at: null,
  expires_at: null,
  historical_max: Math.max(mostUsers, activeUsers),
  maximum_user_count: Math.max(mostUsers, activeUsers),
  licensee: {},
  add_ons: {},
  expired: false,
  overage: 0,
  user_limit: 0,
  active_users: activeUsers,
});
