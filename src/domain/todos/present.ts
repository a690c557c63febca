/** To-do items as records: their targets are loaded once for a page. */
import { sql } from 'kysely';
import { listedAlertColumns, presentAlerts } from '../../core/alerts/alert-records.ts';
import type { Context } from '../../core/endpoint.ts';
import type { Actor } from '../../core/identity/actor.ts';
import { presentUserBasic, userBasicColumns } from '../../core/identity/records.ts';
import { presentProjectIdentity } from '../../core/namespaces/project-records.ts';
import { presentNamespaceBasic } from '../../core/namespaces/records.ts';
import {
  type GroupRow,
  type ProjectRow,
  projectColumns,
  projectFullPath,
  projectTables,
} from '../../core/namespaces/rows.ts';
import { projectRepository } from '../../core/repositories/containers.ts';
import { presentCommit } from '../../core/repositories/records.ts';
import { presentEpics } from '../../core/work/epic-records.ts';
import { presentIssues } from '../../core/work/issue-records.ts';
import type { Db } from '../../platform/db/database.ts';
import { peelToCommit } from '../../platform/git/refs.ts';
import { type TodoRow, typeOf } from './queries.ts';
import type { TodoRecord, TodoTarget } from './schema.ts';

export type Presenting = Pick<Context<unknown, unknown, Actor>, 'db' | 'services' | 'settings' | 'actor'>;

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

/** A target with the properties that the item shows. */
type Shown = { record: TodoTarget; url: string; title: string };

async function issuesOf(context: Presenting, ids: readonly number[]): Promise<Map<number, Shown>> {
  const rows = await selectIn(ids, (wanted) =>
    context.db.selectFrom('issues').selectAll().where('id', 'in', wanted).execute(),
  );
  const records = await presentIssues(context, rows, { across: true });
  return new Map(records.map((record) => [record.id, { record, url: record.web_url, title: record.title }]));
}

async function epicsOf(context: Presenting, ids: readonly number[]): Promise<Map<number, Shown>> {
  const rows = await selectIn(ids, (wanted) =>
    context.db.selectFrom('epics').selectAll().where('id', 'in', wanted).execute(),
  );
  const records = await presentEpics(context, rows);
  return new Map(records.map((record) => [record.id, { record, url: record.web_url, title: record.title }]));
}

async function alertsOf(
  { db, services, settings }: Presenting,
  ids: readonly number[],
  projects: Map<number, ProjectRow>,
): Promise<Map<number, Shown>> {
  const rows = await selectIn(ids, (wanted) =>
    db.selectFrom('alerts').select(listedAlertColumns).where('alerts.id', 'in', wanted).execute(),
  );
  const around = { baseUrl: services.baseUrl(), settings };
  const paths = new Map([...projects].map(([id, project]) => [id, projectFullPath(project)]));
  const records = await presentAlerts({ db, around }, rows, paths);
  return new Map(records.map((record) => [record.id, { record, url: record.web_url, title: record.title }]));
}

const commitKey = ({ project_id, commit_sha }: Pick<TodoRow, 'project_id' | 'commit_sha'>): string =>
  `${project_id} ${commit_sha}`;

/** By project and id; without those that are no longer in the repository. */
async function commitsOf(
  { services }: Presenting,
  rows: readonly TodoRow[],
  projects: Map<number, ProjectRow>,
): Promise<Map<string, Shown>> {
  const shown = new Map<string, Shown>();
  const wanted = Map.groupBy(
    rows.filter(({ commit_sha }) => commit_sha !== null),
    ({ project_id }) => project_id ?? 0,
  );
  for (const [id, todos] of wanted) {
    const project = projects.get(id);
    if (!project) continue;
    const url = `${services.baseUrl()}/${projectFullPath(project)}`;
    await services.repositories.read(projectRepository(id), project.repository_storage, async (git) => {
      for (const todo of todos) {
        const commit = await peelToCommit(git, todo.commit_sha ?? '');
        if (!commit) continue;
        const record = presentCommit(url, commit);
        shown.set(commitKey(todo), { record, url: record.web_url, title: record.title });
      }
    });
  }
  return shown;
}

/**
 * The records of the items, in the order of the rows; without those whose author or target was deleted
 * meanwhile.
 */
export async function presentTodos(context: Presenting, rows: readonly TodoRow[]): Promise<TodoRecord[]> {
  if (rows.length === 0) return [];
  const { db, services, settings } = context;
  const around = { baseUrl: services.baseUrl(), settings };
  const [authors, projects, groups, notes, issues, epics] = await Promise.all([
    db
      .selectFrom('users')
      .select(userBasicColumns)
      .where('id', 'in', distinct(rows.map((row) => row.author_id)))
      .execute(),
    selectProjects(db, distinct(rows.map((row) => row.project_id))),
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
    issuesOf(context, distinct(rows.map((row) => row.issue_id))),
    epicsOf(context, distinct(rows.map((row) => row.epic_id))),
  ]);
  const commits = await commitsOf(context, rows, projects);
  const alerts = await alertsOf(context, distinct(rows.map((row) => row.alert_id)), projects);
  const authorsById = byId(authors);
  const groupsById = byId(groups);
  const notesById = byId(notes);
  return rows.flatMap((row): TodoRecord[] => {
    const author = authorsById.get(row.author_id);
    const target =
      issues.get(row.issue_id ?? 0) ??
      epics.get(row.epic_id ?? 0) ??
      alerts.get(row.alert_id ?? 0) ??
      commits.get(commitKey(row));
    if (!author || !target) return [];
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
        target_type: typeOf(row),
        target: target.record,
        target_url: note ? `${target.url}#note_${note.id}` : target.url,
        body: note?.body ?? target.title,
        state: row.state === 'done' ? 'done' : 'pending',
        created_at: row.created_at.toISOString(),
        updated_at: row.updated_at.toISOString(),
      },
    ];
  });
}
