/** Resolves threads, and opens them again. */
import { sql } from 'kysely';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { badRequest } from '../../../platform/failure.ts';
import { type Noteable, type NoteableKind, noteableKey } from '../noteables/noteables.ts';
import type { WriteContext } from '../noteables/write-context.ts';
import { isResolvable } from './note-records.ts';
import { type Author, definitionOf } from './noteable-registry.ts';
import type { NoteRow } from './notes.ts';
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

async function hasOpenThreads(tx: Db, noteable: Noteable): Promise<boolean> {
  const { column, id } = noteableKey(noteable);
  const open = await tx
    .selectFrom('notes')
    .select('id')
    .where(sql.ref<number | string>(column), '=', id)
    .where('in_thread', '=', true)
    .where('resolved_at', 'is', null)
    .where('system_action', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return open !== undefined;
}

const toChange = (kind: NoteableKind, thread: readonly NoteRow[], resolved: boolean): number[] =>
  thread
    .filter((note) => isResolvable(kind, note) && (note.resolved_at !== null) !== resolved)
    .map(({ id }) => id);

/** Resolves or reopens these notes of a thread, in the caller's transaction; what is so already stays as it is. */
export async function setResolved(
  tx: Db,
  { services, actor }: { services: Needs<'registered'>; actor: Author },
  noteable: Noteable,
  thread: readonly NoteRow[],
  resolved: boolean,
): Promise<void> {
  const ids = toChange(noteable.kind, thread, resolved);
  if (ids.length === 0) return;
  const follow = resolved ? definitionOf(services, noteable.kind)?.threadsResolved : undefined;
  if (follow) await lockNoteable(tx, noteable);
  const time = now();
  const changed = await tx
    .updateTable('notes')
    .set({
      resolved_at: resolved ? time : null,
      resolved_by_id: resolved ? actor.id : null,
      updated_at: time,
    })
    .where('id', 'in', ids)
    .where('resolved_at', resolved ? 'is' : 'is not', null)
    .returning('id')
    .execute();
  if (follow && changed.length > 0 && !(await hasOpenThreads(tx, noteable)))
    await follow(tx, actor, noteable);
}

/** Resolves or reopens a thread, or one note of it; 400 where it is no thread, 403 for users who may not. */
export async function resolveNotes(
  context: Pick<WriteContext, 'db' | 'services' | 'actor'>,
  noteable: Noteable,
  thread: readonly NoteRow[],
  resolved: boolean,
  note?: NoteRow,
): Promise<void> {
  if (note && !isResolvable(noteable.kind, note)) throw badRequest('Note is not resolvable');
  requireResolver(noteable, context.actor, thread);
  await inTransaction(context.db, (tx) =>
    setResolved(tx, context, noteable, note ? [note] : thread, resolved),
  );
}
