/** Texts in which mentions are looked for. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';

type Column = 'issue_id' | 'merge_request_id' | 'epic_id' | 'snippet_id';

/** The beginning of a comment on the noteable; none where it is gone, internal or the program's. */
export async function selectComment(
  db: Db,
  { id, on, of, length }: { id: number; on: Column; of: number; length: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('notes')
    .select(sql<string>`left(body, ${length})`.as('text'))
    .where('id', '=', id)
    .where(on, '=', of)
    .where('internal', '=', false)
    .where('system_action', 'is', null)
    .execute();
  return rows.map(({ text }) => text);
}
