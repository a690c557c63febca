/** Creates, changes and deletes notes, each in one transaction with its announcement. */
import { sql } from 'kysely';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { badRequest, forbidden, notFound } from '../../../platform/failure.ts';
import { checkSpam } from '../../spam/index.ts';
import { findMentionTodos } from '../mentions/mention-todos.ts';
import { type Noteable, readsInternalNotes } from '../noteables/noteables.ts';
import { addTodos } from '../noteables/todo-actions.ts';
import type { WriteContext } from '../noteables/write-context.ts';
import { editAnnouncement } from './announcements.ts';
import { insertNote, insertNoteInBatch, type NoteInsert } from './insert-actions.ts';
import { isAnything, nothingDone, parseQuickActions } from './note-commands.ts';
import { isResolved } from './note-records.ts';
import { definitionOf, type QuickActions, type WriteWithNote } from './noteable-registry.ts';
import {
  isCounted,
  maySuggest,
  type NewNote,
  type NotePosition,
  type NoteRow,
  type NoteWithRelations,
  positionOf,
  selectRelations,
} from './notes.ts';
import { requireEditable, requirePart, requireText, setsTimes } from './rules.ts';
import type { CommandsReply, NewNoteInput } from './schema.ts';

/** The outcome: a note with the changes of its quick actions, or those alone. */
export type NoteResult =
  | { note: NoteWithRelations; changes: QuickActions['changes']; commands?: undefined }
  | { note?: undefined; commands: CommandsReply };

const refuseSpam = (
  context: WriteContext,
  noteable: Noteable,
  note: { body: string; internal: boolean; write: 'create' | 'update' },
): Promise<void> =>
  checkSpam(context.services, context.settings, {
    actor: context.actor,
    request: context.request,
    kind: 'Note',
    write: note.write,
    text: note.body,
    publiclyVisible: !note.internal && noteable.kind.isPublic(noteable),
  });

/** What stores the suggestions of a note with such texts, the one that it had too; undefined where they have none. */
async function prepareSuggestions(
  context: WriteContext,
  noteable: Noteable,
  position: NotePosition | undefined,
  body: string,
  before = '',
): Promise<WriteWithNote | undefined> {
  if (!position || !(maySuggest(body) || maySuggest(before))) return undefined;
  const { suggestions } = definitionOf(context.services, noteable.kind) ?? {};
  return suggestions?.prepare(context, noteable, { body, position });
}

/** Inserts the comment and what follows from it; to-dos of those whom it mentions need its id, as suggestions do. */
async function store(
  { db, services }: WriteContext,
  insert: NoteInsert,
  suggest: WriteWithNote | undefined,
): Promise<NoteWithRelations> {
  const { actor, noteable, note } = insert;
  const change = { actor, target: noteable, text: note.body, internal: note.internal };
  const mentioned = await findMentionTodos(db, services.database.points, change);
  // In a transaction of its own, it goes with others of the moment.
  if (mentioned.length === 0 && !suggest)
    return (db.isTransaction ? insertNote : insertNoteInBatch)(db, insert);
  return inTransaction(db, async (tx) => {
    const row = await insertNote(tx, insert);
    await suggest?.(tx, row.id);
    await addTodos(tx, { author: actor, target: noteable, noteId: row.id }, mentioned);
    return row;
  });
}

/** Where a new note is, and what it was before. */
type NotePlace = Pick<NewNote, 'position' | 'line' | 'lineCode'> & {
  thread?: readonly NoteRow[];
  beginsThread?: boolean;
  /** Judged as spam when it was written, when also its suggestions were read. */
  draft?: { inReview: boolean; suggest?: WriteWithNote };
};

/**
 * Creates a single note, the first of a thread, or a reply. Quick actions are applied and removed from the
 * text; without other text no note is created. 400 for no text, or when no quick action could be applied; 403
 * for users who may not comment, and for internal notes by users who may not read them.
 */
export async function createNote(
  context: WriteContext,
  noteable: Noteable,
  input: NewNoteInput,
  place: NotePlace = {},
): Promise<NoteResult> {
  const { thread, beginsThread = false, line, draft } = place;
  const [first] = thread ?? [];
  requirePart(noteable);
  requireText(input.body);
  if (first && first.system_action !== null) throw badRequest('Discussion can not be replied to.');
  const internal = first?.internal ?? input.internal ?? input.confidential ?? false;
  if (internal && !readsInternalNotes(noteable)) throw forbidden();
  const head = input.merge_request_diff_head_sha ?? undefined;
  const commands = await parseQuickActions(context, noteable, input.body, head);
  const body = commands?.text ?? input.body;
  if (commands && body === '' && !isAnything(commands)) throw nothingDone(commands);
  const judged = { body: body === '' ? input.body : body, internal, write: 'create' } as const;
  if (!draft) await refuseSpam(context, noteable, judged);
  // A reply has the position of its thread.
  const position = first ? positionOf(first) : place.position;
  const lineCode = first ? first.line_code : place.lineCode;
  const insert: NoteInsert = {
    actor: context.actor,
    noteable: afterCommands(noteable, commands),
    note: {
      body,
      internal,
      inThread: beginsThread || thread !== undefined,
      ...(first && { discussionId: first.discussion_id, resolved: isResolved(noteable.kind, thread ?? []) }),
      ...(position && { position }),
      ...(lineCode && { lineCode }),
      ...(line && { line }),
      ...(draft?.inReview && { inReview: true }),
      ...(input.created_at !== undefined && setsTimes(noteable) && { createdAt: new Date(input.created_at) }),
    },
  };
  const suggest = draft ? draft.suggest : await prepareSuggestions(context, noteable, position, body);
  if (!commands) return { note: await store(context, insert, suggest), changes: {} };
  return withCommands(context, commands, body, (within) => store(within, insert, suggest));
}

