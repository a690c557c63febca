/** Jobs that their runner has in hand begin: as they are handed out, or when the runner says so. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { forgetTokens } from '../processing/change-actions.ts';
import { announceDeployments, announceJobs, announcePipelines } from '../processing/fact-actions.ts';
import type { JobRow } from '../processing/process-actions.ts';
import { lockPipelineOf } from './queries.ts';

/** So long a runner may prepare a job without a word; then another one gets it. */
const PREPARING_MS = 2 * 60_000;

/** What goes with jobs that begin, of the relation `begun`: their deployments and pipelines run, and all are told of. */
export const following = (time: Date) => sql`
  deployment as (
    update deployments d set status = 'running', updated_at = ${time} from begun where d.job_id = begun.id returning d.*),
  pipeline as (
    update pipelines p set status = 'running', started_at = coalesce(p.started_at, ${time}), updated_at = ${time}
    from begun where p.id = begun.pipeline_id and p.status <> 'running' returning p.*),
  told_deployment as (${announceDeployments('deployment')}),
  told_job as (${announceJobs('begun')}),
  told_pipeline as (${announcePipelines('pipeline')})`;

/** A job that was handed out begins; undefined where it is not its runner's any more. */
export const beginJob = (db: Db, { id, pipeline_id, token_digest }: JobRow): Promise<JobRow | undefined> =>
  inTransaction(db, async (tx) => {
    await lockPipelineOf(tx, { pipeline_id });
    const time = now();
    const { rows } = await sql<JobRow>`
      with begun as (
        update ci_jobs set status = 'running', started_at = ${time}, updated_at = ${time}
        where id = ${id} and status = 'pending' and token_digest = ${token_digest} returning *),
      ${following(time)}
      select * from begun`.execute(tx);
    return rows[0];
  });

/** The runner still prepares the job. */
export const keepPreparing = async (db: Db, { id, token_digest }: JobRow): Promise<void> => {
  await sql`
    update ci_jobs set updated_at = ${now()} where id = ${id} and status = 'pending' and token_digest = ${token_digest}`.execute(
    db,
  );
};

/** What runners were given and do not prepare waits for others: the answer was lost, or the runner is gone. */
export const takeBack = (db: Db): Promise<void> =>
  inTransaction(db, async (tx) => {
    const time = now();
    const lost = sql`status = 'pending' and kind = 'job' and runner_id is not null
      and updated_at < ${new Date(time.getTime() - PREPARING_MS)}`;
    const { rows } = await sql<{ id: number }>`
      select id from ci_jobs where ${lost} order by id for update skip locked`.execute(tx);
    const which = sql`id = any(${rows.map(({ id }) => id)}::bigint[])`;
    await forgetTokens(tx, which);
    await sql`
      update ci_jobs set runner_id = null, runner_manager_id = null, token_digest = null, updated_at = ${time} where ${which}`.execute(
      tx,
    );
  });
