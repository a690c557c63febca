/** To-dos: added when other users involve a user, done when the user answers. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Noteable } from './noteables.ts';
import { noteableColumns, noteableKey } from './noteables.ts';

export type TodoAction = 'assigned' | 'mentioned' | 'marked' | 'directly_addressed';

/**
 * Adds a to-do for each user without a pending one of this action on the noteable; returns those users.
 * Call it inside a transaction.
 */
export async function addTodos(
  tx: Db,
  todo: {
    users: readonly number[];
    author: { id: number };
    target: Noteable;
    noteId?: number | undefined;
    action: TodoAction;
  },
): Promise<number[]> {
  const { users, author, target: noteable, noteId, action } = todo;
  if (users.length === 0 || !noteable.kind.hasTodos) return [];
  const { issue_id, epic_id, commit_sha, alert_id, project_id, namespace_id } = noteableColumns(noteable);
  const key = noteableKey(noteable);
  // Serialized, so that two writers do not both find a user without a to-do; changes of two notes on the
  // noteable lock no row of both.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`todos ${key.column} ${key.id}`}, 0))`.execute(
    tx,
  );
  const place = project_id === null ? sql`namespace_id = ${namespace_id}` : sql`project_id = ${project_id}`;
  const { rows } = await sql<{ user_id: number }>`
    insert into todos (user_id, author_id, project_id, namespace_id, issue_id, epic_id, commit_sha, alert_id, note_id,
      action, created_at, updated_at)
      select u, ${author.id}, ${project_id}, ${namespace_id}, ${issue_id}, ${epic_id}, ${commit_sha}, ${alert_id},
        ${noteId ?? null}, ${action}, ${now()}, ${now()}
      from unnest(${[...new Set(users)]}::bigint[]) u
      where not exists (select from todos t where t.user_id = u and t.state = 'pending' and t.action = ${action}
        and t.${sql.ref(key.column)} = ${key.id} and t.${place})
      returning user_id`.execute(tx);
  return rows.map(({ user_id }) => user_id);
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
