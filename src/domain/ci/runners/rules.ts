/** Runners: what they may be, who is one, and what is refused (facts-ci: 1.2, 8, 9). Pure. */
import { limitOf, type PlanLimits } from '../../../kernel/instance/plan-limits.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { Failure, forbidden, invalid, type ValidationMessages } from '../../../platform/failure.ts';

export const runnerTypes = ['instance_type', 'group_type', 'project_type'] as const;
export type RunnerType = (typeof runnerTypes)[number];
export const accessLevels = ['not_protected', 'ref_protected'] as const;
export const runnerStatuses = ['online', 'offline', 'never_contacted', 'stale'] as const;
export type RunnerStatus = (typeof runnerStatuses)[number];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A runner that was heard of within this time is online. */
export const ONLINE_MS = 2 * HOUR_MS;
/** One that is new, or was heard of, within this time is not stale, and counts for the limit. */
export const RECENT_MS = 7 * 24 * HOUR_MS;

/** Processes with the token of one runner, the latest of which are kept. */
export const MAX_MANAGERS = 1_000;
export const MAX_TAGS = 50;
export const MIN_TIMEOUT = 600;

/** What a token begins with: how the runner came to be, and its type. */
const typeMarks: Record<RunnerType, string> = { instance_type: 't1', group_type: 't2', project_type: 't3' };
export type RegistrationType = 'registration_token' | 'authenticated_user';
const prefixes: Record<RegistrationType, string> = {
  registration_token: 'glrtr-',
  authenticated_user: 'glrt-',
};
export const tokenPrefix = (registration: RegistrationType, type: RunnerType): string =>
  `${prefixes[registration]}${typeMarks[type]}_`;

export const REGISTRATION_PREFIX = 'GR1348941';

/** What its owners say of a runner. */
export type RunnerFields = {
  description: string | null;
  maintenance_note: string | null;
  paused: boolean;
  locked: boolean;
  run_untagged: boolean;
  tag_list: string[];
  access_level: (typeof accessLevels)[number];
  maximum_timeout: number | null;
};

/** The same in a request: `active` is the old name of what is not paused, `maintainer_note` that of the other note. */
export type RunnerInput = { [Name in keyof RunnerFields]?: RunnerFields[Name] | undefined } & {
  active?: boolean | undefined;
  maintainer_note?: string | null | undefined;
};

const usual: RunnerFields = {
  description: null,
  maintenance_note: null,
  paused: false,
  locked: false,
  run_untagged: true,
  tag_list: [],
  access_level: 'not_protected',
  maximum_timeout: null,
};

/** A runner of a request, or one that a request changes; what it does not name stays. */
export function runnerOf(input: RunnerInput, before: RunnerFields = usual): RunnerFields {
  const { active, maintainer_note, ...named } = input;
  const given = {
    ...(maintainer_note !== undefined && { maintenance_note: maintainer_note }),
    ...(active !== undefined && { paused: !active }),
    ...named,
  };
  const after = { ...before };
  for (const name of Object.keys(before) as (keyof RunnerFields)[])
    if (given[name] !== undefined) Object.assign(after, { [name]: given[name] });
  return { ...after, tag_list: [...new Set(after.tag_list)] };
}

/** What is wrong with a runner; empty where nothing is. */
export function problemsOf({ run_untagged, tag_list, maximum_timeout }: RunnerFields): ValidationMessages {
  const tags = [
    ...(tag_list.length > MAX_TAGS
      ? [`Too many tags specified. Please limit the number of tags to ${MAX_TAGS}`]
      : []),
    ...(!run_untagged && tag_list.length === 0
      ? ['can not be empty when runner is not allowed to pick untagged jobs']
      : []),
  ];
  return {
    ...(tags.length > 0 && { tags_list: tags }),
    ...(maximum_timeout !== null &&
      maximum_timeout < MIN_TIMEOUT && { maximum_timeout: ['needs to be at least 10 minutes'] }),
  };
}

/** 400 for a runner that cannot be. */
export function refuseProblems(fields: RunnerFields): void {
  const problems = problemsOf(fields);
  if (Object.keys(problems).length > 0) throw invalid(problems);
}

/** 400 where a group or a project has as many recent runners as it may have. */
export function requirePlace(type: 'group_type' | 'project_type', count: number, limits: PlanLimits): void {
  const [name, property, of] =
    type === 'group_type'
      ? (['ci_registered_group_runners', 'runner_namespaces.base', 'group'] as const)
      : (['ci_registered_project_runners', 'runner_projects.base', 'project'] as const);
  const most = limitOf(limits, name);
  if (count < most) return;
  throw invalid({ [property]: [`Maximum number of ci registered ${of} runners (${most}) exceeded`] });
}

type Registering = Pick<ApplicationSettings, 'allow_runner_registration_token' | 'valid_runner_registrars'>;

/** Whether members of groups, or of projects, may add runners to them. */
export const mayRegister = (
  { valid_runner_registrars }: Pick<ApplicationSettings, 'valid_runner_registrars'>,
  type: RunnerType,
): boolean =>
  type === 'instance_type' || valid_runner_registrars.includes(type === 'group_type' ? 'group' : 'project');

