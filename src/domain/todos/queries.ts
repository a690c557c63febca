/** A user's to-do items, those that they see. */
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Actor } from '../../core/identity/actor.ts';
import { visibleIssues } from '../../core/work/issue-visibility.ts';
import type { Db } from '../../platform/db/database.ts';
import { offsetPage, type Page, type PageRequest } from '../../platform/db/page.ts';
import type { TodosTable } from '../../platform/db/rows.ts';
import type { TodoFilters } from './schema.ts';
import { visibleTodos } from './visibility.ts';

export type TodoRow = Selectable<TodosTable>;

/** Public names of targets, by their columns. */
const types = {
  issue_id: 'Issue',
  epic_id: 'Epic',
  commit_sha: 'Commit',
  alert_id: 'AlertManagement::Alert',
} as const;

export const typeOf = (todo: Pick<TodoRow, keyof typeof types>): string =>
  Object.entries(types).find(([column]) => todo[column as keyof typeof types] !== null)?.[1] ?? 'Commit';

const columns: Record<string, RawBuilder<unknown>> = Object.fromEntries(
  Object.entries(types).map(([column, type]) => [type, sql`t.${sql.ref(column)} is not null`]),
);

function conditionOf({
  action,
  author_id,
  project_id,
  group_id,
  state,
  type,
}: TodoFilters): RawBuilder<unknown> {
  const below = sql`(select id from namespaces where ancestor_ids @> array[${group_id ?? 0}]::bigint[])`;
  const conditions = [
    sql`t.state = ${state ?? 'pending'}`,
    ...(action === undefined ? [] : [sql`t.action = ${action}`]),
    ...(author_id === undefined ? [] : [sql`t.author_id = ${author_id}`]),
    ...(project_id === undefined ? [] : [sql`t.project_id = ${project_id}`]),
    ...(group_id === undefined
      ? []
      : [
          sql`(t.namespace_id in ${below} or t.project_id in (select id from projects where namespace_id in ${below}))`,
        ]),
    // An unknown type matches no item.
    ...(type === undefined ? [] : [columns[type] ?? sql`false`]),
  ];
  return sql.join(conditions, sql` and `);
}

/** One page of them, newest first. */
export async function selectTodos(
  db: Db,
  actor: Actor,
  filters: TodoFilters,
  page: PageRequest & { kind: 'offset' },
): Promise<Page<TodoRow>> {
  const { ctes, from } = visibleTodos(actor);
  const { rows } = await sql<TodoRow>`
    with ${ctes} select t.* ${from} and ${conditionOf(filters)}
    order by t.id desc limit ${page.perPage + 1} offset ${page.offset}`.execute(db);
  return offsetPage(page, rows, () => countTodos(db, actor, filters, page.countLimit + 1));
}

/** The number of items, counted to a limit. */
export async function countTodos(db: Db, actor: Actor, filters: TodoFilters, limit: number): Promise<number> {
  const { ctes, from } = visibleTodos(actor);
  const { rows } = await sql<{ count: number }>`
    with ${ctes} select count(*) as count from (
      select 1 ${from} and ${conditionOf(filters)} limit ${limit}) counted`.execute(db);
  return rows[0]?.count ?? 0;
}

/** The actor's own item, whatever its state; undefined where there is none that they see. */
export async function selectTodo(db: Db, actor: Actor, id: number): Promise<TodoRow | undefined> {
  const { ctes, from } = visibleTodos(actor);
  const { rows } = await sql<TodoRow>`with ${ctes} select t.* ${from} and t.id = ${id}`.execute(db);
  return rows[0];
}

/** Open issues that are assigned to the actor and that they see, counted to a limit. */
export async function countAssignedIssues(db: Db, actor: Actor, limit: number): Promise<number> {
  const mine = sql`(select a.issue_id from issue_assignees a where a.user_id = ${actor.id})`;
  const { ctes, condition } = visibleIssues(
    actor,
    sql`p.id in (select m.project_id from issues m where m.id in ${mine})`,
  );
  const { rows } = await sql<{ count: number }>`
    with ${ctes} select count(*) as count from (
      select 1 from issues i join issue_projects v on v.id = i.project_id
      where i.id in ${mine} and i.state = 'opened' and ${condition} limit ${limit}) counted`.execute(db);
  return rows[0]?.count ?? 0;
}
