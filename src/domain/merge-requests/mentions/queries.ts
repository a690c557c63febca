/** Texts in which mentions are looked for. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';

/** The beginning of a comment, and its noteable; undefined for one that is gone, internal or the program's. */
export async function selectComment(
  db: Db,
  id: number,
  length: number,
): Promise<{ text: string; merge_request_id: number | null } | undefined> {
  return db
    .selectFrom('notes')
    .select([sql<string>`left(body, ${length})`.as('text'), 'merge_request_id'])
    .where('id', '=', id)
    .where('internal', '=', false)
    .where('system_action', 'is', null)
    .executeTakeFirst();
}