/** Where a registration token makes a runner; 403 for a token of nothing that may have it, 410 where nothing may. */
export function registeringHome<Home extends { type: RunnerType }>(
  settings: Registering,
  home: Home | undefined,
): Home {
  if (home === undefined || !mayRegister(settings, home.type)) throw forbidden('invalid token supplied');
  if (settings.allow_runner_registration_token) return home;
  throw new Failure('gone', '410 Gone - runner registration disallowed');
}

type Expiring = Pick<
  ApplicationSettings,
  | 'runner_token_expiration_interval'
  | 'group_runner_token_expiration_interval'
  | 'project_runner_token_expiration_interval'
>;

/** When a token that is made now ends; null for never. */
export function expiryOf(settings: Expiring, type: RunnerType, time: Date): Date | null {
  const seconds = {
    instance_type: settings.runner_token_expiration_interval,
    group_type: settings.group_runner_token_expiration_interval,
    project_type: settings.project_runner_token_expiration_interval,
  }[type];
  return seconds === null ? null : new Date(time.getTime() + seconds * 1_000);
}

type Assigned = { runner_type: RunnerType; locked: boolean };

/** Refuses a runner that the project cannot be given: 403, or 400 where it has it already. */
export function refuseAssignment(
  { runner_type, locked }: Assigned,
  { has, admin }: { has: boolean; admin: boolean },
): void {
  if (runner_type === 'group_type') throw forbidden('Runner is a group runner');
  if (runner_type === 'instance_type')
    throw invalid({ base: ['Runner of the instance is for all projects, and cannot be assigned to one'] });
  if (locked && !admin) throw forbidden('Runner is locked');
  if (has) throw invalid({ runner_id: ['has already been taken'] });
}

/** 403 for a runner that stays with the project. */
export function refuseRemoval(
  { locked }: Pick<Assigned, 'locked'>,
  by: { owns: boolean; admin: boolean },
): void {
  if (locked && !by.admin) throw forbidden('Runner is locked');
  if (by.owns)
    throw forbidden('You cannot unassign a runner from the owner project. Delete the runner instead');
}

/** 403 for a runner that other projects have, too, unless an administrator deletes it. */
export function refuseDeletion(projects: number, admin: boolean): void {
  if (projects > 1 && !admin) throw forbidden('Runner associated with more than one project');
}

/** What a runner says of the process that asks. */
export type RunnerInfo = {
  name?: string | undefined;
  version?: string | undefined;
  revision?: string | undefined;
  platform?: string | undefined;
  architecture?: string | undefined;
  executor?: string | undefined;
  features?: Readonly<Record<string, unknown>> | undefined;
  config?: { gpus?: string | undefined } | undefined;
};

/** What is kept of it. */
export type ManagerFields = {
  version: string | null;
  revision: string | null;
  platform: string | null;
  architecture: string | null;
  executor: string | null;
  features: Readonly<Record<string, boolean>>;
  gpus: string | null;
};

const MAX_FEATURES = 100;
const MAX_FEATURE_LENGTH = 64;

/** The process as it says it is, over what was known of it. */
export function managerOf(info: RunnerInfo | undefined, before: ManagerFields | undefined): ManagerFields {
  const features = info?.features && Object.fromEntries(namedFeatures(info.features));
  return {
    version: info?.version ?? before?.version ?? null,
    revision: info?.revision ?? before?.revision ?? null,
    platform: info?.platform ?? before?.platform ?? null,
    architecture: info?.architecture ?? before?.architecture ?? null,
    executor: info?.executor ?? before?.executor ?? null,
    features: features ?? before?.features ?? {},
    gpus: info?.config?.gpus ?? before?.gpus ?? null,
  };
}

/** What is true or false of them, within bounds: others are kept by nobody. */
const namedFeatures = (features: Readonly<Record<string, unknown>>): [string, boolean][] =>
  Object.entries(features)
    .filter(
      (entry): entry is [string, boolean] =>
        typeof entry[1] === 'boolean' && entry[0].length <= MAX_FEATURE_LENGTH,
    )
    .slice(0, MAX_FEATURES);

const sameFeatures = (one: ManagerFields['features'], other: ManagerFields['features']): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([name, value]) => other[name] === value);

/** Whether anything but the time is to be written of a process. */
export const isChanged = (before: ManagerFields, after: ManagerFields): boolean =>
  (['version', 'revision', 'platform', 'architecture', 'executor', 'gpus'] as const).some(
    (name) => before[name] !== after[name],
  ) || !sameFeatures(before.features, after.features);

/**
 * Whether the time of a request is written: 40 to 55 minutes after the one that was. The fraction, below 1, is random, so
 * that processes that began together are not written together ever after.
 */
export const isContactDue = (contactedAt: Date | null, time: Date, fraction: number): boolean =>
  contactedAt === null || time.getTime() - contactedAt.getTime() >= (40 + 15 * fraction) * MINUTE_MS;
