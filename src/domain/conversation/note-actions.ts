/** Writing, changing and deleting notes: decided, written and told of in one transaction each. */
import { PUBLIC } from '../../core/access/roles.ts';
import { announce } from '../../core/activity/announce.ts';
import { isReadByAnybody } from '../../core/spam/audience.ts';
import { checkSpam } from '../../core/spam/spam-check.ts';
import type { Changes } from '../../core/work/command-terms.ts';
import type { Interpretation } from '../../core/work/commands.ts';
import { addMentionTodos } from '../../core/work/mention-todos.ts';
import { type Noteable, readsInternalNotes } from '../../core/work/noteables.ts';
import {
  countNotes,
  isCounted,
  type NewNote,
  type NoteRow,
  positionOf,
  writeNote,
} from '../../core/work/notes.ts';
import { completeTodos } from '../../core/work/todo-writes.ts';
import type { WriteContext } from '../../core/work/write-context.ts';
import { now } from '../../platform/clock.ts';
import { type Db, inTransaction } from '../../platform/db/database.ts';
import { badRequest, forbidden, notFound } from '../../platform/failure.ts';
import { noteAnnouncement } from './announcements.ts';
import {
  applyMoveActions,
  applyQuickActions,
  isAnything,
  nothingDone,
  parseQuickActions,
} from './commands.ts';
import { requireEditable, requirePart, requireResolver, requireText, setsTimes } from './rules.ts';
import type { CommandsReply, NewNoteInput } from './schema.ts';

/** What became of it: a note, with what its commands changed, or those alone. */
export type NoteResult =
  | { note: NoteRow; changes: Changes; commands?: undefined }
  | { note?: undefined; commands: CommandsReply };

const readAbility = {
  issue: 'read_issues',
  snippet: 'read_project_snippets',
  commit: 'read_code',
  alert: 'read_alerts',
} as const;

/** Whether people without an account will read it. */
function isPublic({ kind, project, group, confidential, visibility }: Noteable, internal: boolean): boolean {
  if (confidential || internal) return false;
  if (kind === 'epic' || !project) return group?.row.visibility === PUBLIC;
  return isReadByAnybody(project, readAbility[kind]) && (visibility === undefined || visibility === PUBLIC);
}

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
    publiclyVisible: isPublic(noteable, note.internal),
  });

/** The note and what it brings about: reminders, the feed, listeners. */
async function store(
  tx: Db,
  { actor, services }: WriteContext,
  noteable: Noteable,
  note: NewNote,
): Promise<NoteRow> {
  const row = await writeNote(tx, noteable, actor, note);
  await completeTodos(tx, actor.id, noteable);
  await addMentionTodos(tx, services.database.points, {
    actor,
    target: noteable,
    text: row.body,
    noteId: row.id,
    internal: row.internal,
  });
  await announce(tx, noteAnnouncement(actor, noteable, row));
  return row;
}

/** The thread that a note answers, by its notes; a note for itself becomes one. */
async function joinThread(tx: Db, thread: readonly NoteRow[]): Promise<void> {
  const [first] = thread;
  if (!first || first.in_thread) return;
  await tx
    .updateTable('notes')
    .set({ in_thread: true })
    .where(
      'id',
      'in',
      thread.map(({ id }) => id),
    )
    .execute();
}

/**
 * The new note: for itself, the beginning of a thread, or an answer in one. Commands in it are carried out and left out of
 * it; of a note of commands alone only what they did remains. 400 for no text, or when no command could be carried out;
 * 403 for who may not take part, and for a note for the team by who is not of it.
 */
