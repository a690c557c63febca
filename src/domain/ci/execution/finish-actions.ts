/** Ends a job by its runner's report; the pipeline goes on in the same transaction. */
import { sql } from 'kysely';
import { batch } from '../../../platform/batch.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import type { PlannedJob } from '../file/plan.ts';
import { cancelWithChildren, forgetTokens, replaceJobs } from '../processing/change-actions.ts';
import { followSuccess } from '../processing/deployment-actions.ts';
import { changeJobs } from '../processing/fact-actions.ts';
import { type JobRow, type PipelineRow, processPipeline } from '../processing/process-actions.ts';
import { lockPipelineOf, selectAgain } from './queries.ts';
import { isRetried, keptExitCode } from './rules.ts';

export type Report = {
  state: 'success' | 'failed';
  /** Of a job that failed. */
  failure_reason?: string | undefined;
  exit_code?: number | undefined;
  /** Percent, as its trace has it. */
  coverage?: number | undefined;
};

type Finish = { job: JobRow; report: Report };

/** A job that ended, as it was before, and how it did. */
type Ended = Finish & { planned: Partial<PlannedJob>; canceled: boolean; failed: boolean; mayFail: boolean };

function endOf(job: JobRow, report: Report): Ended {
  const canceled = job.status === 'canceling';
  const failed = report.state === 'failed' && !canceled;
  // The column holds what the compiler planned.
  const planned = job.options as unknown as Partial<PlannedJob>;
  const { exit_code: code } = report;
  const mayFail = failed && code !== undefined && (planned.allowFailureExitCodes?.includes(code) ?? false);
  return { job, report, planned, canceled, failed, mayFail };
}

const reasonOf = ({ failure_reason }: Report): string => failure_reason ?? 'unknown_failure';

async function writeEnds(tx: Db, ended: readonly Ended[]): Promise<void> {
  const time = now();
  const rows = ended.map(({ job, report, canceled, failed, mayFail }) => ({
    id: job.id,
    status: canceled ? 'canceled' : report.state,
    coverage: report.coverage ?? job.coverage,
    failure_reason: failed ? reasonOf(report) : job.failure_reason,
    exit_code: failed ? keptExitCode(report.exit_code) : job.exit_code,
    allow_failure: mayFail || job.allow_failure,
  }));
  const ids = rows.map(({ id }) => id);
  await changeJobs(
    tx,
    sql`
    update ci_jobs j set status = e.status, finished_at = ${time}, updated_at = ${time}, coverage = e.coverage,
      failure_reason = e.failure_reason, exit_code = e.exit_code, allow_failure = e.allow_failure
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as e (id bigint, status text, coverage double precision,
      failure_reason text, exit_code integer, allow_failure boolean)
    where j.id = e.id and j.id = any(${ids}::bigint[]) returning j.*`,
  );
  await forgetTokens(tx, sql`id = any(${ids}::bigint[])`);
}

/** Runs a job that failed once more, where its file says so; whether it does. */
async function retryFailed(tx: Db, pipeline: PipelineRow, ended: Ended): Promise<boolean> {
  const { job, report, planned } = ended;
  const { rows } = await sql<{ attempts: number }>`
    select count(*)::integer as attempts from ci_jobs
    where pipeline_id = ${pipeline.id} and name = ${job.name} and kind = 'job' and retried`.execute(tx);
  const failure = { reason: reasonOf(report), exitCode: report.exit_code };
  if (!isRetried(planned.retry ?? null, failure, rows[0]?.attempts ?? 0)) return false;
  await replaceJobs(tx, pipeline, { id: job.user_id }, sql`id = ${job.id}`);
  return true;
}

/** Ends jobs of one pipeline; false for each that had ended meanwhile. */
const finishJobs = (db: Db, finishes: readonly Finish[]): Promise<boolean[]> =>
  inTransaction(db, async (tx) => {
    const [first] = finishes;
    if (!first) return [];
    const ids = finishes.map(({ job }) => job.id);
    // They travel together: the jobs are read when the lock is had.
    const [pipeline, rows] = await Promise.all([lockPipelineOf(tx, first.job), selectAgain(tx, ids)]);
    if (!pipeline) return finishes.map(() => false);
    const running = new Map(
      rows.filter(({ status }) => status === 'running' || status === 'canceling').map((row) => [row.id, row]),
    );
    const ended = finishes.map(({ job: { id }, report }) => {
      const job = running.get(id);
      // Of two reports of one job the first counts.
      running.delete(id);
      return job && endOf(job, report);
    });
    const all = ended.filter((each) => each !== undefined);
    if (all.length === 0) return ended.map(() => false);
    await writeEnds(tx, all);
    let cancels = false;
    for (const each of all) {
      const isFinal = each.failed && !(await retryFailed(tx, pipeline, each));
      cancels ||= isFinal && !each.mayFail && !each.job.allow_failure;
    }
    // After all that run again: they are canceled with the rest.
    if (cancels && pipeline.on_job_failure === 'all') await cancelWithChildren(tx, pipeline);
    for (const { job, report, canceled, planned } of all)
      if (report.state === 'success' && !canceled && planned.environment)
        await followSuccess(tx, job, planned.environment);
    await processPipeline(tx, pipeline);
    return ended.map((each) => each !== undefined);
  });

/** Of one pipeline at once. */
const MAX_FINISHED = 50;
/** Each pipeline has a line of its own: a large one keeps others waiting for nothing. */
type Line = { db: Db; waiting: number };
const linesOf = new WeakMap<Db, Map<number, Line>>();
const finishInLine = batch<Line, Finish, boolean>(
  MAX_FINISHED,
  ({ db }, finishes) => finishJobs(db, finishes),
  {
    apart: ({ db }, finishes) =>
      finishes.map((each) => finishJobs(db, [each]).then(([done]) => done === true)),
  },
);

/** Ends a job; those of its pipeline that end at the same time go together. False where it had ended meanwhile. */
export async function finishJob(db: Db, job: JobRow, report: Report): Promise<boolean> {
  const lines = linesOf.get(db) ?? new Map<number, Line>();
  linesOf.set(db, lines);
  const line = lines.get(job.pipeline_id) ?? { db, waiting: 0 };
  lines.set(job.pipeline_id, line);
  line.waiting++;
  try {
    return await finishInLine(line, { job, report });
  } finally {
    line.waiting--;
    if (line.waiting === 0) lines.delete(job.pipeline_id);
  }
}

/** So seldom a job that runs is written for nothing but that its runner was heard of. */
const TOUCH_INTERVAL_MS = 15 * 60_000;

/** Its runner was heard of. */
export async function touchJob(db: Db, { id, updated_at }: JobRow): Promise<void> {
  const time = now();
  if (time.getTime() - updated_at.getTime() < TOUCH_INTERVAL_MS) return;
  await db.updateTable('ci_jobs').set({ updated_at: time }).where('id', '=', id).execute();
}

/** Its trace may hold the values of its variables: it is for Developers from now on. */
export const markDebugTrace = async (db: Db, { id }: Pick<JobRow, 'id'>): Promise<void> => {
  await db.updateTable('ci_jobs').set({ debug_trace: true }).where('id', '=', id).execute();
};
