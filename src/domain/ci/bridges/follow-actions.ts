/** Brings bridges in line with the pipelines that they started or follow; the bridge's own pipeline goes on in the same transaction. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { lockPipelineOf, selectAgain } from '../execution/queries.ts';
import type { PlannedJob } from '../file/plan.ts';
import { cancelWithChildren, resetSkipped } from '../processing/change-actions.ts';
import { changeJobs } from '../processing/fact-actions.ts';
import { type JobRow, type PipelineRow, processPipeline } from '../processing/process-actions.ts';
import { isCompleted, type Status } from '../processing/status.ts';
import { selectFollowed, selectLeftBehind } from './queries.ts';
import { followingStatus } from './rules.ts';

type Change = { status: Status; failure_reason?: string };

/** The status that a bridge has by the pipeline that it started, or whose status it has. */
function changeBy(bridge: JobRow, followed: PipelineRow): Change {
  const own = bridge.upstream_pipeline_id === null;
  // The column holds what the compiler planned.
  const { strategy } = (bridge.options as unknown as PlannedJob).trigger ?? {};
  if (own && followed.failure_reason === 'config_error')
    return { status: 'failed', failure_reason: 'downstream_pipeline_creation_failed' };
  if (own && !strategy) return { status: 'success' };
  // The column has a check of the same values.
  const status = followingStatus(strategy ?? 'mirror', followed.status as Status);
  return status === 'failed' ? { status, failure_reason: 'unknown_failure' } : { status };
}

/** The change is made where it is one. */
async function change(
  tx: Db,
  pipeline: PipelineRow,
  bridge: JobRow,
  { status, failure_reason }: Change,
): Promise<void> {
  if (status === bridge.status) return;
  // It began anew, though it may have ended again: what was skipped since it had failed may run after it.
  if (isCompleted(bridge.status as Status)) await resetSkipped(tx, pipeline, bridge.stage_index);
  const time = now();
  const changed = tx
    .updateTable('ci_jobs')
    .set({
      status,
      failure_reason: failure_reason ?? null,
      started_at: bridge.started_at ?? time,
      finished_at: isCompleted(status) ? time : null,
      updated_at: time,
    })
    .where('id', '=', bridge.id)
    .returningAll();
  await changeJobs(tx, sql`${changed}`);
  if (status === 'failed' && !bridge.allow_failure && pipeline.on_job_failure === 'all')
    await cancelWithChildren(tx, pipeline);
  await processPipeline(tx, pipeline);
}

/**
 * The bridge has the status that it gets from the pipeline that it started or follows. One that has ended changes only when the
 * pipeline that it started began anew.
 */
export const followPipeline = (db: Db, id: number, beginsAnew: boolean): Promise<void> =>
  underLock(db, id, async (tx, pipeline, bridge) => {
    const followed = bridge.retried ? undefined : await selectFollowed(tx, bridge);
    const ended = isCompleted(bridge.status as Status);
    const isOwn = bridge.upstream_pipeline_id === null;
    if (followed && (ended ? beginsAnew && isOwn : bridge.status !== 'created'))
      await change(tx, pipeline, bridge, changeBy(bridge, followed));
  });

/** Bridges of one round. */
const BATCH = 500;

/** Bridges whose pipeline has ended are brought in line with it, though nobody told them; those whose pipeline is gone fail. */
export async function recoverBridges(db: Db): Promise<void> {
  for (const id of await selectLeftBehind(db, BATCH))
    await underLock(db, id, async (tx, pipeline, bridge) => {
      if (bridge.retried || (bridge.status !== 'running' && bridge.status !== 'manual')) return;
      const followed = await selectFollowed(tx, bridge);
      const gone: Change = { status: 'failed', failure_reason: 'data_integrity_failure' };
      await change(tx, pipeline, bridge, followed ? changeBy(bridge, followed) : gone);
    });
}

/** The bridge has a pipeline now; where it was canceled meanwhile, a child is canceled, too. */
export async function begin(db: Db, id: number): Promise<void> {
  const orphan = await underLock(db, id, async (tx, pipeline, bridge) => {
    const followed = await selectFollowed(tx, bridge);
    if (!followed) return undefined;
    if (bridge.status === 'pending') await change(tx, pipeline, bridge, changeBy(bridge, followed));
    else if (bridge.status === 'canceled' && followed.source === 'parent_pipeline') return followed.id;
    return undefined;
  });
  if (orphan !== undefined) await cancelChildren(db, [orphan]);
}

/** A bridge that cannot start a pipeline fails. */
export const failBridge = (db: Db, id: number, failure_reason: string): Promise<void> =>
  underLock(db, id, async (tx, pipeline, bridge) => {
    if (bridge.status === 'pending') await change(tx, pipeline, bridge, { status: 'failed', failure_reason });
  });

/** The bridge has the status of this pipeline from now on. */
export const subscribe = (db: Db, id: number, upstreamId: number): Promise<void> =>
  underLock(db, id, async (tx) => {
    await tx.updateTable('ci_jobs').set({ upstream_pipeline_id: upstreamId }).where('id', '=', id).execute();
  });

/** Runs `work` with the bridge as it is under the lock of its pipeline; nothing where it is gone. */
const underLock = <Result>(
  db: Db,
  id: number,
  work: (tx: Db, pipeline: PipelineRow, bridge: JobRow) => Promise<Result>,
): Promise<Result | undefined> =>
  inTransaction(db, async (tx) => {
    const [known] = await selectAgain(tx, [id]);
    const pipeline = known && (await lockPipelineOf(tx, known));
    const [bridge] = pipeline ? await selectAgain(tx, [id]) : [];
    return pipeline && bridge && work(tx, pipeline, bridge);
  });

/** Cancels pipelines whose parents were canceled, each for itself, and their children in turn. */
export async function cancelChildren(db: Db, ids: readonly number[]): Promise<void> {
  for (const pipeline_id of ids)
    await inTransaction(db, async (tx) => {
      const pipeline = await lockPipelineOf(tx, { pipeline_id });
      if (!pipeline) return;
      await cancelWithChildren(tx, pipeline);
      await processPipeline(tx, pipeline);
    });
}