export async function createNote(
  context: WriteContext,
  noteable: Noteable,
  input: NewNoteInput,
  place: { thread?: readonly NoteRow[]; beginsThread?: boolean } & Pick<NewNote, 'position' | 'line'> = {},
): Promise<NoteResult> {
  const { db } = context;
  const { thread, beginsThread = false, line } = place;
  const [first] = thread ?? [];
  requirePart(noteable);
  requireText(input.body);
  if (first && first.system_action !== null) throw badRequest('Discussion can not be replied to.');
  const internal = first?.internal ?? input.internal ?? input.confidential ?? false;
  if (internal && !readsInternalNotes(noteable)) throw forbidden();
  const commands = await parseQuickActions(context, noteable, input.body);
  const body = commands?.text ?? input.body;
  if (commands && body === '' && !isAnything(commands)) throw nothingDone(commands);
  await refuseSpam(context, noteable, { body: body === '' ? input.body : body, internal, write: 'create' });
  if (commands) await applyQuickActions(context, noteable, commands);
  if (commands && body === '') {
    await applyMoveActions(context, noteable, commands);
    return { commands: done(commands) };
  }
  // An answer stands where the thread does.
  const position = first ? positionOf(first) : place.position;
  const note = await inTransaction(db, async (tx) => {
    if (thread) await joinThread(tx, thread);
    return store(tx, context, afterCommands(noteable, commands), {
      body,
      internal,
      inThread: beginsThread || thread !== undefined,
      ...(first && { discussionId: first.discussion_id }),
      ...(position && { position }),
      ...(line && { line }),
      ...(input.created_at !== undefined && setsTimes(noteable) && { createdAt: new Date(input.created_at) }),
    });
  });
  if (commands) await applyMoveActions(context, noteable, commands);
  return { note, changes: commands?.changes ?? {} };
}

const done = ({ changes, messages }: Interpretation): CommandsReply => ({
  commands_changes: changes,
  summary: [...messages],
});

/** Fewer are reminded when a command has just hidden it. */
const afterCommands = (noteable: Noteable, commands: Interpretation | undefined): Noteable => ({
  ...noteable,
  confidential: noteable.confidential || commands?.changes.confidential === true,
});

const lockNote = async (tx: Db, id: number): Promise<NoteRow> => {
  const note = await tx.selectFrom('notes').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
  if (!note) throw notFound('Note');
  return note;
};

/**
 * The note with another text; whoever is newly called in it is reminded. Commands in the new text are carried out and left
 * out of it; of a note that is commands alone now only what they did remains. 400 for no text, or when no command could be
 * carried out; 403 for who may not change it.
 */
export async function updateNote(
  context: WriteContext,
  noteable: Noteable,
  note: NoteRow,
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
  if (commands) await applyQuickActions(context, noteable, commands);
  if (commands && body === '') {
    await deleteNote(context, noteable, note, () => {});
    await applyMoveActions(context, noteable, commands);
    return { commands: done(commands) };
  }
  const changed = await rewrite(context, afterCommands(noteable, commands), note, body);
  if (commands) await applyMoveActions(context, noteable, commands);
  return { note: changed, changes: commands?.changes ?? {} };
}

const rewrite = (
  { db, actor, services }: WriteContext,
  noteable: Noteable,
  note: NoteRow,
  body: string,
): Promise<NoteRow> =>
  inTransaction(db, async (tx) => {
    const before = await lockNote(tx, note.id);
    const time = now();
    const after = await tx
      .updateTable('notes')
      .set({ body, last_edited_at: time, updated_at: time })
      .where('id', '=', note.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await addMentionTodos(tx, services.database.points, {
      actor,
      target: noteable,
      text: body,
      before: before.body,
      noteId: note.id,
      internal: note.internal,
    });
    return after;
  });

/** Deletes the note, and what it reminded of; `check` sees it first, while nobody else can change it. */
export async function deleteNote(
  { db, actor }: Pick<WriteContext, 'db' | 'actor'>,
  noteable: Noteable,
  note: NoteRow,
  check: (updatedAt: Date) => void,
): Promise<void> {
  requireEditable(noteable, actor, note);
  await inTransaction(db, async (tx) => {
    const locked = await lockNote(tx, note.id);
    check(locked.updated_at);
    await tx.deleteFrom('todos').where('note_id', '=', note.id).execute();
    await tx.deleteFrom('notes').where('id', '=', note.id).execute();
    if (isCounted(locked)) await countNotes(tx, locked, -1);
  });
}

/** Says of notes of one thread that they are settled, or are not; 400 for what is no thread, 403 for who may not. */
export async function resolveNotes(
  { db, actor }: Pick<WriteContext, 'db' | 'actor'>,
  noteable: Noteable,
  thread: readonly NoteRow[],
  resolved: boolean,
  noteId?: number,
): Promise<void> {
  requireResolver(noteable, actor, thread);
  const ids = thread
    .filter((note) => note.system_action === null && (noteId === undefined || note.id === noteId))
    .filter((note) => (note.resolved_at !== null) !== resolved)
    .map(({ id }) => id);
  if (ids.length === 0) return;
  const time = now();
  await db
    .updateTable('notes')
    .set({
      resolved_at: resolved ? time : null,
      resolved_by_id: resolved ? actor.id : null,
      updated_at: time,
    })
    .where('id', 'in', ids)
    .execute();
}
