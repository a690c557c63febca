/** Statements on merge requests that ended long ago. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';

export type Ended = { id: number; project_id: number; iid: number; head_sha: string | null };

const withRefs = (db: Db) =>
  db
    .selectFrom('merge_requests')
    .where('state', 'in', ['closed', 'merged'])
    .where('refs_removed', '=', false);

/** Those merged or closed before, whose refs may be there, a slice after this id. */
export const selectEnded = (db: Db, before: Date, after: number, limit: number): Promise<Ended[]> =>
  withRefs(db)
    .select(['id', 'project_id', 'iid', 'head_sha'])
    .where(sql`coalesce(merged_at, closed_at)`, '<', before)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();

/** Notes that their refs are gone; the ids of those that are still ended. */
export async function markRefsRemoved(db: Db, ended: readonly Ended[]): Promise<Set<number>> {
  const marked = await db
    .updateTable('merge_requests')
    .set({ refs_removed: true })
    .where(
      'id',
      'in',
      ended.map(({ id }) => id),
    )
    .where('state', 'in', ['closed', 'merged'])
    .returning('id')
    .execute();
  return new Set(marked.map(({ id }) => id));
}
