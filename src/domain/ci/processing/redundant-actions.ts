/** A new pipeline of a ref takes the place of older ones that have not ended (facts for CI: Auto-cancel redundant). */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { cancelJobs } from './change-actions.ts';
import { type PipelineRow, processPipeline } from './process-actions.ts';

const MAX_AGE_MS = 7 * 86_400_000;
/** Children are of the same commit as the one that led to them. */
const sources = [
  'push',
  'web',
  'trigger',
  'schedule',
  'api',
  'merge_request_event',
  'pipeline',
  'parent_pipeline',
];

/** Cancels, of older pipelines of other commits of the ref, what their files let newer ones cancel. */
export async function cancelRedundant(tx: Db, pipeline: PipelineRow): Promise<void> {
  const older = await tx
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', pipeline.project_id)
    .where('ref', '=', pipeline.ref)
    .where('tag', '=', pipeline.tag)
    .where('id', '<', pipeline.id)
    .where('sha', '<>', pipeline.sha)
    .where('source', 'in', sources)
    .where('status', 'not in', ['success', 'failed', 'canceled', 'skipped', 'canceling'])
    .where('on_new_commit', '<>', 'none')
    .where('created_at', '>', new Date(now().getTime() - MAX_AGE_MS))
    .orderBy('id')
    .forUpdate()
    .execute();
  for (const each of older) {
    const { rows } = await sql<{ id: number; interruptible: boolean; started: boolean }>`
      select id, interruptible, started_at is not null as started from ci_jobs
      where pipeline_id = ${each.id} and kind <> 'status' and not retried`.execute(tx);
    const ids = redundantJobs(each.on_new_commit, rows);
    if (ids.length === 0) continue;
    await cancelJobs(tx, each, ids);
    await processPipeline(tx, each);
  }
}

/**
 * Those that may be canceled: all, where none has begun that must not be interrupted; or those alone that may be
 * interrupted.
 */
export function redundantJobs(
  mode: string,
  jobs: readonly { id: number; interruptible: boolean; started: boolean }[],
): number[] {
  if (mode === 'interruptible') return jobs.filter((job) => job.interruptible).map(({ id }) => id);
  const begun = jobs.some((job) => job.started && !job.interruptible);
  return mode === 'conservative' && !begun ? jobs.map(({ id }) => id) : [];
}
