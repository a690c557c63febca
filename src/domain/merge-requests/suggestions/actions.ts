/** Writes what notes suggest, and that it was applied. */
import { sql } from 'kysely';
import { ahead, type Db } from '../../../platform/db/database.ts';
import type { Suggestion } from '../review/suggestions.ts';

/** In the place of those that the note had. */
export async function writeSuggestions(
  tx: Db,
  noteId: number,
  suggestions: readonly Suggestion[],
): Promise<void> {
  const rows = suggestions.map((suggestion, place) => ({ ...suggestion, place }));
  await sql`
    with gone as (delete from suggestions where note_id = ${noteId})
    insert into suggestions (note_id, place, lines_above, lines_below, from_content, to_content)
      select ${noteId}, place, lines_above, lines_below, from_content, to_content
      from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
        as g (place integer, lines_above integer, lines_below integer, from_content text, to_content text)
      order by place`.execute(ahead(tx));
}

export async function writeApplied(tx: Db, ids: readonly number[], commit: string): Promise<void> {
  await ahead(tx).updateTable('suggestions').set({ commit_sha: commit }).where('id', 'in', ids).execute();
}
