/** Snippets that are ready: by id, and the lists of those that a caller sees. */

import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import type { Caller } from '../../kernel/actor.ts';
import { selectProjectPaths } from '../../kernel/namespaces/path-queries.ts';
import { GUEST, PUBLIC } from '../../kernel/policy/roles.ts';
import { selectPeople } from '../../kernel/users/queries.ts';
import type { UserBasicRow } from '../../kernel/users/records.ts';
import type { Db } from '../../platform/db/database.ts';
import type { Sql } from '../../platform/db/driver/sql.ts';
import type { SnippetsTable } from '../../platform/db/rows.ts';
import { byId, idArray, readTagged, taggedRows } from '../../platform/db/tagged-rows.ts';
import { type Page, type PageRequest, selectPage } from '../../platform/pagination/page.ts';
import { openToCaller } from './visibility-queries.ts';

export type Condition = RawBuilder<SqlBool>;

export type SnippetFilters = { created_after?: string; created_before?: string; repository_storage?: string };

export const personalOnly = sql<SqlBool>`project_id is null`;
export const publicOnly = sql<SqlBool>`visibility = ${sql.lit(PUBLIC)}`;
export const inProject = (projectId: number): Condition => sql`project_id = ${projectId}`;
export const authoredBy = (userId: number): Condition => sql`author_id = ${userId}`;

/** One page of those that meet all conditions, newest first. */
export function selectSnippets(
  db: Db,
  conditions: readonly Condition[],
  { created_after, created_before, repository_storage }: SnippetFilters,
  page: PageRequest,
): Promise<Page<SnippetRow>> {
  let query = db.selectFrom('snippets').selectAll().where('ready', '=', true);
  for (const condition of conditions) query = query.where(condition);
  if (created_after !== undefined) query = query.where('created_at', '>=', new Date(created_after));
  if (created_before !== undefined) query = query.where('created_at', '<=', new Date(created_before));
  if (repository_storage !== undefined) query = query.where('repository_storage', '=', repository_storage);
  return selectPage(db, query, page, { by: 'id', sort: 'desc' }, { id: 'id' });
}

/** The snippet of the project, or the personal one; undefined when there is none. */
export const selectSnippet = (
  db: Db,
  id: number,
  projectId: number | null,
): Promise<SnippetRow | undefined> =>
  db
    .selectFrom('snippets')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', 'is not distinct from', projectId)
    .where('ready', '=', true)
    .executeTakeFirst();

/** Snippets of a project that a caller with this role there sees; the same as in seesInProject(). */
export const visibleInProject = (caller: Caller, role: number): Condition =>
  role >= GUEST || caller?.admin || caller?.auditor
    ? sql<SqlBool>`true`
    : sql<SqlBool>`visibility >= ${openToCaller(caller)}`;

const projectsOf = (rows: readonly SnippetRow[]): RawBuilder<unknown> =>
  idArray(rows.map(({ project_id }) => project_id));

type ProjectPath = { id: number; full_path: string };
const pathsById = (rows: readonly ProjectPath[]): Map<number, string> =>
  new Map(rows.map(({ id, full_path }) => [id, full_path]));

/** The full paths of the snippets' projects, by id, in one statement or none. */
export async function projectPathsOf(db: Db, rows: readonly SnippetRow[]): Promise<Map<number, string>> {
  if (rows.every(({ project_id }) => project_id === null)) return new Map();
  const found = await sql<ProjectPath>`${selectProjectPaths(projectsOf(rows))}`.execute(db);
  return pathsById(found.rows);
}

/** The authors and the full paths of the projects of the snippets (at least one), by id, in one statement. */
export async function snippetRelations(
  db: Db,
  rows: readonly SnippetRow[],
): Promise<{ authors: Map<number, UserBasicRow>; paths: Map<number, string> }> {
  const of = await readTagged<{ authors: UserBasicRow; paths: ProjectPath }>(db, [
    taggedRows('authors', selectPeople(idArray(rows.map(({ author_id }) => author_id)))),
    taggedRows('paths', selectProjectPaths(projectsOf(rows))),
  ]);
  return { authors: byId(of('authors')), paths: pathsById(of('paths')) };
}

/** The snippet of a project, ready or not. */
export const selectInProject = (db: Db, projectId: number, id: number) =>
  db.selectFrom('snippets').selectAll().where('id', '=', id).where('project_id', '=', projectId);

export const selectOfEvent = (projectId: number, id: number): RawBuilder<SnippetRow> =>
  sql`select * from snippets where id = ${id} and project_id = ${projectId}`;

export const selectReadySnippet = (db: Db, id: number) =>
  db.selectFrom('snippets').select('id').where('id', '=', id).where('ready', '=', true).executeTakeFirst();

export const selectSnippetRows = (db: Db, ids: readonly number[]): Promise<SnippetRow[]> =>
  db.selectFrom('snippets').selectAll().where('id', 'in', ids).execute();

type Referenced = { id: number; project_id: number; title: string; visibility: number };

/** The snippets that texts name, each by its project and id. */
export async function selectReferenced(
  db: Db,
  projectIds: readonly number[],
  ids: readonly number[],
): Promise<Referenced[]> {
  const { rows } = await sql<Referenced>`
    select id, project_id, title, visibility from snippets
    where ready and (project_id, id) in (
      select * from unnest(${projectIds}::bigint[], ${ids}::bigint[]))`.execute(db);
  return rows;
}

/** The users who wrote notes on the snippet. */
export const snippetParticipants = (id: number): RawBuilder<unknown> =>
  sql`select author_id as user_id from notes where snippet_id = ${id} and system_action is null`;

/** The title of a snippet, below an activity event `e`. */
export const shownSnippet = (
  id: RawBuilder<unknown>,
  and: RawBuilder<unknown> = sql``,
): RawBuilder<unknown> => sql`
  select null as iid, s.title from snippets s where s.id = ${id} and s.project_id = e.project_id ${and}`;

/** The condition that the snippet of a move between storages is there, over `container_id`. */
export const isMovedSnippetThere = sql<boolean>`exists (select from snippets c where c.id = container_id)`;

export type SnippetRow = Selectable<SnippetsTable>;

const personalById = 'select * from snippets where id = $1 and project_id is null and ready';

/** A snippet of no project. */
export async function findPersonal(points: Sql, id: number): Promise<SnippetRow | undefined> {
  const [row] = await points.unsafe<SnippetRow[]>(personalById, [id], { prepare: true });
  return row;
}

/** The snippet of the project with this full path, or, without a path, of none. */
export async function findAtPath(
  points: Sql,
  id: number,
  projectPath: string | undefined,
): Promise<SnippetRow | undefined> {
  const [row] = await points<SnippetRow[]>`
    select s.* from snippets s left join projects p on p.id = s.project_id left join namespaces n on n.id = p.namespace_id
    where s.id = ${id} and s.ready
      and lower(n.full_path || '/' || p.path) collate "C" is not distinct from ${projectPath?.toLowerCase() ?? null}`;
  return row;
}
