/** Environments and deployments in requests and responses (facts: Environment, Deployment). */
import Type, { type Static } from 'typebox';
import { BasicProject } from '../../../kernel/namespaces/project-records.ts';
import { UserBasic } from '../../../kernel/users/records.ts';
import {
  atMostOne,
  dateTime,
  integerId,
  nullable,
  parameterRules,
  refusedAlways,
  stringEnum,
} from '../../../platform/http/parameters/schema.ts';
import { tiers } from '../file/tier.ts';
import { Job } from '../jobs/schema.ts';
import {
  autoStopSettings,
  deploymentStatuses,
  MAX_NAME_LENGTH,
  NAME_PATTERN,
  reportedStatuses,
  states,
} from './rules.ts';

const name = Type.String({
  maxLength: 1_000,
  ruled: { pattern: NAME_PATTERN, maxLength: MAX_NAME_LENGTH },
  description: 'Neither its first nor its last character is a slash.',
});

const changes = {
  external_url: Type.Optional(
    nullable(Type.String({ maxLength: 255, description: 'Where the environment is found.' })),
  ),
  tier: Type.Optional(stringEnum(tiers, { description: 'Guessed from the name unless given.' })),
  description: Type.Optional(nullable(Type.String({ maxLength: 10_000 }))),
  kubernetes_namespace: Type.Optional(nullable(Type.String({ maxLength: 63 }))),
  flux_resource_path: Type.Optional(nullable(Type.String({ maxLength: 255 }))),
  auto_stop_setting: Type.Optional(
    stringEnum(autoStopSettings, { description: 'Whether time stops it without a job that does it, too.' }),
  ),
  slug: Type.Optional(Type.String({ description: 'Made of the name: refused.', ruled: refusedAlways })),
};

const one = { environment_id: integerId() };
export const OneEnvironment = Type.Object(one);

const MIN_SEARCH_LENGTH = 3;
export const EnvironmentList = Type.Object(
  {
    name: Type.Optional(Type.String({ description: 'The whole name.' })),
    search: Type.Optional(
      Type.String({ ruled: { minLength: MIN_SEARCH_LENGTH }, description: 'A part of the name.' }),
    ),
    states: Type.Optional(stringEnum(states)),
  },
  parameterRules({ ...atMostOne('name', 'search') }),
);
export type EnvironmentList = Static<typeof EnvironmentList>;
/** Whether a part of a name is long enough to be looked for. */
export const isSearchable = (search: string): boolean => search.length >= MIN_SEARCH_LENGTH;

export const CreateEnvironment = Type.Object({ name, ...changes });
export type CreateEnvironment = Static<typeof CreateEnvironment>;
export const UpdateEnvironment = Type.Object({ ...one, ...changes });
export type EnvironmentChanges = Omit<Static<typeof UpdateEnvironment>, 'environment_id'>;

export const StopEnvironment = Type.Object({
  ...one,
  force: Type.Optional(Type.Boolean({ default: false, description: 'Without the job that stops it.' })),
});
export const StopStale = Type.Object({
  before: dateTime({ description: 'Nothing was deployed since; at least a week ago.' }),
});
export const ReviewApps = Type.Object({
  before: Type.Optional(dateTime({ description: 'They were made before; 30 days ago unless given.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
  dry_run: Type.Optional(Type.Boolean({ default: true, description: 'Tells only which would be deleted.' })),
});
export const Message = Type.Object({ message: Type.String() });

const basic = {
  id: Type.Integer(),
  name: Type.String(),
  slug: Type.String(),
  external_url: nullable(Type.String()),
  created_at: dateTime(),
  updated_at: dateTime(),
};
export const EnvironmentBasic = Type.Object(basic);
export type EnvironmentBasic = Static<typeof EnvironmentBasic>;

export const ScheduledEntries = Type.Object({
  scheduled_entries: Type.Array(EnvironmentBasic),
  unprocessable_entries: Type.Array(EnvironmentBasic),
});

export const Deployment = Type.Object({
  id: Type.Integer(),
  iid: Type.Integer(),
  ref: Type.String(),
  sha: Type.String(),
  created_at: dateTime(),
  updated_at: dateTime(),
  status: stringEnum(deploymentStatuses),
  user: nullable(UserBasic),
  environment: EnvironmentBasic,
  deployable: nullable(Job),
});
export type Deployment = Static<typeof Deployment>;

const reviews = ['approved', 'rejected'] as const;
export const Approval = Type.Object({
  user: nullable(UserBasic),
  status: stringEnum(reviews),
  created_at: dateTime(),
  comment: nullable(Type.String()),
});
export type Approval = Static<typeof Approval>;

export const ExtendedDeployment = Type.Object({
  ...Deployment.properties,
  pending_approval_count: Type.Integer({ description: 'Of one that is blocked.' }),
  approvals: Type.Array(Approval),
});
export type ExtendedDeployment = Static<typeof ExtendedDeployment>;

export const Environment = Type.Object({
  ...basic,
  tier: stringEnum(tiers),
  state: stringEnum(states),
  description: nullable(Type.String()),
  project: BasicProject,
  auto_stop_at: nullable(dateTime()),
  auto_stop_setting: stringEnum(autoStopSettings),
  cluster_agent: Type.Null({ description: 'There are none.' }),
  kubernetes_namespace: nullable(Type.String()),
  flux_resource_path: nullable(Type.String()),
  last_deployment: Type.Optional(nullable(Deployment)),
});
export type Environment = Static<typeof Environment>;

export const OneDeployment = Type.Object({ deployment_id: integerId() });

export const DeploymentList = Type.Object({
  order_by: Type.Optional(
    stringEnum(['id', 'iid', 'created_at', 'updated_at', 'finished_at', 'ref'], { default: 'id' }),
  ),
  sort: Type.Optional(stringEnum(['asc', 'desc'], { default: 'asc' })),
  updated_after: Type.Optional(dateTime({ description: 'With `order_by=updated_at` alone.' })),
  updated_before: Type.Optional(dateTime({ description: 'With `order_by=updated_at` alone.' })),
  finished_after: Type.Optional(
    dateTime({ description: 'With `order_by=finished_at` and `status=success` alone.' }),
  ),
  finished_before: Type.Optional(
    dateTime({ description: 'With `order_by=finished_at` and `status=success` alone.' }),
  ),
  environment: Type.Optional(Type.String({ description: 'The name of the environment.' })),
  status: Type.Optional(stringEnum(deploymentStatuses)),
});
export type DeploymentList = Static<typeof DeploymentList>;

export const ReviewDeployment = Type.Object({
  ...OneDeployment.properties,
  status: stringEnum(reviews),
  comment: Type.Optional(Type.String({ maxLength: 255 })),
  represented_as: Type.Optional(
    Type.String({
      maxLength: 255,
      description:
        'The user, group or role of the rule for which it counts; otherwise the first that it may count for.',
    }),
  ),
});

const status = stringEnum(reportedStatuses);
export const CreateDeployment = Type.Object({
  environment: name,
  sha: Type.String({ maxLength: 255 }),
  ref: Type.String({ maxLength: 255 }),
  tag: Type.Boolean(),
  status,
});
export type CreateDeployment = Static<typeof CreateDeployment>;
export const UpdateDeployment = Type.Object({ ...OneDeployment.properties, status });
