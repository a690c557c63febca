/** Lets a pipeline go on after one of its jobs changed. */
import { type Selectable, sql } from 'kysely';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';
import type { CiJobsTable, PipelinesTable } from '../../../platform/db/rows.ts';
import { advance, type RunsWhen } from './advance.ts';
import { durationOf } from './durations.ts';
import { isCompleted, type Status } from './status.ts';

export type PipelineRow = Selectable<PipelinesTable>;
export type JobRow = Selectable<CiJobsTable>;

/**
 * Changes the jobs that wait for nothing any more, and the pipeline's status; returns the pipeline as it is then. Its row
 * is locked by the transaction, so that one step follows the other whichever process takes it.
 */
export async function processPipeline(tx: Db, pipeline: PipelineRow): Promise<PipelineRow> {
  const rows = await tx
    .selectFrom('ci_jobs')
    .select([
      'id',
      'kind',
      'name',
      'status',
      'stage_index',
      'runs_when',
      'needs',
      'allow_failure',
      'started_at',
      'finished_at',
    ])
    .where('pipeline_id', '=', pipeline.id)
    .where('retried', '=', false)
    .orderBy('id')
    .execute();
  // The columns have checks of the same values.
  const jobs = rows.map((row) => ({
    ...row,
    status: row.status as Status,
    runs_when: row.runs_when as RunsWhen,
  }));
  const { changes, status } = advance(jobs);
  const time = now();
  if (changes.length > 0) {
    const ids = changes.map(({ id }) => id);
    const statuses = changes.map((change) => change.status);
    await sql`
      update ci_jobs j set status = c.status, updated_at = ${time},
        queued_at = case when c.status = 'pending' then ${time}::timestamptz end,
        scheduled_at = case when c.status = 'scheduled'
          then ${time}::timestamptz + (j.options->>'startIn')::integer * interval '1 second' end
      from unnest(${ids}::bigint[], ${statuses}::text[]) c (id, status) where c.id = j.id`.execute(ahead(tx));
  }
  if (status === pipeline.status) return pipeline;
  const ended = isCompleted(status);
  const change = {
    status,
    updated_at: time,
    started_at: pipeline.started_at ?? (status === 'running' ? time : null),
    finished_at: ended ? time : null,
    duration: ended ? (durationOf(jobs, time) ?? null) : pipeline.duration,
  };
  await ahead(tx).updateTable('pipelines').set(change).where('id', '=', pipeline.id).execute();
  if (ended) await announceEnd(tx, { ...pipeline, ...change });
  return { ...pipeline, ...change };
}

/** Tells those who wait for a pipeline, or hear of how it ended. */
async function announceEnd(
  tx: Db,
  { id, project_id, user_id, status, sha, ref, tag }: PipelineRow,
): Promise<void> {
  const wasFailing =
    status === 'success' && (await selectBefore(tx, { id, project_id, ref, tag })) === 'failed';
  await announce(tx, {
    fact: {
      name: 'pipeline_finished',
      payload: { project_id, user_id, pipeline_id: id, status, was_failing: wasFailing, sha },
    },
  });
}

/** How the pipeline of the ref that ended before this one did. */
async function selectBefore(
  tx: Db,
  { id, project_id, ref, tag }: Pick<PipelineRow, 'id' | 'project_id' | 'ref' | 'tag'>,
): Promise<string | undefined> {
  const before = await tx
    .selectFrom('pipelines')
    .select('status')
    .where('project_id', '=', project_id)
    .where('ref', '=', ref)
    .where('tag', '=', tag)
    .where('id', '<', id)
    .where('status', 'in', ['success', 'failed'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return before?.status;
}
