/** Stops environments: by hand, and by the clock. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { isStartable, startJob } from '../jobs/actions.ts';
import type { JobRow, PipelineRow } from '../processing/process-actions.ts';

/** The jobs that stop what the environment has: named by those that deployed it in the pipeline that did so last. */
const stopJobs = (environmentId: number) => sql`
  with last as (
    select j.pipeline_id from deployments d join ci_jobs j on j.id = d.job_id
    where d.environment_id = ${environmentId} and d.status in ('success', 'failed', 'canceled')
    order by d.finished_at desc, d.id desc limit 1)
  select s.* from ci_jobs s
  where s.pipeline_id = (select pipeline_id from last) and s.environment_id = ${environmentId} and s.kind = 'job' and not s.retried
    and s.options -> 'environment' ->> 'action' = 'stop'
    and s.name in (select j.options -> 'environment' ->> 'onStop' from ci_jobs j
      where j.pipeline_id = s.pipeline_id and j.environment_id = ${environmentId})
  order by s.id`;

const selectStopJobs = async (tx: Db, id: number): Promise<JobRow[]> =>
  (await sql<JobRow>`${stopJobs(id)}`.execute(tx)).rows;

/** Locks the pipeline of the jobs before the environment, as jobs that end do. */
async function lockStopJobs(tx: Db, id: number): Promise<{ pipeline?: PipelineRow; jobs: JobRow[] }> {
  const [first] = await selectStopJobs(tx, id);
  const pipeline =
    first &&
    (await tx
      .selectFrom('pipelines')
      .selectAll()
      .where('id', '=', first.pipeline_id)
      .forUpdate()
      .executeTakeFirst());
  if (!pipeline) return { jobs: [] };
  const jobs = await selectStopJobs(tx, id);
  return { pipeline, jobs: jobs.filter(({ pipeline_id }) => pipeline_id === pipeline.id) };
}

const isWorking = ({ status }: JobRow): boolean =>
  ['waiting_for_resource', 'preparing', 'pending', 'running', 'canceling'].includes(status);

/**
 * `starter`: who starts the jobs; those who made them where the clock does. `otherwise`: what happens without such a job,
 * where it does not stop at once.
 */
type How = { starter?: number; force?: boolean; otherwise?: 'stop' | 'forget_time' | 'stay' };

/** Stops the environment in the transaction: by its jobs, or at once where it has none. */
export async function stop(
  tx: Db,
  id: number,
  { starter, force = false, otherwise = 'stop' }: How,
): Promise<void> {
  const { pipeline, jobs } = force ? { jobs: [] } : await lockStopJobs(tx, id);
  const startable = jobs.filter(isStartable);
  const byJobs = startable.length > 0 || jobs.some(isWorking);
  if (!byJobs && otherwise === 'stay') return;
  const time = now();
  const set = byJobs
    ? { state: 'stopping', updated_at: time }
    : { ...(otherwise === 'stop' && { state: 'stopped' }), auto_stop_at: null, updated_at: time };
  const { numUpdatedRows } = await tx
    .updateTable('environments')
    .set(set)
    .where('id', '=', id)
    .where('state', 'in', force ? ['available', 'stopping'] : ['available'])
    .executeTakeFirst();
  if (numUpdatedRows === 0n || !pipeline) return;
  for (const job of startable) await startJob(tx, { id: starter ?? job.user_id }, pipeline, job);
}

/** Environments of one round. */
const BATCH = 500;

/** The open environments to which one of these branches was deployed last, by a job that names another one to stop it. */
export async function selectOfBranches(
  db: Db,
  projectId: number,
  branches: readonly string[],
): Promise<{ id: number; name: string; tier: string }[]> {
  const { rows } = await sql<{ id: number; name: string; tier: string }>`
    select e.id, e.name, e.tier from environments e
    cross join lateral (
      select d.ref, d.tag, j.options from deployments d join ci_jobs j on j.id = d.job_id
      where d.environment_id = e.id order by d.id desc limit 1) last
    where e.project_id = ${projectId} and e.state = 'available' and not last.tag
      and last.ref = any(${[...branches]}::text[]) and last.options -> 'environment' ->> 'onStop' is not null
    order by e.id limit ${BATCH}`.execute(db);
  return rows;
}

/** Stops those whose time has come, and deletes those that have waited for it. */
export async function sweepEnvironments(db: Db): Promise<void> {
  const time = now();
  const due = await db
    .selectFrom('environments')
    .select(['id', 'auto_stop_setting'])
    .where('state', '=', 'available')
    .where('auto_stop_at', '<=', time)
    .orderBy('auto_stop_at')
    .limit(BATCH)
    .execute();
  for (const { id, auto_stop_setting } of due)
    await inTransaction(db, (tx) =>
      stop(tx, id, auto_stop_setting === 'with_action' ? { otherwise: 'forget_time' } : {}),
    );
  await ahead(db)
    .deleteFrom('environments')
    .where('auto_delete_at', '<=', time)
    .where('state', '=', 'stopped')
    .execute();
}
