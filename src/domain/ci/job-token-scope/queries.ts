/** Reads whose jobs use a project by their tokens, and the job of a token. */
import { type RawBuilder, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import {
  type GroupRow,
  type ProjectRow,
  projectColumns,
  projectTables,
} from '../../../kernel/namespaces/rows.ts';
import type { Db } from '../../../platform/db/database.ts';
import { offsetPage, type Page, type PageRequest } from '../../../platform/pagination/page.ts';

/** How an allowed project or group stands in the list. */
export type AllowedColumn = 'allowed_project_id' | 'allowed_namespace_id';
type Project = Pick<AuthorizedProject, 'id'>;

async function pageOf<Row>(
  db: Db,
  page: PageRequest,
  columns: RawBuilder<unknown>,
  from: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
): Promise<Page<Row>> {
  if (page.kind !== 'offset') throw new Error('this list has no keyset pages');
  const { rows } = await sql<Row>`
    select ${columns} from ${from} order by ${order} limit ${page.perPage + 1} offset ${page.offset}`.execute(
    db,
  );
  return offsetPage(page, rows, async () => {
    const counted = await sql<{ count: number }>`select count(*)::integer as count from ${from}`.execute(db);
    return counted.rows[0]?.count ?? 0;
  });
}

/** The project itself, and those that it lists, in the order in which they were added. */
export const selectAllowedProjects = (
  db: Db,
  project: Project,
  page: PageRequest,
): Promise<Page<ProjectRow>> =>
  pageOf(
    db,
    page,
    sql.raw(projectColumns),
    sql`${sql.raw(projectTables)} left join job_token_allowlist a on a.project_id = ${project.id} and a.allowed_project_id = p.id
      where not p.deleting and (p.id = ${project.id} or a.id is not null)`,
    sql`a.id nulls first`,
  );

/** The groups that it lists, in the order in which they were added. */
export const selectAllowedGroups = (
  db: Db,
  project: Project,
  page: PageRequest,
): Promise<Page<Pick<GroupRow, 'id' | 'name' | 'full_path'>>> =>
  pageOf(
    db,
    page,
    sql`n.id, n.name, n.full_path`,
    sql`job_token_allowlist a join namespaces n on n.id = a.allowed_namespace_id
      where a.project_id = ${project.id} and not n.deleting`,
    sql`a.id`,
  );

export async function countAllowed(tx: Db, project: Project): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from job_token_allowlist where project_id = ${project.id}`.execute(tx);
  return rows[0]?.count ?? 0;
}

/** The entry, locked until the transaction ends, with the full path of what it names. */
export async function lockAllowed(
  tx: Db,
  project: Project,
  column: AllowedColumn,
  id: number,
): Promise<{ id: number; created_at: Date; full_path: string } | undefined> {
  const { rows } = await sql<{ id: number; created_at: Date; full_path: string }>`
    select a.id, a.created_at, coalesce(n.full_path, g.full_path || '/' || p.path) as full_path from job_token_allowlist a
    left join namespaces n on n.id = a.allowed_namespace_id
    left join projects p on p.id = a.allowed_project_id left join namespaces g on g.id = p.namespace_id
    where a.project_id = ${project.id} and a.${sql.ref(column)} = ${id} for update of a`.execute(tx);
  return rows[0];
}

/** The job that has the token, and its pipeline. */
export async function selectJobOfToken(
  db: Db,
  tokenId: number,
): Promise<{ id: number; pipeline_id: number; project_id: number } | undefined> {
  const { rows } = await sql<{ id: number; pipeline_id: number; project_id: number }>`
    select j.id, j.pipeline_id, j.project_id from access_tokens t join ci_jobs j on j.token_digest = t.digest where t.id = ${tokenId}`.execute(
    db,
  );
  return rows[0];
}
