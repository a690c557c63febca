/** Pipelines and jobs as payloads of hooks (facts-merge-requests: 10.5). Pure. */
import type { ProjectRow } from '../../../kernel/namespaces/rows.ts';
import type { UserBasic } from '../../../kernel/users/records.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import {
  type HookProject,
  hookCommit,
  hookRepository,
  hookTime,
  hookTimeOrNull,
  hookUser,
  namedTime,
} from '../../hooks/index.ts';
import { guessTier } from '../file/tier.ts';
import { detailedStatus } from '../pipelines/detailed-status.ts';
import type { PipelineRow } from '../processing/process-actions.ts';
import { isCompleted, type Status } from '../processing/status.ts';
import type { PayloadAttempt, PayloadJob, PayloadSource } from './hook-queries.ts';

type Times = { status: string; started_at: Date | null; finished_at: Date | null };

/** A row as it was when it had the status: what came later is not told before it. */
export function asOf<Row extends Times>(row: Row, status: Status): Row {
  const begun = isCompleted(status) || status === 'running' || status === 'canceling';
  return {
    ...row,
    status,
    started_at: begun ? row.started_at : null,
    finished_at: isCompleted(status) ? row.finished_at : null,
  };
}

const iso = (time: Date | null): string | null => time && namedTime(time);
const secondsBetween = (from: Date | null, to: Date | null): number | null =>
  from && to && (to.getTime() - from.getTime()) / 1_000;

/** Of a job that runs until `at`, the time of what is told. */
const durations = ({ queued_at, started_at, finished_at, status }: PayloadJob, at: Date) => ({
  duration: secondsBetween(started_at, finished_at ?? at),
  queued_duration: secondsBetween(queued_at, started_at ?? finished_at ?? (status === 'pending' ? at : null)),
});

const runnerOf = (job: PayloadJob) =>
  job.runner_id === null || job.started_at === null
    ? null
    : {
        id: job.runner_id,
        description: job.runner_description,
        runner_type: job.runner_type,
        active: job.runner_paused === false,
        is_shared: job.runner_type === 'instance_type',
        tags: job.runner_tags ?? [],
      };

const environmentOf = ({ environment }: PayloadJob) =>
  environment && {
    name: environment.name,
    action: environment.action,
    deployment_tier: environment.deploymentTier ?? guessTier(environment.name),
  };

const failureReason = ({ status, failure_reason }: PayloadJob): string | null =>
  status === 'failed' ? failure_reason : null;

export type People = ReadonlyMap<number, UserBasic>;
const userOf = (people: People, id: number | null) => {
  const user = people.get(id ?? 0);
  return user ? hookUser(user) : null;
};

const build = (people: People, job: PayloadJob, at: Date) => ({
  id: job.id,
  stage: job.stage,
  name: job.name,
  status: job.status,
  created_at: hookTime(job.created_at),
  started_at: hookTimeOrNull(job.started_at),
  finished_at: hookTimeOrNull(job.finished_at),
  ...durations(job, at),
  failure_reason: failureReason(job),
  when: job.runs_when,
  manual: job.runs_when === 'manual',
  allow_failure: job.allow_failure,
  user: userOf(people, job.user_id),
  runner: runnerOf(job),
  artifacts_file: { filename: job.archive_name, size: job.archive_size },
  environment: environmentOf(job),
});

export type PayloadPipeline = {
  pipeline: PipelineRow;
  project: HookProject;
  /** Undefined where it is gone. */
  commit: Commit | undefined;
  people: People;
  /** When it happened. */
  at: Date;
  source: PayloadSource | undefined;
  /** Of the site. */
  baseUrl: string;
};

/** Only of a pipeline that another one started. */
const sourceOf = ({ source, baseUrl }: Pick<PayloadPipeline, 'source' | 'baseUrl'>) =>
  source && {
    source_pipeline: {
      project: {
        id: source.project_id,
        web_url: `${baseUrl}/${source.path}`,
        path_with_namespace: source.path,
      },
      job_id: source.job_id,
      pipeline_id: source.pipeline_id,
    },
  };

