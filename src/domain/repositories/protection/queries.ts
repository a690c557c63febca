/**
 * Reads protected branches and tags with their entries, and the users, groups and keys with access to a
 * project.
 */
import { type RawBuilder, sql } from 'kysely';
import {
  CALLER,
  callerCte,
  directProjectLevel,
  namespaceLevel,
  sharedProjectLevel,
  TODAY,
} from '../../../kernel/access/membership-queries.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { Allowed } from './protection-rules.ts';

const byId = { by: 'id', sort: 'asc' } as const;

/** An entry, and the name of the user, group or key in it. */
export type GrantRow = Allowed & { id: number; action: string; title: string | null };

/** The entries of a rule in the order in which they were made. */
const grantsOf = (column: 'protected_branch_id' | 'protected_tag_id', rule: RawBuilder<unknown>) =>
  sql<GrantRow[]>`(
    select coalesce(jsonb_agg(jsonb_build_object('id', a.id, 'action', a.action, 'access_level', a.access_level,
      'user_id', a.user_id, 'group_id', a.group_id, 'deploy_key_id', a.deploy_key_id,
      'title', coalesce(u.name, g.name, k.title)) order by a.id), '[]')
    from protected_ref_access a left join users u on u.id = a.user_id left join namespaces g on g.id = a.group_id
    left join deploy_keys k on k.id = a.deploy_key_id where a.${sql.id(column)} = ${rule})`;

const branches = (db: Db, projectId: number) =>
  db
    .selectFrom('protected_branches')
    .select(['id', 'name', 'allow_force_push', 'code_owner_approval_required', 'updated_at'])
    .select(grantsOf('protected_branch_id', sql`protected_branches.id`).as('grants'))
    .where('project_id', '=', projectId);
const tags = (db: Db, projectId: number) =>
  db
    .selectFrom('protected_tags')
    .select(['id', 'name', 'updated_at'])
    .select(grantsOf('protected_tag_id', sql`protected_tags.id`).as('grants'))
    .where('project_id', '=', projectId);

/** Protected branches in the order in which they were made; `search` is a part of the name. */
export function selectBranches(db: Db, projectId: number, search: string | undefined, page: PageRequest) {
  const all = branches(db, projectId);
  const found = search ? all.where(sql<boolean>`position(lower(${search}) in lower(name)) > 0`) : all;
  return selectPage(db, found, page, byId, { id: 'id' });
}

export const selectTags = (db: Db, projectId: number, page: PageRequest) =>
  selectPage(db, tags(db, projectId), page, byId, { id: 'id' });

/** Rules with these ids, and the first so many, in the order in which they were made. */
export async function selectSomeBranches(
  db: Db,
  projectId: number,
  { named, first }: { named: readonly number[]; first: number },
) {
  if (named.length + first === 0) return [];
  return branches(db, projectId)
    .where(
      sql<boolean>`(id = any(${[...named]}::bigint[])
        or id in (select b.id from protected_branches b where b.project_id = ${projectId} order by b.id limit ${first}))`,
    )
    .orderBy('id')
    .execute();
}

/** The rule with exactly this name. */
export const selectBranch = (db: Db, projectId: number, name: string) =>
  branches(db, projectId).where('name', '=', name).executeTakeFirst();
export const selectTag = (db: Db, projectId: number, name: string) =>
  tags(db, projectId).where('name', '=', name).executeTakeFirst();

/** The same, locked until the commit; its entries are read after that. */
export const lockBranch = (tx: Db, projectId: number, name: string) =>
  tx
    .selectFrom('protected_branches')
    .select(['id', 'name', 'updated_at'])
    .where('project_id', '=', projectId)
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst();

export type BranchRow = NonNullable<Awaited<ReturnType<typeof selectBranch>>>;
export type TagRow = NonNullable<Awaited<ReturnType<typeof selectTag>>>;

/** The entries of a locked branch. */
export async function selectGrants(tx: Db, branchId: number): Promise<GrantRow[]> {
  const grants = grantsOf('protected_branch_id', sql`${branchId}`).as('grants');
  return (await tx.selectNoFrom(grants).executeTakeFirstOrThrow()).grants;
}

/**
 * The users, groups and keys among these that the project lets in: members, groups around it or shared with,
 * keys that push.
 */
export async function selectReaching(
  db: Db,
  projectId: number,
  requested: { users: readonly number[]; groups: readonly number[]; keys: readonly number[] },
): Promise<Set<string>> {
  const level = (column: string) =>
    sql.raw(`greatest(${directProjectLevel(column, TODAY)},
    ${namespaceLevel(column, TODAY, 'contents')}, ${sharedProjectLevel(column, TODAY)})`);
  const { rows } = await sql<{ found: string }>`
    with ${callerCte(undefined)}, place as (
      select p.id, n.ancestor_ids from projects p join namespaces n on n.id = p.namespace_id where p.id = ${projectId})
    select 'user_id ' || u.id as found from users u, projects p join namespaces n on n.id = p.namespace_id
    where p.id = ${projectId} and u.id = any(${[...requested.users]}::bigint[]) and u.deletion is null and ${level('u.id')} > 0
    union all
    select 'group_id ' || g.id from namespaces g, place
    where g.id = any(${[...requested.groups]}::bigint[]) and g.kind = 'group' and (g.id = any(place.ancestor_ids)
      or exists (select from project_group_links l where l.project_id = place.id and l.group_id = g.id))
    union all
    select 'deploy_key_id ' || k.deploy_key_id from deploy_keys_projects k
    where k.project_id = ${projectId} and k.can_push and k.deploy_key_id = any(${[...requested.keys]}::bigint[])`.execute(
    db,
  );
  return new Set(rows.map(({ found }) => found));
}

/** The groups among these that the caller is a member of. */
export async function selectOwnGroups(
  db: Db,
  caller: Caller,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: number }>`
    with ${callerCte(caller)}
    select n.id from namespaces n
    where n.id = any(${[...ids]}::bigint[]) and ${sql.raw(namespaceLevel(CALLER, TODAY, 'group'))} > 0`.execute(
    db,
  );
  return new Set(rows.map(({ id }) => id));
}
