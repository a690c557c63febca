/** Marking what is to be done, and what is done. */
import { sql } from 'kysely';
import type { Actor } from '../../core/identity/actor.ts';
import { type Noteable, noteableKey } from '../../core/work/noteables.ts';
import { addTodos } from '../../core/work/todo-writes.ts';
import { now } from '../../platform/clock.ts';
import { type Db, inTransaction } from '../../platform/db/database.ts';
import type { TodoRow } from './queries.ts';

/** The new item, for the actor's own; undefined when the target waits for them already. Sent twice at once it is made once. */
export const markNoteable = (db: Db, actor: Actor, noteable: Noteable): Promise<TodoRow | undefined> =>
  inTransaction(db, async (tx) => {
    // Of one person's requests one after the other looks whether there is one.
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

/** The item, done; as it is when it was before. */
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

/** All that waits for the actor is done, what they see no more included. */
export async function finishAll(db: Db, actor: Actor): Promise<void> {
  await db
    .updateTable('todos')
    .set({ state: 'done', updated_at: now() })
    .where('user_id', '=', actor.id)
    .where('state', '=', 'pending')
    .execute();
}
