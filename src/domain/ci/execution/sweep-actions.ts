/** Jobs that the clock moves on: delayed ones whose time has come, and those that nobody runs any more. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { forgetTokens } from '../processing/change-actions.ts';
import { changeJobs } from '../processing/fact-actions.ts';
import { type JobRow, processPipeline } from '../processing/process-actions.ts';
import { lockPipelineOf } from './queries.ts';

const HOUR_MS = 3_600_000;
/** So long a running job may be silent, and one without a runner may wait. */
const SILENT_MS = HOUR_MS;
/** So long any job may wait. */
const WAITING_MS = 24 * HOUR_MS;
/** A job that should have begun so long ago does not begin any more. */
const STALE_MS = HOUR_MS;
/** Pipelines of one round. */
const BATCH = 500;

/** Delayed jobs wait for runners from their time on; those that were overlooked for too long fail. */
export async function startDelayed(db: Db): Promise<void> {
  const time = now();
  const stale = new Date(time.getTime() - STALE_MS);
  await changeEach(db, sql`status = 'scheduled' and scheduled_at <= ${time}`, (job) =>
    (job.scheduled_at && job.scheduled_at < stale) || !job.may_deploy
      ? {
          status: 'failed',
          failure_reason: job.may_deploy ? 'stale_schedule' : 'protected_environment_failure',
          finished_at: time,
        }
      : { status: job.resource_group_id === null ? 'pending' : 'waiting_for_resource', queued_at: time },
  );
}

/** A runner that ends no job when its time is over has so long for it. */
const GRACE_SECONDS = 15 * 60;

/** Jobs whose runner is silent or does not end them, and those that no runner took, or that could not start another pipeline, fail. */
export async function failStuck(db: Db): Promise<void> {
  const time = now();
  const before = (ms: number) => new Date(time.getTime() - ms);
  const silent = before(SILENT_MS);
  const stuck = sql`kind <> 'status' and status in ('pending', 'running', 'canceling') and (
    kind = 'job' and status in ('running', 'canceling') and updated_at < ${silent}
    or kind = 'job' and status = 'running' and started_at + (timeout + ${GRACE_SECONDS}) * interval '1 second' < ${time}
    or status = 'pending' and queued_at < ${before(WAITING_MS)})`;
  await changeEach(db, stuck, ({ status, updated_at }) => {
    if (status === 'canceling') return { status: 'canceled', finished_at: time };
    const isEndless = status === 'running' && updated_at >= silent;
    const failure_reason = isEndless ? 'job_execution_server_timeout' : 'stuck_or_timeout_failure';
    return { status: 'failed', failure_reason, finished_at: time };
  });
}

type Change = Partial<Pick<JobRow, 'status' | 'failure_reason' | 'finished_at' | 'queued_at'>>;

/** The condition is asked once more under the lock of the pipeline; what was changed meanwhile stays. */
async function changeEach(
  db: Db,
  which: ReturnType<typeof sql>,
  changeOf: (job: JobRow) => Change,
): Promise<void> {
  const { rows } = await sql<{ pipeline_id: number }>`
    select distinct pipeline_id from ci_jobs where not retried and ${which} order by pipeline_id limit ${BATCH}`.execute(
    db,
  );
  for (const { pipeline_id } of rows)
    await inTransaction(db, async (tx) => {
      const pipeline = await lockPipelineOf(tx, { pipeline_id });
      if (!pipeline) return;
      const { rows: jobs } = await sql<JobRow>`
        select * from ci_jobs where pipeline_id = ${pipeline_id} and not retried and ${which}`.execute(tx);
      for (const job of jobs) {
        const change = tx
          .updateTable('ci_jobs')
          .set({ ...changeOf(job), updated_at: now() })
          .where('id', '=', job.id)
          .returningAll();
        await changeJobs(tx, sql`${change}`);
      }
      await forgetTokens(tx, sql`pipeline_id = ${pipeline_id} and status in ('failed', 'canceled')`);
      await processPipeline(tx, pipeline);
    });
}