type PipelineParts = PayloadPipeline & {
  builds: readonly PayloadJob[];
  stages: readonly string[];
  warnings: boolean;
  variables: readonly { key: string; value: string }[];
  /** That for which it was made. */
  mergeRequest: object | undefined;
};

export function pipelinePayload({
  pipeline,
  project: whole,
  commit,
  people,
  at,
  builds,
  stages,
  warnings,
  variables,
  mergeRequest,
  ...told
}: PipelineParts): object {
  const { homepage, url, ssh_url, http_url, ...project } = whole;
  const { status, started_at } = pipeline;
  return {
    object_kind: 'pipeline',
    object_attributes: {
      id: pipeline.id,
      iid: pipeline.iid,
      name: pipeline.name,
      ref: pipeline.ref,
      tag: pipeline.tag,
      sha: pipeline.sha,
      before_sha: pipeline.before_sha,
      source: pipeline.source,
      status,
      // The column has a check of the same values.
      detailed_status: detailedStatus(status as Status, warnings, '').label,
      stages,
      created_at: hookTime(pipeline.created_at),
      finished_at: hookTimeOrNull(pipeline.finished_at),
      duration: pipeline.finished_at && pipeline.duration,
      queued_duration: started_at && Math.round(secondsBetween(pipeline.created_at, started_at) ?? 0),
      protected_ref: pipeline.protected,
      variables,
      url: `${project.web_url}/-/pipelines/${pipeline.id}`,
    },
    merge_request: mergeRequest ?? null,
    user: userOf(people, pipeline.user_id),
    project,
    commit: commit ? hookCommit(project.web_url, commit) : null,
    ...sourceOf(told),
    builds: builds.map((job) => build(people, job, at)),
  };
}

export function jobPayload(
  { pipeline, project, commit, people, at, ...told }: PayloadPipeline,
  row: ProjectRow,
  job: PayloadAttempt,
): object {
  const { duration, queued_duration } = durations(job, at);
  return {
    object_kind: 'build',
    ref: pipeline.ref,
    tag: pipeline.tag,
    before_sha: pipeline.before_sha,
    sha: pipeline.sha,
    retries_count: job.retries_count,
    build_id: job.id,
    build_name: job.name,
    build_stage: job.stage,
    build_status: job.status,
    build_created_at: hookTime(job.created_at),
    build_created_at_iso: iso(job.created_at),
    build_started_at: hookTimeOrNull(job.started_at),
    build_started_at_iso: iso(job.started_at),
    build_finished_at: hookTimeOrNull(job.finished_at),
    build_finished_at_iso: iso(job.finished_at),
    build_duration: duration,
    build_queued_duration: queued_duration,
    build_allow_failure: job.allow_failure,
    build_failure_reason: failureReason(job),
    pipeline_id: pipeline.id,
    runner: runnerOf(job),
    project_id: row.id,
    project_name: `${row.namespace_full_name} / ${row.name}`,
    user: userOf(people, job.user_id),
    commit: {
      id: pipeline.id,
      name: pipeline.name,
      sha: pipeline.sha,
      message: commit?.message ?? null,
      author_name: commit?.author.name ?? null,
      author_email: commit?.author.email ?? null,
      author_url: commit ? `mailto:${commit.author.email}` : null,
      status: pipeline.status,
      duration: pipeline.finished_at && pipeline.duration,
      started_at: hookTimeOrNull(pipeline.started_at),
      started_at_iso: iso(pipeline.started_at),
      finished_at: hookTimeOrNull(pipeline.finished_at),
      finished_at_iso: iso(pipeline.finished_at),
    },
    repository: {
      ...hookRepository(project),
      git_http_url: project.git_http_url,
      git_ssh_url: project.git_ssh_url,
      visibility_level: project.visibility_level,
    },
    project,
    environment: environmentOf(job),
    ...sourceOf(told),
  };
}
