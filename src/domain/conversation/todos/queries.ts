/** A user's to-do items, those that they see, and the rows that their records show, by id. */
import { type RawBuilder, sql } from 'kysely';
import {
  type GroupRow,
  type ProjectRow,
  projectColumns,
  projectTables,
} from '../../../kernel/namespaces/rows.ts';
import type { Db } from '../../../platform/db/database.ts';
import { offsetPage, type Page, type PageRequest } from '../../../platform/pagination/page.ts';
import type { TodoFilters } from './schema.ts';
import { type TodoReading, type TodoRow, todoColumns, todoTargets } from './targets.ts';
import { visibleTodos } from './visibility.ts';

type Reading = Pick<TodoReading, 'db' | 'services' | 'actor'>;

function conditionOf({ services }: Reading, filters: TodoFilters): RawBuilder<unknown> {
  const { action, author_id, project_id, group_id, state, type } = filters;
  const below = sql`(select id from namespaces where ancestor_ids @> array[${group_id ?? 0}]::bigint[])`;
  const target = todoTargets.all(services).find((each) => each.type === type);
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
    ...(type === undefined ? [] : [target ? sql`t.${sql.ref(target.column)} is not null` : sql`false`]),
  ];
  return sql.join(conditions, sql` and `);
}

/** One page of them, newest first. */
export async function selectTodos(
  reading: Reading,
  filters: TodoFilters,
  page: PageRequest & { kind: 'offset' },
): Promise<Page<TodoRow>> {
  const { db, services, actor } = reading;
  const { ctes, from } = visibleTodos(services, actor);
  const { rows } = await sql<TodoRow>`
    with ${ctes} select ${todoColumns('t')} ${from} and ${conditionOf(reading, filters)}
    order by t.id desc limit ${page.perPage + 1} offset ${page.offset}`.execute(db);
  return offsetPage(page, rows, () => countTodos(reading, filters, page.countLimit + 1));
}

/** The number of items, counted to a limit. */
export async function countTodos(reading: Reading, filters: TodoFilters, limit: number): Promise<number> {
  const { db, services, actor } = reading;
  const { ctes, from } = visibleTodos(services, actor);
  const { rows } = await sql<{ count: number }>`
    with ${ctes} select count(*) as count from (
      select 1 ${from} and ${conditionOf(reading, filters)} limit ${limit}) counted`.execute(db);
  return rows[0]?.count ?? 0;
}

/** The actor's own item, whatever its state; undefined where there is none that they see. */
export async function selectTodo({ db, services, actor }: Reading, id: number): Promise<TodoRow | undefined> {
  const { ctes, from } = visibleTodos(services, actor);
  const { rows } =
    await sql<TodoRow>`with ${ctes} select ${todoColumns('t')} ${from} and t.id = ${id}`.execute(db);
  return rows[0];
}

const byId = <Row extends { id: number }>(rows: readonly Row[]): Map<number, Row> =>
  new Map(rows.map((row) => [row.id, row]));

export async function selectProjects(db: Db, ids: readonly number[]): Promise<Map<number, ProjectRow>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<ProjectRow>`
    select ${sql.raw(projectColumns)} from ${sql.raw(projectTables)} where p.id = any(${[...ids]}::bigint[])`.execute(
    db,
  );
  return byId(rows);
}

export async function selectGroups(db: Db, ids: readonly number[]): Promise<Map<number, GroupRow>> {
  if (ids.length === 0) return new Map();
  const groups = db
    .selectFrom('namespaces')
    .selectAll()
    .where('id', 'in', [...ids])
    .where('kind', '=', 'group')
    .$castTo<GroupRow>();
  return byId(await groups.execute());
}
