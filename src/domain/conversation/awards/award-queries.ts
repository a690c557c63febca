/** Awards with their users. */

import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/failure.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { type AwardWithUser, userOfAward } from '../noteables/award-actions.ts';
import type { Awardable } from '../noteables/awards.ts';
import type { Noteable } from '../noteables/noteables.ts';
import { type NoteReader, selectSomeNotes } from '../notes/queries.ts';

const awardsOf = (db: Db, { column, id }: Awardable) =>
  db.selectFrom('award_emoji').selectAll().select(userOfAward).where(column, '=', id);

/** A page of the awards, oldest first. */
export const selectAwards = (db: Db, awardable: Awardable, page: PageRequest): Promise<Page<AwardWithUser>> =>
  selectPage(db, awardsOf(db, awardable), page, { by: 'id', sort: 'asc' }, { id: 'award_emoji.id' });

/** The award; 404 when there is none. */
export async function findAward(db: Db, awardable: Awardable, id: number): Promise<AwardWithUser> {
  const award = await awardsOf(db, awardable).where('id', '=', id).executeTakeFirst();
  if (!award) throw notFound();
  return award;
}

/** The same of a note, which is found with it; 404 without the note, and for system notes, which take no awards. */
export async function findAwardOfNote(
  reader: NoteReader,
  noteable: Noteable,
  noteId: number,
  id: number,
): Promise<AwardWithUser> {
  const award = awardsOf(reader.db, { column: 'note_id', id: noteId }).where('id', '=', id);
  const [note] = await selectSomeNotes(reader, noteable, (notes) =>
    notes
      .where('notes.id', '=', noteId)
      .select(sql<AwardWithUser | null>`(select to_jsonb(a) from (${award}) a)`.as('award')),
  );
  if (!note) throw notFound('Note');
  if (note.system_action !== null) throw notFound('Award Emoji');
  if (!note.award) throw notFound();
  const { created_at, updated_at } = note.award;
  // A time is a text in JSON.
  return { ...note.award, created_at: new Date(created_at), updated_at: new Date(updated_at) };
}
