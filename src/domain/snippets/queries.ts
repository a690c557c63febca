/** Snippets that are ready: by id, and the lists of those that a caller sees. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { CALLER, callerCte, reachedCtes, TODAY } from '../../core/access/memberships.ts';
import { GUEST, INTERNAL, PUBLIC } from '../../core/access/roles.ts';
import type { Caller } from '../../core/identity/actor.ts';
import type { SnippetRow } from '../../core/repositories/snippet-records.ts';
import type { Db } from '../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../platform/db/page.ts';

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

/** Visible without being anybody in particular: the same for snippets and projects. */
const openTo = (caller: Caller): RawBuilder<unknown> =>
  sql.lit(caller && !caller.external ? INTERNAL : PUBLIC);

/** Those of a project that a caller with this role there sees; decided as seesInProject() does. */
export const visibleInProject = (caller: Caller, role: number): Condition =>
  role >= GUEST || caller?.admin || caller?.auditor
    ? sql<SqlBool>`true`
    : sql<SqlBool>`visibility >= ${openTo(caller)}`;

/**
 * Those that the caller sees, personal and of projects; decided as decidePersonal() does, and the policy of projects. The
 * projects that the caller is in are found once for the statement.
 */
export function visibleTo(caller: Caller): Condition {
  if (caller?.admin || caller?.auditor) return sql`true`;
  const open = openTo(caller);
  const reached = sql`p.id in (
    with ${callerCte(caller)}, ${sql.raw(reachedCtes(CALLER, TODAY))}
    select id from reached_projects where level >= ${sql.lit(GUEST)}
    union all
    select own.id from reached_groups g join projects own on own.namespace_id = g.id where g.level >= ${sql.lit(GUEST)})`;
  const feature = sql`coalesce(p.settings ->> 'snippets_access_level', 'enabled')`;
  return sql`(case when project_id is null
    then visibility >= ${open} or author_id = ${caller?.id ?? 0}
    else exists (select from projects p where p.id = project_id and not p.deleting and ${feature} <> 'disabled'
      and ((snippets.visibility >= ${open} and p.visibility >= ${open} and ${feature} = 'enabled') or ${reached})) end)`;
}
