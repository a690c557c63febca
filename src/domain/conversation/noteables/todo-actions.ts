/** To-dos: added when other users involve a user, done when the user answers. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';
import type { Noteable } from './noteables.ts';
import { noteableColumns, noteableKey } from './noteables.ts';

export type TodoAction =
  | 'assigned'
  | 'review_requested'
  | 'review_submitted'
  | 'approval_required'
  | 'added_approver'
  | 'unmergeable'
  | 'build_failed'
  | 'mentioned'
  | 'marked'
  | 'directly_addressed';

/** What to-dos are about, and who makes them. */
type About = { author: { id: number }; target: Noteable; noteId?: number | undefined };

/**
 * Locks the to-dos of the noteable until the transaction ends, so that two writers do not both find a user without one:
 * changes of two notes on the noteable lock no row of both.
 */
async function lockTodos(tx: Db, noteable: Noteable): Promise<void> {
  const { column, id } = noteableKey(noteable);
  await sql`select pg_advisory_xact_lock(hashtextextended(${`todos ${column} ${id}`}, 0))`.execute(ahead(tx));
}

/** Inserts to-dos, but for users who have a pending one on the noteable for which `isKnown` holds. */
function insertTodos(
  { author, target: noteable, noteId }: About,
  todos: readonly { userId: number; action: TodoAction }[],
  isKnown: RawBuilder<SqlBool>,
): RawBuilder<unknown> {
  const { issue_id, epic_id, merge_request_id, commit_sha, alert_id, project_id, namespace_id } =
    noteableColumns(noteable);
  const { column, id } = noteableKey(noteable);
  const distinct = [...new Map(todos.map((todo) => [`${todo.userId} ${todo.action}`, todo])).values()];
  const place = project_id === null ? sql`namespace_id = ${namespace_id}` : sql`project_id = ${project_id}`;
  return sql`
    insert into todos (user_id, author_id, project_id, namespace_id, issue_id, epic_id, merge_request_id, commit_sha,
      alert_id, note_id,
      action, created_at, updated_at)
      select u.user_id, ${author.id}, ${project_id}, ${namespace_id}, ${issue_id}, ${epic_id}, ${merge_request_id},
        ${commit_sha}, ${alert_id}, ${noteId ?? null}, u.action, ${now()}, ${now()}
      from unnest(${distinct.map(({ userId }) => userId)}::bigint[], ${distinct.map(({ action }) => action)}::text[])
        with ordinality u(user_id, action, place)
      where not exists (select from todos t where t.user_id = u.user_id and t.state = 'pending' and ${isKnown}
        and t.${sql.ref(column)} = ${id} and t.${place})
      order by u.place`;
}

/** Adds to-dos for users without a pending one of the same action on the noteable. Call it inside a transaction. */
export async function addTodos(
  tx: Db,
  about: About,
  todos: readonly { userId: number; action: TodoAction }[],
): Promise<void> {
  if (todos.length === 0 || !about.target.kind.hasTodos) return;
  await lockTodos(tx, about.target);
  await insertTodos(about, todos, sql`t.action = u.action`).execute(ahead(tx));
}

/**
 * Marks the noteable for the user's own list, unless a pending to-do is there; `returning` are columns of the new one.
 * Call it inside a transaction.
 */
export async function markTodo<Row>(
  tx: Db,
  user: { id: number },
  noteable: Noteable,
  returning: RawBuilder<Row>,
): Promise<Row | undefined> {
  await lockTodos(tx, noteable);
  const todo = { userId: user.id, action: 'marked' } as const;
  const insert = insertTodos({ author: user, target: noteable }, [todo], sql`true`);
  const { rows } = await sql<Row>`${insert} returning ${returning}`.execute(tx);
  return rows[0];
}

/** Marks the user's pending to-dos on the noteable as done. */
export async function completeTodos(tx: Db, userId: number, noteable: Noteable): Promise<void> {
  await completionOfTodos(tx, userId, noteable)?.execute();
}

/** The statement that does it; undefined where the kind has no to-dos. */
export function completionOfTodos(tx: Db, userId: number, noteable: Noteable) {
  if (!noteable.kind.hasTodos) return undefined;
  const { column, id } = noteableKey(noteable);
  return tx
    .updateTable('todos')
    .set({ state: 'done', updated_at: now() })
    .where('user_id', '=', userId)
    .where('state', '=', 'pending')
    .where(sql.ref<number | string>(column), '=', id)
    .$if(noteable.project !== undefined, (query) =>
      query.where('project_id', '=', noteable.project?.id ?? 0),
    );
}
