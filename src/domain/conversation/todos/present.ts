/** To-do items as records: their targets are loaded once for a page. */
import { found } from '../../../kernel/api/endpoint.ts';
import { presentProjectIdentity } from '../../../kernel/namespaces/project-records.ts';
import { presentNamespaceBasic } from '../../../kernel/namespaces/records.ts';
import type { GroupRow, ProjectRow } from '../../../kernel/namespaces/rows.ts';
import { presentUserBasic } from '../../../kernel/users/records.ts';
import { selectGroups, selectProjects } from './queries.ts';
import type { TodoRecord } from './schema.ts';
import { type TargetRecord, type TodoReading, type TodoRow, todoTargets } from './targets.ts';

const distinct = (ids: readonly (number | null)[]): number[] => [
  ...new Set(ids.flatMap((id) => (id === null ? [] : id))),
];

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

type Presented = { project: ProjectRow | undefined; group: GroupRow | undefined; target: Target };

/** The record of an item with these; undefined when its author was deleted meanwhile. */
export function presentTodo(
  { services, settings }: Pick<TodoReading, 'services' | 'settings'>,
  row: TodoRow,
  { project, group, target: { type, record } }: Presented,
): TodoRecord | undefined {
  if (!row.author) return undefined;
  const around = { baseUrl: services.baseUrl(), settings };
  return {
    id: row.id,
    ...(project && { project: presentProjectIdentity(project) }),
    ...(group && { group: presentNamespaceBasic(around, group, null) }),
    author: presentUserBasic(around, row.author),
    action_name: row.action,
    target_type: type,
    target: record,
    target_url: row.note_body === null ? record.web_url : `${record.web_url}#note_${row.note_id}`,
    body: row.note_body ?? record.title,
    state: row.state === 'done' ? 'done' : 'pending',
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/**
 * The records of the items, in the order of the rows; without those whose author or target was deleted
 * meanwhile.
 */
export async function presentTodos(context: TodoReading, rows: readonly TodoRow[]): Promise<TodoRecord[]> {
  if (rows.length === 0) return [];
  const { db } = context;
  const selecting = selectProjects(db, distinct(rows.map((row) => row.project_id)));
  const [projects, groups, targets] = await Promise.all([
    selecting,
    selectGroups(db, distinct(rows.map((row) => row.namespace_id))),
    loadTargets(context, rows, selecting),
  ]);
  return rows.flatMap((row) => {
    const target = targets.get(row.id);
    if (!target) return [];
    const project = projects.get(row.project_id ?? 0);
    const group = groups.get(row.namespace_id ?? 0);
    return presentTodo(context, row, { project, group, target }) ?? [];
  });
}

/** The record of one item; 404 when its author or target was deleted meanwhile. */
export async function presentOne(context: TodoReading, row: TodoRow): Promise<TodoRecord> {
  const [record] = await presentTodos(context, [row]);
  return found(record);
}
