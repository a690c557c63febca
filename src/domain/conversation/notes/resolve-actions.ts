/** Resolves threads, and opens them again. */
import { sql } from 'kysely';
import type { Author } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { badRequest } from '../../../platform/failure.ts';
import { type Noteable, type NoteableKind, noteableKey } from '../noteables/noteables.ts';
import type { WriteContext } from '../noteables/write-context.ts';
import { isResolvable } from './note-records.ts';
import { definitionOf } from './noteable-registry.ts';
import { type NoteRow, type NoteWithRelations, selectRelations } from './notes.ts';
import { findThread } from './queries.ts';
import { requireResolver } from './rules.ts';

/** Two that resolve the last threads at the same time must see each other. */
async function lockNoteable(tx: Db, { kind, id }: Noteable): Promise<void> {
  if (kind.numberedIn === undefined) return;
  await ahead(tx)
    .selectFrom(kind.numberedIn)
    .select('id')
    .where('id', '=', id ?? 0)
    .forNoKeyUpdate()
    .execute();
}

/** Whether a thread is open beside the notes of these ids, which the same statement changes. */
function hasOthersOpen(noteable: Noteable, ids: readonly number[]) {
  const { column, id } = noteableKey(noteable);
  return sql<boolean>`exists (select from notes other where other.${sql.ref(column)} = ${id} and other.in_thread
    and other.resolved_at is null and other.system_action is null and other.id <> all(${[...ids]}::bigint[]))`;
}

const toChange = (kind: NoteableKind, thread: readonly NoteRow[], resolved: boolean): number[] =>
  thread
    .filter((note) => isResolvable(kind, note) && (note.resolved_at !== null) !== resolved)
    .map(({ id }) => id);

/**
 * Resolves or reopens these notes of a thread, in the caller's transaction where something follows; what is so already stays
 * as it is. Returns the notes that changed.
 */
export async function setResolved(
  db: Db,
  { services, actor }: { services: Needs<'registered'>; actor: Author },
  noteable: Noteable,
  thread: readonly NoteRow[],
  resolved: boolean,
): Promise<NoteWithRelations[]> {
  const ids = toChange(noteable.kind, thread, resolved);
  if (ids.length === 0) return [];
  const follow = resolved ? definitionOf(services, noteable.kind)?.threadsResolved : undefined;
  if (follow) await lockNoteable(db, noteable);
  const time = now();
  const changed = await db
    .updateTable('notes')
    .set({
      resolved_at: resolved ? time : null,
      resolved_by_id: resolved ? actor.id : null,
      updated_at: time,
    })
    .where('id', 'in', ids)
    .where('resolved_at', resolved ? 'is' : 'is not', null)
    .returningAll()
    .returning(selectRelations('notes', [noteable.kind]))
    .returning((follow ? hasOthersOpen(noteable, ids) : sql<boolean>`true`).as('open'))
    .execute();
  if (follow && changed[0] && !changed[0].open) await follow(db, actor, noteable);
  return changed.map(({ open: _, ...note }) => note);
}

/**
 * Resolves or reopens a thread, or one note of it; 400 where it is no thread, 403 for users who may not. Returns the thread
 * as it is then.
 */
export async function resolveNotes(
  context: Pick<WriteContext, 'db' | 'services' | 'actor'>,
  noteable: Noteable,
  thread: readonly NoteWithRelations[],
  resolved: boolean,
  note?: NoteRow,
): Promise<NoteWithRelations[]> {
  if (note && !isResolvable(noteable.kind, note)) throw badRequest('Note is not resolvable');
  requireResolver(noteable, context.actor, thread);
  const change = (db: Db) => setResolved(db, context, noteable, note ? [note] : thread, resolved);
  const follows = definitionOf(context.services, noteable.kind)?.threadsResolved !== undefined;
  const changed = await (follows ? inTransaction(context.db, change) : change(context.db));
  // Somebody else was faster with the rest.
  if (changed.length < toChange(noteable.kind, note ? [note] : thread, resolved).length)
    return findThread(context, noteable, thread[0]?.discussion_id ?? '');
  const byId = new Map(changed.map((each) => [each.id, each]));
  return thread.map((each) => byId.get(each.id) ?? each);
}
