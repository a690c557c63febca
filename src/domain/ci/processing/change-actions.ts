/** Changes jobs of a pipeline whose row the transaction has locked; it goes on by processPipeline(). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Actor } from '../../../kernel/actor.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';
import { insertFacts } from '../../../platform/outbox/outbox.ts';
import { insertDeployments } from './deployment-actions.ts';
import { announceJobs, changeJobs } from './fact-actions.ts';
import type { PipelineRow } from './process-actions.ts';
import { isCancelable, statuses } from './status.ts';

const cancelable = statuses.filter(isCancelable);

/** The tokens of these jobs open nothing any more. */
export const forgetTokens = async (tx: Db, which: RawBuilder<unknown>): Promise<void> => {
  await sql`
    delete from access_tokens where kind = 'job'
      and digest in (select token_digest from ci_jobs where token_digest is not null and ${which})`.execute(
    ahead(tx),
  );
};

/** Cancels those that have not ended, all or of these ids; what other programs said stays. */
export async function cancelJobs(tx: Db, pipeline: PipelineRow, ids?: readonly number[]): Promise<void> {
  const time = now();
  let query = tx
    .updateTable('ci_jobs')
    .set((eb) => {
      // The runner ends it by itself, and says so.
      const graceful = sql<boolean>`(status = 'running' and cancel_gracefully)`;
      return {
        status: eb.case().when(graceful).then('canceling').else('canceled').end(),
        finished_at: sql<Date | null>`case when ${graceful} then null else ${time}::timestamptz end`,
        updated_at: time,
      };
    })
    .where('pipeline_id', '=', pipeline.id)
    .where('kind', '<>', 'status')
    .where('retried', '=', false)
    .where('status', 'in', cancelable);
  if (ids) query = query.where('id', 'in', ids);
  await changeJobs(tx, sql`${query.returningAll()}`);
  await forgetTokens(tx, sql`pipeline_id = ${pipeline.id} and status = 'canceled'`);
}

const childrenCanceled = sql.raw(
  insertFacts(`
    select 'children_canceled', jsonb_build_object('project_id', project_id, 'pipeline_ids', ids), at from children`),
);

/** The same of the whole pipeline, and, after the commit, of its children. */
export async function cancelWithChildren(tx: Db, pipeline: PipelineRow): Promise<void> {
  await cancelJobs(tx, pipeline);
  const time = now();
  await sql`
    with children as (
      select c.project_id, jsonb_agg(c.id order by c.id) as ids, ${time}::timestamptz as at
      from ci_jobs b join pipelines c on c.source_job_id = b.id
      where b.pipeline_id = ${pipeline.id} and b.kind = 'bridge' and c.source = 'parent_pipeline' group by c.project_id)
    ${childrenCanceled}`.execute(ahead(tx));
}

/**
 * New rows in the place of those that the condition names, as created by the caller; returns their ids in the same order. `asking`
 * are environments where deployments wait for approvals by now, and all but stopping for somebody.
 */
export async function replaceJobs(
  tx: Db,
  pipeline: PipelineRow,
  actor: Pick<Actor, 'id'>,
  which: RawBuilder<SqlBool>,
  asking: readonly number[] = [],
): Promise<number[]> {
  const time = now();
  const { rows } = await sql<{ id: number; environment_id: number | null }>`
    with old as (update ci_jobs set retried = true where ${which} returning *),
    made as (insert into ci_jobs (pipeline_id, project_id, kind, name, stage, stage_index, status, runs_when, allow_failure, needs, tags,
      protected, interruptible, options, played_sealed, inputs, environment_id, needs_approval, resource_group_id, user_id, created_at, updated_at)
    select pipeline_id, project_id, kind, name, stage, stage_index, 'created', runs_when, allow_failure, needs, tags,
      protected, interruptible, options, played_sealed, inputs, environment_id,
      needs_approval or coalesce(environment_id = any(${[...asking]}::bigint[]) and options -> 'environment' ->> 'action' <> 'stop', false),
      resource_group_id, ${actor.id}::bigint,
      ${time}::timestamptz,
      ${time}::timestamptz
    from old order by id returning *),
    told as (${announceJobs('made')})
    select id, environment_id from made order by id`.execute(tx);
  if (rows.some(({ environment_id }) => environment_id !== null)) await insertDeployments(tx, pipeline);
  return rows.map(({ id }) => id);
}

/** Those that were skipped may run after what runs again. */
export const resetSkipped = async (tx: Db, pipeline: PipelineRow, fromStage: number): Promise<void> => {
  const reset = tx
    .updateTable('ci_jobs')
    .set({ status: 'created', updated_at: now() })
    .where('pipeline_id', '=', pipeline.id)
    .where('kind', '<>', 'status')
    .where('retried', '=', false)
    .where('status', '=', 'skipped')
    .where('stage_index', '>=', fromStage)
    .returningAll();
  await changeJobs(tx, sql`${reset}`);
};
