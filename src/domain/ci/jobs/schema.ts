/** Jobs in requests and responses (facts: Resource entities, Job, Bridge; Jobs). */
import Type, { type Static } from 'typebox';
import {
  commaList,
  dateTime,
  integerId,
  nullable,
  stringEnum,
} from '../../../platform/http/parameters/schema.ts';
import { UserRecord } from '../../accounts/index.ts';
import { CommitRecord, PipelineBasic } from '../../repositories/index.ts';
import { MAX_JOB_INPUTS } from '../file/validation/job.ts';
import { statuses } from '../processing/status.ts';
import { Runner, RunnerManager } from '../runners/schema.ts';
import { KEY_PATTERN } from '../variables/rules.ts';

/** Variables that a job is started with. */
const MAX_PLAYED = 1_000;
const MAX_VALUE_LENGTH = 368_640;

const JobArtifact = Type.Object({
  file_type: Type.String(),
  size: Type.Integer({ description: 'Bytes.' }),
  filename: Type.String(),
  file_format: nullable(Type.String()),
});
export type JobArtifact = Static<typeof JobArtifact>;

export const Job = Type.Object({
  id: Type.Integer(),
  status: Type.String(),
  stage: Type.String(),
  name: Type.String(),
  ref: Type.String(),
  tag: Type.Boolean(),
  coverage: nullable(Type.Number({ description: 'Percent.' })),
  allow_failure: Type.Boolean(),
  created_at: dateTime(),
  started_at: nullable(dateTime()),
  finished_at: nullable(dateTime()),
  erased_at: nullable(dateTime()),
  duration: nullable(Type.Number({ description: 'Seconds that it ran, until now where it still does.' })),
  queued_duration: nullable(Type.Number({ description: 'Seconds that it waited for a runner.' })),
  user: nullable(UserRecord),
  commit: nullable(CommitRecord),
  pipeline: PipelineBasic,
  failure_reason: Type.Optional(Type.String({ description: 'Only of jobs that failed.' })),
  web_url: Type.String(),
  project: Type.Object({ ci_job_token_scope_enabled: Type.Boolean() }),
  artifacts_file: Type.Optional(
    Type.Object(
      { filename: Type.String(), size: Type.Integer({ description: 'Bytes.' }) },
      { description: 'The archive, where the job has one.' },
    ),
  ),
  artifacts: Type.Array(JobArtifact),
  runner: nullable(Runner),
  runner_manager: nullable(RunnerManager),
  artifacts_expire_at: nullable(dateTime()),
  archived: Type.Boolean(),
  tag_list: Type.Array(Type.String()),
});
export type Job = Static<typeof Job>;

export const Bridge = Type.Object({
  ...Job.properties,
  downstream_pipeline: nullable(PipelineBasic),
});
export type Bridge = Static<typeof Bridge>;

/** Of either kind; only bridges have a `downstream_pipeline`. */
export const AnyJob = Type.Object({
  ...Job.properties,
  downstream_pipeline: Type.Optional(nullable(PipelineBasic)),
});

export const OneJob = Type.Object({ job_id: integerId() });
const job_inputs = Type.Optional(
  Type.Record(Type.String(), Type.Unknown(), {
    maxProperties: MAX_JOB_INPUTS,
    description: "Values of the job's inputs, by their names; the others keep theirs.",
  }),
);
export const RetryInput = Type.Object({ ...OneJob.properties, job_inputs });
export const PlayInput = Type.Object({
  ...RetryInput.properties,
  job_variables_attributes: Type.Optional(
    Type.Array(
      Type.Object({
        key: Type.String({ pattern: KEY_PATTERN, maxLength: 255 }),
        value: Type.String({ maxLength: MAX_VALUE_LENGTH }),
      }),
      { maxItems: MAX_PLAYED, description: 'Variables for the job alone.' },
    ),
  ),
});

const scope = Type.Optional(
  commaList(stringEnum(statuses), { maxItems: statuses.length, description: 'Statuses.' }),
);
export const JobList = Type.Object({ scope, ref: Type.Optional(Type.String()) });
export const PipelineJobList = Type.Object({
  pipeline_id: integerId(),
  scope,
  include_retried: Type.Optional(
    Type.Boolean({ default: false, description: 'Those that another took the place of too.' }),
  ),
});
export const BridgeList = Type.Object({ pipeline_id: integerId(), scope });
