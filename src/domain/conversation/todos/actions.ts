/** Marking a record to do, and marking to-do items as done. */
import type { Actor } from '../../../kernel/actor.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Noteable } from '../noteables/noteables.ts';
import { markTodo } from '../noteables/todo-actions.ts';
import { type TodoRow, todoColumns } from './targets.ts';

/** The new item, for the actor's own list; undefined when there is a pending one for the target. */
export const markNoteable = (db: Db, actor: Actor, noteable: Noteable): Promise<TodoRow | undefined> =>
  inTransaction(db, (tx) => markTodo(tx, actor, noteable, todoColumns('todos')));

/** The item, done; unchanged when it was done before. */
export async function finishTodo(db: Db, todo: TodoRow): Promise<TodoRow> {
  const done = await db
    .updateTable('todos')
    .set({ state: 'done', updated_at: now() })
    .where('id', '=', todo.id)
    .where('state', '=', 'pending')
    .returning(['updated_at'])
    .executeTakeFirst();
  return { ...todo, ...done, state: 'done' };
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
