/** Reads the job that a runner speaks of, and what a job is run with. */
import { type SqlBool, sql } from 'kysely';
import { batch } from '../../../platform/batch.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { pointRead } from '../../../platform/db/point-read.ts';
import { digest } from '../../../platform/secret.ts';
import type { JobRow, PipelineRow } from '../processing/process-actions.ts';

const readByToken = pointRead<JobRow>(
  ['bigint', 'text'],
  `select j.* from ci_jobs j where j.id = k.v1 and j.token_digest = decode(k.v2, 'hex')`,
);

/** The job of this id and token, in whatever status it is. */
export const selectByToken = (sql: Sql, id: number, token: string): Promise<JobRow | undefined> =>
  readByToken(sql, [id, digest(token).toString('hex')]);

/** Of one statement. */
const MAX_ASKED = 1_000;

const askTogether = batch<Sql, undefined, boolean>(
  MAX_ASKED,
  async (sql, asked) => {
    const found = await sql`
      select from ci_jobs where status = 'pending' and kind = 'job' and runner_id is null limit 1`;
    return asked.map(() => found.length > 0);
  },
  { gather: 0 },
);

/** Whether any job waits for a runner: most requests come while none does, and those that came together are one. */
export const isAnythingWaiting = (sql: Sql): Promise<boolean> => askTogether(sql, undefined);

/** Jobs that came to wait after that time, the newest first; how they waited before is in `updated_at`. */
export const selectWaitingSince = (
  sql: Sql,
  since: Date,
  most: number,
): Promise<{ id: number; updated_at: Date }[]> =>
  sql<{ id: number; updated_at: Date }[]>`
    select id, updated_at from ci_jobs
    where status = 'pending' and kind = 'job' and runner_id is null and updated_at > ${since}
    order by updated_at desc, id desc limit ${most}`;

const readPipeline = pointRead<PipelineRow>(['bigint'], 'select p.* from pipelines p where p.id = k.v1');

/** Undefined where it is deleted meanwhile. */
export const selectPipelineOf = (
  sql: Sql,
  job: Pick<JobRow, 'pipeline_id'>,
): Promise<PipelineRow | undefined> => readPipeline(sql, [job.pipeline_id]);

/** The same, locked until the transaction ends. */
export const lockPipelineOf = (tx: Db, job: Pick<JobRow, 'pipeline_id'>) =>
  tx.selectFrom('pipelines').selectAll().where('id', '=', job.pipeline_id).forUpdate().executeTakeFirst();

export const selectAgain = (tx: Db, ids: readonly number[]): Promise<JobRow[]> =>
  tx
    .selectFrom('ci_jobs')
    .selectAll()
    .where(sql<SqlBool>`id = any(${[...ids]}::bigint[])`)
    .execute();

/** Whether the trace of the job is for Developers and above. */
export async function isDebugTrace(db: Db, id: number): Promise<boolean> {
  const row = await db.selectFrom('ci_jobs').select('debug_trace').where('id', '=', id).executeTakeFirst();
  return row?.debug_trace ?? false;
}
