/** Pipelines in requests and responses (facts: Resource entities, Pipeline; Pipelines, schedules). */
import Type, { type Static } from 'typebox';
import { UserBasic } from '../../../kernel/users/records.ts';
import { dateTime, integerId, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { PipelineBasic } from '../../repositories/index.ts';
import { statuses } from '../processing/status.ts';

export const sources = [
  'push',
  'web',
  'trigger',
  'schedule',
  'api',
  'external',
  'pipeline',
  'chat',
  'webide',
  'merge_request_event',
  'external_pull_request_event',
  'parent_pipeline',
  'ondemand_dast_scan',
  'ondemand_dast_validation',
  'security_orchestration_policy',
  'container_registry_push',
] as const;

export const DetailedStatus = Type.Object({
  icon: Type.String(),
  text: Type.String(),
  label: Type.String(),
  group: Type.String(),
  tooltip: Type.String(),
  has_details: Type.Boolean(),
  details_path: Type.String(),
  illustration: Type.Null(),
  favicon: Type.String(),
});

export const Pipeline = Type.Object({
  ...PipelineBasic.properties,
  before_sha: Type.String(),
  tag: Type.Boolean(),
  yaml_errors: nullable(Type.String()),
  user: nullable(UserBasic),
  started_at: nullable(dateTime()),
  finished_at: nullable(dateTime()),
  committed_at: Type.Null({ description: 'Deprecated.' }),
  duration: nullable(Type.Integer({ description: 'Seconds in which at least one job ran.' })),
  queued_duration: nullable(Type.Integer({ description: 'Seconds until the first job ran.' })),
  coverage: nullable(Type.String({ description: 'Percent, the mean over the jobs that have one.' })),
  detailed_status: DetailedStatus,
  archived: Type.Boolean(),
  name: nullable(Type.String()),
});

export const OnePipeline = Type.Object({ pipeline_id: integerId() });
export const MetadataInput = Type.Object({
  ...OnePipeline.properties,
  name: Type.String({ maxLength: 255 }),
});
export const LatestInput = Type.Object({
  ref: Type.Optional(Type.String({ description: 'Branch or tag; the default branch without it.' })),
});

/** Of every list of pipelines. */
export const filters = {
  scope: Type.Optional(stringEnum(['running', 'pending', 'finished', 'branches', 'tags'])),
  status: Type.Optional(stringEnum(statuses)),
  updated_before: Type.Optional(dateTime()),
  updated_after: Type.Optional(dateTime()),
  created_before: Type.Optional(dateTime()),
  created_after: Type.Optional(dateTime()),
  sort: Type.Optional(stringEnum(['asc', 'desc'], { default: 'desc' })),
};

export const PipelineList = Type.Object({
  ...filters,
  ref: Type.Optional(Type.String({ description: 'Branch or tag.' })),
  sha: Type.Optional(Type.String({ description: 'The whole id of a commit.' })),
  yaml_errors: Type.Optional(Type.Boolean({ description: 'Those whose file was wrong, or the others.' })),
  username: Type.Optional(Type.String({ description: 'Of the user who started it.' })),
  order_by: Type.Optional(stringEnum(['id', 'status', 'ref', 'updated_at', 'user_id'], { default: 'id' })),
  source: Type.Optional(stringEnum(sources)),
  name: Type.Optional(Type.String()),
});
export type PipelineList = Static<typeof PipelineList>;
