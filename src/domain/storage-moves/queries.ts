/** Moves, and their containers. */
import { sql } from 'kysely';
import { type ProjectRow, projectColumns, projectTables } from '../../core/namespaces/rows.ts';
import type { ContainerKind } from '../../core/repositories/containers.ts';
import type { MoveRow } from '../../core/repositories/move-schedule.ts';
import type { SnippetRow } from '../../core/repositories/snippet-records.ts';
import type { Db } from '../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../platform/db/page.ts';

/** Only moves of existing containers are shown. */
const containersThere = {
  project: sql<boolean>`exists (select from projects c where c.id = container_id and not c.deleting)`,
  snippet: sql<boolean>`exists (select from snippets c where c.id = container_id)`,
  group: sql<boolean>`exists (select from namespaces c where c.id = container_id and not c.deleting)`,
} as const;

function movesOf(db: Db, kind: ContainerKind, containerId: number | undefined) {
  const all = db
    .selectFrom('storage_moves')
    .selectAll()
    .where('container', '=', kind)
    .where(containersThere[kind])
    .$narrowType<MoveRow>();
  return containerId === undefined ? all : all.where('container_id', '=', containerId);
}

/** One page, newest first; of one container when its id is given. */
export const selectMoves = (
  db: Db,
  kind: ContainerKind,
  containerId: number | undefined,
  page: PageRequest,
): Promise<Page<MoveRow>> =>
  selectPage(
    db,
    movesOf(db, kind, containerId),
    page,
    { by: 'created_at', sort: 'desc' },
    { created_at: 'created_at', id: 'id' },
  );

export const selectMove = (
  db: Db,
  kind: ContainerKind,
  containerId: number | undefined,
  id: number,
): Promise<MoveRow | undefined> => movesOf(db, kind, containerId).where('id', '=', id).executeTakeFirst();

/** The projects with these ids. */
export async function selectProjects(db: Db, ids: readonly number[]): Promise<ProjectRow[]> {
  const { rows } = await sql<ProjectRow>`
    select ${sql.raw(projectColumns)} from ${sql.raw(projectTables)}
    where p.id = any(${[...ids]}::bigint[])`.execute(db);
  return rows;
}

/** The groups with these ids, as records name them. */
export const selectGroups = (db: Db, ids: readonly number[]) =>
  db.selectFrom('namespaces').select(['id', 'name', 'full_path']).where('id', 'in', ids).execute();

/** The snippets with these ids. */
export const selectSnippets = (db: Db, ids: readonly number[]): Promise<SnippetRow[]> =>
  db.selectFrom('snippets').selectAll().where('id', 'in', ids).execute();

/** The snippet with this id, of any project or user. */
export const selectSnippet = (db: Db, id: number): Promise<SnippetRow | undefined> =>
  db.selectFrom('snippets').selectAll().where('id', '=', id).where('ready', '=', true).executeTakeFirst();
