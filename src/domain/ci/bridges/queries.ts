/** Reads bridges, and the pipelines that they follow. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { JobRow, PipelineRow } from '../processing/process-actions.ts';
import { isCompleted, statuses } from '../processing/status.ts';

export const selectBridge = (db: Db, id: number): Promise<JobRow | undefined> =>
  db.selectFrom('ci_jobs').selectAll().where('id', '=', id).where('kind', '=', 'bridge').executeTakeFirst();

/** The pipeline that a bridge started, or the one of another project whose status it has. */
export const selectFollowed = (
  db: Db,
  { id, upstream_pipeline_id }: Pick<JobRow, 'id' | 'upstream_pipeline_id'>,
): Promise<PipelineRow | undefined> =>
  db
    .selectFrom('pipelines')
    .selectAll()
    .where((eb) =>
      upstream_pipeline_id === null ? eb('source_job_id', '=', id) : eb('id', '=', upstream_pipeline_id),
    )
    .executeTakeFirst();

/** The bridges that have the status of a pipeline of another project. */
export async function selectFollowers(db: Db, pipelineId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('ci_jobs')
    .select('id')
    .where('upstream_pipeline_id', '=', pipelineId)
    .where('retried', '=', false)
    .execute();
  return rows.map(({ id }) => id);
}

/** Bridges that go on, though the pipeline that they follow is gone or has ended. */
export async function selectLeftBehind(db: Db, most: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select b.id from ci_jobs b
    where b.kind = 'bridge' and not b.retried and b.status in ('running', 'manual') and b.started_at is not null
      and coalesce((select p.status from pipelines p where p.id = b.upstream_pipeline_id),
        (select p.status from pipelines p where p.source_job_id = b.id), 'failed') = any(${statuses.filter(isCompleted)}::text[])
    order by b.id limit ${most}`.execute(db);
  return rows.map(({ id }) => id);
}

export const isFollowed = async (db: Db, pipelineId: number): Promise<boolean> => {
  const { rows } = await sql<{ is: boolean }>`
    select exists (select from ci_jobs where upstream_pipeline_id = ${pipelineId}) as is`.execute(db);
  return rows[0]?.is ?? false;
};

/** What the keys of jobs that start bridges of the project begin with, and how many of them wait: the turn of the next one. */
export async function selectTurn(db: Db, projectId: number): Promise<{ share: string; turn: number }> {
  const share = `bridge ${projectId} `;
  const { rows } = await sql<{ turn: number }>`
    select least(count(*), 32767)::integer as turn from graphile_worker.jobs
    where starts_with(key, ${share}) and attempts < max_attempts`.execute(db);
  return { share, turn: rows[0]?.turn ?? 0 };
}

/** The job of a pipeline that went well, by its name. */
export const selectFinished = (
  db: Db,
  { id }: Pick<PipelineRow, 'id'>,
  name: string,
): Promise<Pick<JobRow, 'id'> | undefined> =>
  db
    .selectFrom('ci_jobs')
    .select('id')
    .where('pipeline_id', '=', id)
    .where('name', '=', name)
    .where('kind', '=', 'job')
    .where('retried', '=', false)
    .where('status', '=', 'success')
    .executeTakeFirst();

/** The newest pipeline of the default branch. */
export const selectUpstreamPipeline = (
  db: Db,
  { id, row }: Pick<AuthorizedProject, 'id' | 'row'>,
): Promise<PipelineRow | undefined> =>
  db
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', id)
    .where('ref', '=', row.default_branch ?? '')
    .where('tag', '=', false)
    .where('source', 'not in', ['parent_pipeline', 'merge_request_event'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
