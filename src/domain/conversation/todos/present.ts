/** To-do items as records: their targets are loaded once for a page. */
import { sql } from 'kysely';
import { found } from '../../../kernel/api/endpoint.ts';
import { presentProjectIdentity } from '../../../kernel/namespaces/project-records.ts';
import { presentNamespaceBasic } from '../../../kernel/namespaces/records.ts';
import {
  type GroupRow,
  type ProjectRow,
  projectColumns,
  projectTables,
} from '../../../kernel/namespaces/rows.ts';
import { presentUserBasic, userBasicColumns } from '../../../kernel/users/records.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { TodoRecord } from './schema.ts';
import { type TargetRecord, type TodoReading, type TodoRow, todoTargets } from './targets.ts';

const distinct = (ids: readonly (number | null)[]): number[] => [
  ...new Set(ids.flatMap((id) => (id === null ? [] : id))),
];

const byId = <Row extends { id: number }>(rows: readonly Row[]): Map<number, Row> =>
  new Map(rows.map((row) => [row.id, row]));

async function selectProjects(db: Db, ids: readonly number[]): Promise<Map<number, ProjectRow>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<ProjectRow>`
    select ${sql.raw(projectColumns)} from ${sql.raw(projectTables)} where p.id = any(${[...ids]}::bigint[])`.execute(
    db,
  );
  return byId(rows);
}

async function selectIn<Row extends { id: number }>(
  ids: readonly number[],
  select: (ids: number[]) => Promise<Row[]>,
): Promise<Row[]> {
  return ids.length === 0 ? [] : select([...ids]);
}

type Target = { type: string; record: TargetRecord };

/** The targets by the ids of their items; without those that are gone. */
async function loadTargets(
  context: TodoReading,
  rows: readonly TodoRow[],
  projects: Promise<ReadonlyMap<number, ProjectRow>>,
): Promise<Map<number, Target>> {
  const targets = new Map<number, Target>();
  await Promise.all(
    todoTargets.all(context.services).map(async ({ type, column, load }) => {
      const todos = rows.filter((row) => row[column] !== null);
      if (todos.length === 0) return;
      const recordOf = await load(context, todos, projects);
      for (const todo of todos) {
        const record = recordOf(todo);
        if (record) targets.set(todo.id, { type, record });
      }
    }),
  );
  return targets;
}

/**
 * The records of the items, in the order of the rows; without those whose author or target was deleted
 * meanwhile.
 */
export async function presentTodos(context: TodoReading, rows: readonly TodoRow[]): Promise<TodoRecord[]> {
  if (rows.length === 0) return [];
  const { db, services, settings } = context;
  const around = { baseUrl: services.baseUrl(), settings };
  const selecting = selectProjects(db, distinct(rows.map((row) => row.project_id)));
  const [authors, projects, groups, notes, targets] = await Promise.all([
    db
      .selectFrom('users')
      .select(userBasicColumns)
      .where('id', 'in', distinct(rows.map((row) => row.author_id)))
      .execute(),
    selecting,
    selectIn(distinct(rows.map((row) => row.namespace_id)), (ids) =>
      db
        .selectFrom('namespaces')
        .selectAll()
        .where('id', 'in', ids)
        .where('kind', '=', 'group')
        .$castTo<GroupRow>()
        .execute(),
    ),
    selectIn(distinct(rows.map((row) => row.note_id)), (ids) =>
      db.selectFrom('notes').select(['id', 'body']).where('id', 'in', ids).execute(),
    ),
    loadTargets(context, rows, selecting),
  ]);
  const authorsById = byId(authors);
  const groupsById = byId(groups);
  const notesById = byId(notes);
  return rows.flatMap((row): TodoRecord[] => {
    const author = authorsById.get(row.author_id);
    const target = targets.get(row.id);
    if (!author || !target) return [];
    const { type, record } = target;
    const project = projects.get(row.project_id ?? 0);
    const group = groupsById.get(row.namespace_id ?? 0);
    const note = notesById.get(row.note_id ?? 0);
    return [
      {
        id: row.id,
        ...(project && { project: presentProjectIdentity(project) }),
        ...(group && { group: presentNamespaceBasic(around, group, null) }),
        author: presentUserBasic(around, author),
        action_name: row.action,
        target_type: type,
        target: record,
        target_url: note ? `${record.web_url}#note_${note.id}` : record.web_url,
        body: note?.body ?? record.title,
        state: row.state === 'done' ? 'done' : 'pending',
        created_at: row.created_at.toISOString(),
        updated_at: row.updated_at.toISOString(),
      },
    ];
  });
}

/** The record of one item; 404 when its author or target was deleted meanwhile. */
export async function presentOne(context: TodoReading, row: TodoRow): Promise<TodoRecord> {
  const [record] = await presentTodos(context, [row]);
  return found(record);
}
