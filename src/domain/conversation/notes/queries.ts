/** Reads notes and threads of a noteable. */
import { sql } from 'kysely';
import type { Caller } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/failure.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { type Noteable, noteableKey, readsInternalNotes } from '../noteables/noteables.ts';
import { noteables } from './noteable-registry.ts';
import { type NoteWithRelations, selectRelations } from './notes.ts';
import type { ActivityFilter } from './schema.ts';

/** In whose name notes are read. */
export type NoteReader = { db: Db; services: Needs<'registered'>; actor: Caller };

/** The notes of the noteable; internal ones, and those that tell of hidden mentions, only for callers who may read these. */
export function notesOf({ db, services, actor }: NoteReader, noteable: Noteable) {
  const { column, id } = noteableKey(noteable);
  let query = db
    .selectFrom('notes')
    .selectAll('notes')
    .select(selectRelations('notes', [noteable.kind]))
    .where(sql.ref<number | string>(`notes.${column}`), '=', id);
  // A commit of a fork has the same id.
  if (noteable.project) query = query.where('notes.project_id', '=', noteable.project.id);
  for (const { readableMentions } of noteables.all(services))
    if (readableMentions) query = query.where(readableMentions(actor));
  return readsInternalNotes(noteable) ? query : query.where('notes.internal', '=', false);
}

/** A page of notes in the requested order. */
export function selectNotes(
  reader: NoteReader,
  noteable: Noteable,
  requested: { by: 'created_at' | 'updated_at'; sort: 'asc' | 'desc'; filter: ActivityFilter },
  page: PageRequest,
): Promise<Page<NoteWithRelations>> {
  let query = notesOf(reader, noteable);
  if (requested.filter === 'only_comments') query = query.where('notes.system_action', 'is', null);
  if (requested.filter === 'only_activity') query = query.where('notes.system_action', 'is not', null);
  return selectPage(reader.db, query, page, requested, {
    created_at: 'notes.created_at',
    updated_at: 'notes.updated_at',
    id: 'notes.id',
  });
}

/** A note of the noteable, and of the thread if one is given; 404 when the caller can read none. */
export async function findNote(
  reader: NoteReader,
  noteable: Noteable,
  id: number,
  discussionId?: string,
): Promise<NoteWithRelations> {
  let query = notesOf(reader, noteable).where('notes.id', '=', id);
  if (discussionId !== undefined) query = query.where('notes.discussion_id', '=', discussionId);
  const note = await query.executeTakeFirst();
  if (!note) throw notFound('Note');
  return note;
}

/** The notes of the thread, oldest first; 404 when there is none. */
export async function findThread(
  reader: NoteReader,
  noteable: Noteable,
  discussionId: string,
): Promise<NoteWithRelations[]> {
  const notes = await notesOf(reader, noteable)
    .where('notes.discussion_id', '=', discussionId)
    .orderBy('notes.id')
    .execute();
  if (notes.length === 0) throw notFound('Discussion');
  return notes;
}

/** Of so many open notes threads are looked for. */
const MAX_OPEN_NOTES = 1_000;

/** Notes in threads that are open, or in the one, oldest first. */
export function selectOpenNotes(
  reader: NoteReader,
  noteable: Noteable,
  discussionId?: string,
): Promise<NoteWithRelations[]> {
  let query = notesOf(reader, noteable)
    .where('notes.in_thread', '=', true)
    .where('notes.resolved_at', 'is', null)
    .where('notes.system_action', 'is', null);
  if (discussionId !== undefined) query = query.where('notes.discussion_id', '=', discussionId);
  return query.orderBy('notes.id').limit(MAX_OPEN_NOTES).execute();
}

/** A page of the thread's notes, oldest first. */
export const selectThread = (
  reader: NoteReader,
  noteable: Noteable,
  discussionId: string,
  page: PageRequest,
): Promise<Page<NoteWithRelations>> =>
  selectPage(
    reader.db,
    notesOf(reader, noteable).where('notes.discussion_id', '=', discussionId),
    page,
    { by: 'id', sort: 'asc' },
    { id: 'notes.id' },
  );

/** A page of threads, by the time of their first notes, each with all its notes: two statements. */
export async function selectThreads(
  reader: NoteReader,
  noteable: Noteable,
  page: PageRequest,
): Promise<Page<NoteWithRelations[]>> {
  const { column, id } = noteableKey(noteable);
  const first = sql<boolean>`not exists (select from notes earlier
    where earlier.discussion_id = notes.discussion_id and earlier.id < notes.id and earlier.${sql.ref(column)} = ${id})`;
  const beginnings = await selectPage(
    reader.db,
    notesOf(reader, noteable).where(first),
    page,
    { by: 'created_at', sort: 'asc' },
    { created_at: 'notes.created_at', id: 'notes.id' },
  );
  const ids = beginnings.items.map(({ discussion_id }) => discussion_id);
  const notes =
    ids.length === 0
      ? []
      : await notesOf(reader, noteable).where('notes.discussion_id', 'in', ids).orderBy('notes.id').execute();
  const threads = Map.groupBy(notes, ({ discussion_id }) => discussion_id);
  return { ...beginnings, items: ids.flatMap((discussion) => [threads.get(discussion) ?? []]) };
}
