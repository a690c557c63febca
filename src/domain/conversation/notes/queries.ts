/** Reads notes and threads of a noteable. */
import { type SqlBool, sql } from 'kysely';
import type { Caller } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/failure.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { type Noteable, noteableKey, readsInternalNotes } from '../noteables/noteables.ts';
import { noteables } from './noteable-registry.ts';
import { type MentionColumn, type NoteWithRelations, selectRelations } from './notes.ts';
import type { ActivityFilter } from './schema.ts';

/** In whose name notes are read. */
export type NoteReader = { db: Db; services: Needs<'registered'>; actor: Caller };

type Mentions = ReadonlySet<MentionColumn>;

const mentionsOf = ({ services }: Pick<NoteReader, 'services'>) =>
  noteables.all(services).flatMap(({ mentions }) => mentions ?? []);

/** The notes of the noteable; internal ones only for callers who may read these. */
function allNotesOf({ db }: NoteReader, noteable: Noteable) {
  const { column, id } = noteableKey(noteable);
  let query = db
    .selectFrom('notes')
    .selectAll('notes')
    .select(selectRelations('notes', [noteable.kind]))
    .where(sql.ref<number | string>(`notes.${column}`), '=', id);
  // A commit of a fork has the same id.
  if (noteable.project) query = query.where('notes.project_id', '=', noteable.project.id);
  return readsInternalNotes(noteable) ? query : query.where('notes.internal', '=', false);
}

/**
 * The notes of the noteable; those that tell of hidden mentions only for callers who may read these. What the caller may is not
 * asked for columns of mentions that are not among these: notes that have them since then are left out.
 */
function notesOf(reader: NoteReader, noteable: Noteable, mentioned?: Mentions) {
  let query = allNotesOf(reader, noteable);
  for (const { column, isReadable } of mentionsOf(reader)) {
    const isNone = sql<SqlBool>`${sql.ref(`notes.${column}`)} is null`;
    query = query.where(
      mentioned?.has(column) === false ? isNone : sql<SqlBool>`(${isNone} or ${isReadable(reader.actor)})`,
    );
  }
  return query;
}

/** The columns in which notes of the noteable tell of mentions: hardly any does, and to plan who may read them takes long. */
async function selectMentions(reader: NoteReader, noteable: Noteable): Promise<Mentions> {
  const columns = mentionsOf(reader).map(({ column }) => column);
  const { column, id } = noteableKey(noteable);
  const which = columns.map((each) => sql`${sql.ref(each)} is not null`);
  const { rows } = await sql<Record<MentionColumn, boolean>>`
    select ${sql.join(columns.map((each, place) => sql`coalesce(bool_or(${which[place]}), false) as ${sql.ref(each)}`))}
    from notes where ${sql.ref(column)} = ${id} and (${sql.join(which, sql` or `)})`.execute(reader.db);
  return new Set(columns.filter((each) => rows[0]?.[each]));
}

type NotesQuery = ReturnType<typeof allNotesOf>;

/** Some notes of the noteable; whether the caller may read what they tell of is asked where one of them tells of a mention. */
export async function selectSomeNotes<Row extends NoteWithRelations>(
  reader: NoteReader,
  noteable: Noteable,
  which: (notes: NotesQuery) => { execute(): Promise<Row[]> },
): Promise<Row[]> {
  const notes = await which(allNotesOf(reader, noteable)).execute();
  const tells = mentionsOf(reader).some(({ column }) => notes.some((note) => note[column] !== null));
  return tells ? which(notesOf(reader, noteable)).execute() : notes;
}

/** A page of notes in the requested order. */
export async function selectNotes(
  reader: NoteReader,
  noteable: Noteable,
  requested: { by: 'created_at' | 'updated_at'; sort: 'asc' | 'desc'; filter: ActivityFilter },
  page: PageRequest,
): Promise<Page<NoteWithRelations>> {
  let query = notesOf(reader, noteable, await selectMentions(reader, noteable));
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
  const [note] = await selectSomeNotes(reader, noteable, (notes) => {
    const query = notes.where('notes.id', '=', id);
    return discussionId === undefined ? query : query.where('notes.discussion_id', '=', discussionId);
  });
  if (!note) throw notFound('Note');
  return note;
}

/** The notes of the thread, oldest first; 404 when there is none. */
export async function findThread(
  reader: NoteReader,
  noteable: Noteable,
  discussionId: string,
): Promise<NoteWithRelations[]> {
  const notes = await selectSomeNotes(reader, noteable, (all) =>
    all.where('notes.discussion_id', '=', discussionId).orderBy('notes.id'),
  );
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
  return selectSomeNotes(reader, noteable, (notes) => {
    const query = notes
      .where('notes.in_thread', '=', true)
      .where('notes.resolved_at', 'is', null)
      .where('notes.system_action', 'is', null)
      .orderBy('notes.id')
      .limit(MAX_OPEN_NOTES);
    return discussionId === undefined ? query : query.where('notes.discussion_id', '=', discussionId);
  });
}

/** A page of the thread's notes, oldest first. */
export async function selectThread(
  reader: NoteReader,
  noteable: Noteable,
  discussionId: string,
  page: PageRequest,
): Promise<Page<NoteWithRelations>> {
  const notes = notesOf(reader, noteable, await selectMentions(reader, noteable));
  return selectPage(
    reader.db,
    notes.where('notes.discussion_id', '=', discussionId),
    page,
    { by: 'id', sort: 'asc' },
    { id: 'notes.id' },
  );
}

/** A page of threads, by the time of their first notes, each with all its notes: three statements. */
export async function selectThreads(
  reader: NoteReader,
  noteable: Noteable,
  page: PageRequest,
): Promise<Page<NoteWithRelations[]>> {
  const { column, id } = noteableKey(noteable);
  const first = sql<boolean>`not exists (select from notes earlier
    where earlier.discussion_id = notes.discussion_id and earlier.id < notes.id and earlier.${sql.ref(column)} = ${id})`;
  const all = notesOf(reader, noteable, await selectMentions(reader, noteable));
  const beginnings = await selectPage(
    reader.db,
    all.where(first),
    page,
    { by: 'created_at', sort: 'asc' },
    { created_at: 'notes.created_at', id: 'notes.id' },
  );
  const ids = beginnings.items.map(({ discussion_id }) => discussion_id);
  const notes =
    ids.length === 0 ? [] : await all.where('notes.discussion_id', 'in', ids).orderBy('notes.id').execute();
  const threads = Map.groupBy(notes, ({ discussion_id }) => discussion_id);
  return { ...beginnings, items: ids.flatMap((discussion) => [threads.get(discussion) ?? []]) };
}
