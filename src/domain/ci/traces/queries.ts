/** Reads what jobs there are, and their traces. */
import type { Db } from '../../../platform/db/database.ts';

/** When those of the jobs that there are ended; null for one that has not. */
export async function selectEnds(db: Db, ids: readonly number[]): Promise<Map<number, Date | null>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('ci_jobs').select(['id', 'finished_at']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, finished_at }) => [id, finished_at]));
}

/** Whether the job has ended and is not erased: it stays so until the transaction ends. */
export const lockEnded = async (tx: Db, jobId: number): Promise<boolean> =>
  (await tx
    .selectFrom('ci_jobs')
    .select('id')
    .where('id', '=', jobId)
    .where('finished_at', 'is not', null)
    .where('erased_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()) !== undefined;

export const selectArchived = (
  db: Db,
  jobId: number,
): Promise<{ sha256: Buffer; size: number } | undefined> =>
  db.selectFrom('ci_traces').select(['sha256', 'size']).where('job_id', '=', jobId).executeTakeFirst();
