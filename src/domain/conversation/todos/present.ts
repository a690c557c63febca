/** To-do items as records: their targets are loaded once for a page. */
import { found } from '../../../kernel/api/endpoint.ts';
import { presentProjectIdentity } from '../../../kernel/namespaces/project-records.ts';
import { presentNamespaceBasic } from '../../../kernel/namespaces/records.ts';
import type { ProjectRow } from '../../../kernel/namespaces/rows.ts';
import { presentUserBasic } from '../../../kernel/users/records.ts';
import { selectAuthors, selectGroups, selectNotes, selectProjects } from './queries.ts';
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
    selectAuthors(db, distinct(rows.map((row) => row.author_id))),
    selecting,
    selectGroups(db, distinct(rows.map((row) => row.namespace_id))),
    selectNotes(db, distinct(rows.map((row) => row.note_id))),
    loadTargets(context, rows, selecting),
  ]);
  return rows.flatMap((row): TodoRecord[] => {
    const author = authors.get(row.author_id);
    const target = targets.get(row.id);
    if (!author || !target) return [];
    const { type, record } = target;
    const project = projects.get(row.project_id ?? 0);
    const group = groups.get(row.namespace_id ?? 0);
    const note = notes.get(row.note_id ?? 0);
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