/** Applies the quick actions of a text, and writes what is left of it, by one transaction. */
const withCommands = (
  context: WriteContext,
  commands: QuickActions,
  body: string,
  write: (context: WriteContext) => Promise<NoteWithRelations>,
  empty: (context: WriteContext) => Promise<void> = async () => {},
): Promise<NoteResult> =>
  inTransaction(context.db, async (tx) => {
    const within = { ...context, db: tx };
    await commands.apply(tx);
    const note = body === '' ? await empty(within) : await write(within);
    await commands.leave(tx);
    return note ? { note, changes: commands.changes } : { commands: done(commands) };
  });

const done = ({ changes, messages }: QuickActions): CommandsReply => ({
  commands_changes: changes,
  summary: [...messages],
});

/** Fewer users get to-dos when a quick action has made the noteable confidential. */
const afterCommands = (noteable: Noteable, commands: QuickActions | undefined): Noteable => ({
  ...noteable,
  confidential: noteable.confidential || commands?.changes.confidential === true,
});

/**
 * Changes the text of a note; newly mentioned users get to-dos. Quick actions are applied and removed from
 * the text; without other text the note is deleted. 400 for no text, or when no quick action could be
 * applied; 403 for users who may not change it.
 */
export async function updateNote(
  context: WriteContext,
  noteable: Noteable,
  note: NoteWithRelations,
  text: string,
): Promise<NoteResult> {
  requireEditable(noteable, context.actor, note);
  requireText(text);
  if (text === note.body) return { note, changes: {} };
  const commands = await parseQuickActions(context, noteable, text);
  const body = commands?.text ?? text;
  if (commands && body === '' && !isAnything(commands)) throw nothingDone(commands);
  const judged = { body: body === '' ? text : body, internal: note.internal, write: 'update' } as const;
  await refuseSpam(context, noteable, judged);
  const suggest = await prepareSuggestions(context, noteable, positionOf(note), body, note.body);
  const rewritten = (within: WriteContext) =>
    rewrite(within, afterCommands(noteable, commands), note, body, suggest);
  if (!commands) return { note: await rewritten(context), changes: {} };
  return withCommands(context, commands, body, rewritten, (within) =>
    deleteNote(within, noteable, note, () => {}),
  );
}

const rewrite = (
  { db, actor, services }: WriteContext,
  noteable: Noteable,
  note: NoteRow,
  body: string,
  suggest: WriteWithNote | undefined,
): Promise<NoteWithRelations> =>
  inTransaction(db, async (tx) => {
    const time = now();
    const locked = tx.selectFrom('notes').select(['id', 'body']).where('id', '=', note.id).forUpdate();
    const changed = await tx
      .updateTable('notes')
      .from(locked.as('before'))
      .set({ body, last_edited_at: time, updated_at: time })
      .whereRef('notes.id', '=', 'before.id')
      .returningAll('notes')
      .returning('before.body as before')
      .returning(selectRelations('notes', [noteable.kind]))
      .executeTakeFirst();
    if (!changed) throw notFound('Note');
    const { before, ...after } = changed;
    await suggest?.(tx, note.id);
    const change = { actor, target: noteable, text: body, before, internal: note.internal };
    const mentioned = await findMentionTodos(tx, services.database.points, change);
    await addTodos(tx, { author: actor, target: noteable, noteId: note.id }, mentioned);
    await announce(tx, editAnnouncement(actor, noteable, { ...note, body }));
    return after;
  });

/** Adjusts the count of notes where the noteable has one. */
async function countNotes(tx: Db, { kind, id }: Noteable, difference: number): Promise<void> {
  if (kind.countedIn === undefined) return;
  await ahead(tx)
    .updateTable(kind.countedIn)
    .set({
      user_notes_count: sql<number>`greatest(user_notes_count + ${difference}::integer, 0)`,
      updated_at: now(),
    })
    .where('id', '=', id ?? 0)
    .execute();
}

/** Deletes the note and its to-dos; `check` sees the locked note first. */
export async function deleteNote(
  { db, actor }: Pick<WriteContext, 'db' | 'actor'>,
  noteable: Noteable,
  note: NoteRow,
  check: (updatedAt: Date) => void,
): Promise<void> {
  requireEditable(noteable, actor, note);
  await inTransaction(db, async (tx) => {
    const locked = await tx
      .selectFrom('notes')
      .select('updated_at')
      .where('id', '=', note.id)
      .forUpdate()
      .executeTakeFirst();
    if (!locked) throw notFound('Note');
    check(locked.updated_at);
    await ahead(tx).deleteFrom('todos').where('note_id', '=', note.id).execute();
    await ahead(tx).deleteFrom('notes').where('id', '=', note.id).execute();
    // These two never change.
    if (isCounted(note)) await countNotes(tx, noteable, -1);
  });
}

/** Gives the notes of a user who is being deleted to the ghost. */
export async function reassignNotes(tx: Db, userId: number, ghostId: number): Promise<void> {
  await tx.updateTable('notes').set({ author_id: ghostId }).where('author_id', '=', userId).execute();
  await tx
    .updateTable('notes')
    .set({ resolved_by_id: ghostId })
    .where('resolved_by_id', '=', userId)
    .execute();
}
