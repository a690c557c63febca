/** Ends a job by its runner's report; the pipeline goes on in the same transaction. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import type { PlannedJob } from '../file/plan.ts';
import { cancelJobs, forgetTokens, replaceJobs } from '../processing/change-actions.ts';
import { followSuccess } from '../processing/deployment-actions.ts';
import { changeJobs } from '../processing/fact-actions.ts';
import { type JobRow, processPipeline } from '../processing/process-actions.ts';
import { lockPipelineOf, selectAgain } from './queries.ts';
import { isRetried } from './rules.ts';

export type Report = {
  state: 'success' | 'failed';
  /** Of a job that failed. */
  failure_reason?: string | undefined;
  exit_code?: number | undefined;
  /** Percent, as its trace has it. */
  coverage?: number | undefined;
};

/** False where the job had ended meanwhile. */
export const finishJob = (db: Db, { id, pipeline_id }: JobRow, report: Report): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const pipeline = await lockPipelineOf(tx, { pipeline_id });
    const job = await selectAgain(tx, { id });
    if (!pipeline || !job || (job.status !== 'running' && job.status !== 'canceling')) return false;
    const canceled = job.status === 'canceling';
    const failed = report.state === 'failed' && !canceled;
    // The column holds what the compiler planned.
    const planned = job.options as unknown as Partial<PlannedJob>;
    const reason = report.failure_reason ?? 'unknown_failure';
    const mayFail =
      failed && report.exit_code !== undefined && planned.allowFailureExitCodes?.includes(report.exit_code);
    const time = now();
    const change = tx
      .updateTable('ci_jobs')
      .set({
        status: canceled ? 'canceled' : report.state,
        finished_at: time,
        updated_at: time,
        ...(report.coverage !== undefined && { coverage: report.coverage }),
        ...(failed && { failure_reason: reason, exit_code: report.exit_code ?? null }),
        ...(mayFail && { allow_failure: true }),
      })
      .where('id', '=', id)
      .returningAll();
    await changeJobs(tx, sql`${change}`);
    await forgetTokens(tx, sql`id = ${id}`);
    if (failed) {
      const { rows } = await sql<{ attempts: number }>`
        select count(*)::integer as attempts from ci_jobs
        where pipeline_id = ${pipeline.id} and name = ${job.name} and kind = 'job' and retried`.execute(tx);
      const again = isRetried(
        planned.retry ?? null,
        { reason, exitCode: report.exit_code },
        rows[0]?.attempts ?? 0,
      );
      if (again) await replaceJobs(tx, pipeline, { id: job.user_id }, sql`id = ${id}`);
      else if (pipeline.on_job_failure === 'all' && !mayFail && !job.allow_failure)
        await cancelJobs(tx, pipeline);
    }
    if (report.state === 'success' && !canceled && planned.environment)
      await followSuccess(tx, job, planned.environment);
    await processPipeline(tx, pipeline);
    return true;
  });

/** So seldom a job that runs is written for nothing but that its runner was heard of. */
const TOUCH_INTERVAL_MS = 15 * 60_000;

/** Its runner was heard of. */
export async function touchJob(db: Db, { id, updated_at }: JobRow): Promise<void> {
  const time = now();
  if (time.getTime() - updated_at.getTime() < TOUCH_INTERVAL_MS) return;
  await db.updateTable('ci_jobs').set({ updated_at: time }).where('id', '=', id).execute();
}
