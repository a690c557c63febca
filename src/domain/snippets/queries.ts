/** Snippets that are ready: by id, and the lists of those that a caller sees. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Caller } from '../../kernel/actor.ts';
import { GUEST, PUBLIC } from '../../kernel/policy/roles.ts';
import type { Db } from '../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../platform/pagination/page.ts';
import { openToCaller } from './snippet-lists.ts';
import type { SnippetRow } from './snippet-records.ts';

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
