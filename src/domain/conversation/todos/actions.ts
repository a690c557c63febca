/** Marking a record to do, and marking to-do items as done. */
import { sql } from 'kysely';
import type { Actor } from '../../../kernel/actor.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { type Noteable, noteableKey } from '../noteables/noteables.ts';
import { addTodos } from '../noteables/todo-actions.ts';
import type { TodoRow } from './targets.ts';

/**
 * The new item, for the actor's own list; undefined when there is a pending one for the target. Sent twice at
 * once it is made once.
 */
export const markNoteable = (db: Db, actor: Actor, noteable: Noteable): Promise<TodoRow | undefined> =>
  inTransaction(db, async (tx) => {
    // The lock makes a user's requests check one after the other whether there is one.
    await tx.selectFrom('users').select('id').where('id', '=', actor.id).forNoKeyUpdate().execute();
    const { column, id } = noteableKey(noteable);
    const pending = () =>
      tx
        .selectFrom('todos')
        .selectAll()
        .where('user_id', '=', actor.id)
        .where('state', '=', 'pending')
        .where(sql.ref<number | string>(column), '=', id)
        .orderBy('id', 'desc');
    if (await pending().executeTakeFirst()) return undefined;
    await addTodos(tx, { users: [actor.id], author: actor, target: noteable, action: 'marked' });
    return pending().executeTakeFirstOrThrow();
  });

/** The item, done; unchanged when it was done before. */
export async function finishTodo(db: Db, todo: TodoRow): Promise<TodoRow> {
  const done = await db
    .updateTable('todos')
    .set({ state: 'done', updated_at: now() })
    .where('id', '=', todo.id)
    .where('state', '=', 'pending')
    .returningAll()
    .executeTakeFirst();
  return done ?? { ...todo, state: 'done' };
}

/** Marks all pending items of the actor as done, those that they no longer see included. */
export async function finishAll(db: Db, actor: Actor): Promise<void> {
  await db
    .updateTable('todos')
    .set({ state: 'done', updated_at: now() })
    .where('user_id', '=', actor.id)
    .where('state', '=', 'pending')
    .execute();
}

/** Removes the items of a user who is being deleted; those that the user made for others become the ghost's. */
export async function reassignTodos(tx: Db, userId: number, ghostId: number): Promise<void> {
  await tx.deleteFrom('todos').where('user_id', '=', userId).execute();
  await tx.updateTable('todos').set({ author_id: ghostId }).where('author_id', '=', userId).execute();
}
