/** Deployments and environments follow the jobs of a pipeline, whose row the transaction has locked. */
import { type Selectable, sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';
import type { CiJobsTable, PipelinesTable } from '../../../platform/db/rows.ts';
import { durationSeconds } from '../file/duration.ts';
import type { PlannedEnvironment } from '../file/plan.ts';
import { announceDeployments } from './fact-actions.ts';

type Pipeline = Pick<Selectable<PipelinesTable>, 'id' | 'project_id' | 'ref' | 'sha' | 'tag'>;
type Job = Pick<Selectable<CiJobsTable>, 'id' | 'environment_id'>;

/** Of a job: whether what it would deploy is older than what its environment has, where the project does not want that. */
export const isOutdated = sql<boolean>`case when ci_jobs.environment_id is null then false else
  exists (select from deployments d join projects p on p.id = d.project_id
      join deployments l on l.environment_id = d.environment_id left join ci_jobs j on j.id = l.job_id
    where d.job_id = ci_jobs.id and l.status = 'success'
      and coalesce(p.settings ->> 'ci_forward_deployment_enabled', 'true') = 'true'
      and (l.id > d.id or j.pipeline_id > ci_jobs.pipeline_id
        and p.settings ->> 'ci_forward_deployment_rollback_allowed' = 'false')) end`;

/** Of a job: whether its deployment waits for approvals; one that makes none where they are asked for waits for somebody. */
export const isUnapproved = sql<boolean>`case when not ci_jobs.needs_approval then false else
  not exists (select from deployments d where d.job_id = ci_jobs.id and d.approved) end`;

/** Makes the deployments of those jobs that deploy and have none, in the order of the jobs. */
export async function insertDeployments(tx: Db, pipeline: Pipeline): Promise<void> {
  const time = now();
  await sql`
    with missing as (
      select j.id, j.environment_id, j.user_id from ci_jobs j
      where j.pipeline_id = ${pipeline.id} and j.kind = 'job' and not j.retried and j.environment_id is not null
        and j.options -> 'environment' ->> 'action' = 'start'
        and not exists (select from deployments d where d.job_id = j.id)),
    counted as (
      insert into project_counters (project_id, deployments)
        select ${pipeline.project_id}::bigint, count(*) from missing having count(*) > 0
        on conflict (project_id) do update set deployments = project_counters.deployments + excluded.deployments
        returning deployments)
    insert into deployments (project_id, environment_id, iid, job_id, user_id, ref, sha, tag, status, created_at, updated_at)
    select ${pipeline.project_id}::bigint, m.environment_id,
      c.deployments - count(*) over () + row_number() over (order by m.id), m.id, m.user_id, ${pipeline.ref}, ${pipeline.sha},
      ${pipeline.tag}::boolean, 'created', ${time}::timestamptz, ${time}::timestamptz
    from missing m, counted c`.execute(ahead(tx));
}

/** What the statuses of the pipeline's jobs mean for their deployments, and for environments that wait for a job to stop them. */
export async function followJobs(tx: Db, pipeline: Pick<Pipeline, 'id'>): Promise<void> {
  const time = now();
  await sql`
    with changed as (update deployments d set status = s.status, user_id = j.user_id, updated_at = ${time},
      finished_at = case when s.status in ('success', 'failed', 'canceled') then ${time}::timestamptz end
    from ci_jobs j join deployments o on o.job_id = j.id cross join lateral (select case
      when j.status in ('success', 'failed', 'canceled', 'skipped') then j.status
      when j.status in ('running', 'canceling') then 'running'
      when j.status = 'manual' and j.needs_approval and not o.approved then 'blocked'
      else 'created' end as status) s
    where j.pipeline_id = ${pipeline.id} and d.id = o.id and d.status <> s.status returning d.*)
    ${announceDeployments('changed')}`.execute(ahead(tx));
  await sql`
    update environments e set state = 'available', updated_at = ${time}
    where e.state = 'stopping' and e.id in (select environment_id from ci_jobs where pipeline_id = ${pipeline.id})
      and not exists (select from ci_jobs j where j.environment_id = e.id and not j.retried
        and j.options -> 'environment' ->> 'action' = 'stop'
        and j.status in ('waiting_for_resource', 'preparing', 'pending', 'running', 'canceling'))`.execute(
    ahead(tx),
  );
}

/** When time stops what was deployed at `from`; null where it does not. */
const stopTime = (autoStopIn: string | null, from: Date): Date | null => {
  const seconds = autoStopIn === null ? undefined : durationSeconds(autoStopIn);
  const time = seconds && new Date(from.getTime() + seconds * 1_000);
  return time && !Number.isNaN(time.getTime()) ? time : null;
};

/** What a job that went well did to its environment. */
export async function followSuccess(
  tx: Db,
  job: Job,
  { action, autoStopIn, deploymentTier }: PlannedEnvironment,
): Promise<void> {
  if (job.environment_id === null) return;
  const time = now();
  const auto_stop_at = stopTime(autoStopIn, time);
  const set =
    action === 'stop'
      ? sql`state = 'stopped', auto_stop_at = null`
      : action === 'start'
        ? sql`state = 'available', auto_delete_at = null, auto_stop_at = coalesce(${auto_stop_at}::timestamptz, auto_stop_at),
            tier = coalesce(${deploymentTier}::text, tier),
            external_url = coalesce((select d.external_url from deployments d where d.job_id = ${job.id}), external_url)`
        : sql`auto_stop_at = coalesce(${auto_stop_at}::timestamptz, auto_stop_at)`;
  await sql`update environments set ${set}, updated_at = ${time} where id = ${job.environment_id}`.execute(
    ahead(tx),
  );
}
