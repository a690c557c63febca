/** Reads which jobs there are. */
import type { Db } from '../../../platform/db/database.ts';

/** Those of the ids that jobs have. */
export async function selectPresent(db: Db, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return [];
  const rows = await db.selectFrom('ci_jobs').select('id').where('id', 'in', ids).execute();
  return rows.map(({ id }) => id);
}
