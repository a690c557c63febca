/** Reads pipelines and jobs for payloads of hooks. */
import { type SqlBool, sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { PlannedEnvironment } from '../file/plan.ts';
import type { PipelineRow } from '../processing/process-actions.ts';

export const selectPayloadPipeline = (
  db: Db,
  projectId: number,
  id: number,
): Promise<PipelineRow | undefined> =>
  db
    .selectFrom('pipelines')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .executeTakeFirst();

/** Where a pipeline comes from that a job of another one started. */
export type PayloadSource = { pipeline_id: number; job_id: number; project_id: number; path: string };

export const selectPayloadSource = (db: Db, jobId: number): Promise<PayloadSource | undefined> =>
  db
    .selectFrom('ci_jobs as j')
    .innerJoin('projects as p', 'p.id', 'j.project_id')
    .innerJoin('namespaces as n', 'n.id', 'p.namespace_id')
    .select(['j.pipeline_id', 'j.id as job_id', 'j.project_id'])
    .select(sql<string>`n.full_path || '/' || p.path`.as('path'))
    .where('j.id', '=', jobId)
    .executeTakeFirst();

/** What the compiler planned. */
type PayloadEnvironment = Pick<PlannedEnvironment, 'name' | 'action' | 'deploymentTier'>;

const payloadJobs = (db: Db, pipelineId: number) =>
  db
    .selectFrom('ci_jobs as j')
    .leftJoin('runners as r', 'r.id', 'j.runner_id')
    .leftJoin('ci_artifacts as a', (join) =>
      join.onRef('a.job_id', '=', 'j.id').on('a.file_type', '=', 'archive'),
    )
    .select([
      'j.id',
      'j.name',
      'j.stage',
      'j.status',
      'j.runs_when',
      'j.allow_failure',
      'j.failure_reason',
      'j.created_at',
      'j.queued_at',
      'j.started_at',
      'j.finished_at',
      'j.user_id',
      'j.runner_id',
      'r.description as runner_description',
      'r.runner_type',
      'r.paused as runner_paused',
      'r.tag_list as runner_tags',
      'a.filename as archive_name',
      'a.size as archive_size',
      sql<PayloadEnvironment | null>`nullif(j.options -> 'environment', 'null')`.as('environment'),
    ])
    .where('j.pipeline_id', '=', pipelineId)
    .where('j.kind', '=', 'job');

export type PayloadJob = Awaited<ReturnType<ReturnType<typeof payloadJobs>['executeTakeFirstOrThrow']>>;

/** Of one payload. */
const MAX_BUILDS = 1_000;

/** The jobs of a pipeline that no other took the place of, the newest first. */
export const selectBuilds = (db: Db, pipelineId: number): Promise<PayloadJob[]> =>
  payloadJobs(db, pipelineId)
    .where('j.retried', '=', false)
    .orderBy('j.id', 'desc')
    .limit(MAX_BUILDS)
    .execute();

export type PayloadAttempt = PayloadJob & { retries_count: number };

/** Those of the ids, with how many attempts went before. */
export const selectAttempts = (
  db: Db,
  pipelineId: number,
  ids: readonly number[],
): Promise<PayloadAttempt[]> =>
  payloadJobs(db, pipelineId)
    .select(
      sql<number>`(select count(*)::integer from ci_jobs o
        where o.pipeline_id = j.pipeline_id and o.name = j.name and o.kind = 'job' and o.id < j.id)`.as(
        'retries_count',
      ),
    )
    .where(sql<SqlBool>`j.id = any(${[...ids]}::bigint[])`)
    .orderBy('j.id')
    .execute();

/** The names of a pipeline's stages, in their order. */
export async function selectStages(db: Db, pipelineId: number): Promise<string[]> {
  const { rows } = await sql<{ stage: string }>`
    select stage from ci_jobs where pipeline_id = ${pipelineId} and not retried group by stage order by min(stage_index), stage`.execute(
    db,
  );
  return rows.map(({ stage }) => stage);
}

/** Whether a job failed that may, and no other took its place. */
export const selectWarnings = async (db: Db, pipelineId: number): Promise<boolean> =>
  (await db
    .selectFrom('ci_jobs')
    .select('id')
    .where('pipeline_id', '=', pipelineId)
    .where('retried', '=', false)
    .where('allow_failure', '=', true)
    .where('status', 'in', ['failed', 'canceled'])
    .limit(1)
    .executeTakeFirst()) !== undefined;

export const selectNewestPipeline = (db: Db, projectId: number): Promise<PipelineRow | undefined> =>
  db
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', projectId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

export const selectNewestJob = (db: Db, projectId: number) =>
  db
    .selectFrom('ci_jobs')
    .select(['id', 'pipeline_id', 'status', 'updated_at'])
    .where('project_id', '=', projectId)
    .where('kind', '=', 'job')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

/** Those of the ids, with their environments. */
export const selectPayloadDeployments = (db: Db, projectId: number, ids: readonly number[]) =>
  db
    .selectFrom('deployments as d')
    .innerJoin('environments as e', 'e.id', 'd.environment_id')
    .select([
      'd.id',
      'd.job_id',
      'd.user_id',
      'd.sha',
      'd.ref',
      'e.name',
      'e.tier',
      'e.slug',
      'e.external_url',
    ])
    .where('d.project_id', '=', projectId)
    .where(sql<SqlBool>`d.id = any(${[...ids]}::bigint[])`)
    .execute();
