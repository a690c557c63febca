/** Statements over groups, besides their lists. */
import { type RawBuilder, sql } from 'kysely';
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import { openTo, seesAll, today, withReached } from '../../../kernel/access/group-list-queries.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { GroupView } from '../../../kernel/namespaces/group-records.ts';
import { pathTaken } from '../../../kernel/namespaces/path-actions.ts';
import {
  type GroupShare,
  type NamespaceRow,
  type ProjectRow,
  projectColumns,
  projectTables,
} from '../../../kernel/namespaces/rows.ts';
import { MINIMAL, OWNER } from '../../../kernel/policy/roles.ts';
import type { Db } from '../../../platform/db/database.ts';

/** Projects in the detailed record, at most (facts: Group detail). */
const PROJECTS_SHOWN = 100;

export type GroupRelations = { shares: GroupShare[]; wikiStorage: string | null };

export const noRelations: GroupRelations = { shares: [], wikiStorage: null };

/** The groups that a group is shared with, as far as the caller sees them (its owners see all), and the storage of its wiki. */
export async function selectGroupRelations(
  db: Db,
  caller: Caller,
  group: AuthorizedGroup,
): Promise<GroupRelations> {
  const all = seesAll(caller) || group.role >= OWNER;
  const reached = caller
    ? sql`n.id in (select id from reached_groups union select id from seen_groups)`
    : sql`false`;
  const { rows } = await sql<GroupRelations>`
    ${withReached(caller)}
    select coalesce(jsonb_agg(jsonb_build_object('group_id', n.id, 'group_name', n.name,
        'group_full_path', n.full_path, 'group_access_level', l.group_access, 'expires_at', l.expires_at) order by l.id), '[]') as shares,
      (select repository_storage from group_wikis where id = ${group.id}) as "wikiStorage"
    from group_group_links l join namespaces n on n.id = l.shared_with_group_id
    where l.shared_group_id = ${group.id} and not n.deleting
      and (${all} or n.visibility >= ${openTo(caller)} or ${reached})`.execute(db);
  return rows[0] ?? noRelations;
}

/** The newest projects in the group itself, and those shared with it, that the caller sees: at most a hundred of each. */
export async function selectGroupProjects(
  db: Db,
  caller: Caller,
  group: AuthorizedGroup,
): Promise<(ProjectRow & { is_own: boolean })[]> {
  const reached = caller
    ? sql`(p.id in (select id from reached_projects) or p.namespace_id in (select id from reached_groups where level > ${MINIMAL}))`
    : sql`false`;
  const some = (isOwn: boolean, where: RawBuilder<unknown>) => sql`(
    select ${sql.raw(projectColumns)}, ${isOwn}::boolean as is_own from ${sql.raw(projectTables)}
    where not p.deleting and ${where}
      and (${seesAll(caller) || (isOwn && group.role > MINIMAL)} or p.visibility >= ${openTo(caller)} or ${reached})
    order by p.created_at desc, p.id desc limit ${PROJECTS_SHOWN})`;
  const { rows } = await sql<ProjectRow & { is_own: boolean }>`
    ${withReached(caller)}
    ${some(true, sql`p.namespace_id = ${group.id}`)} union all
    ${some(
      false,
      sql`p.id in (select project_id from project_group_links
        where group_id = ${group.id} and (expires_at is null or expires_at > ${today()}))`,
    )}`.execute(db);
  return rows;
}

/** The greatest visibility of the namespace's contents; 0 when it is empty. */
export async function selectVisibilityInside(
  db: Db,
  id: number,
): Promise<{ groups: number; projects: number }> {
  const { rows } = await sql<{ groups: number; projects: number }>`
    select coalesce((select max(visibility) from namespaces
        where ancestor_ids @> array[${id}]::bigint[] and id <> ${id} and not deleting), 0) as groups,
      coalesce((select max(p.visibility) from projects p join namespaces n on n.id = p.namespace_id
        where n.ancestor_ids @> array[${id}]::bigint[] and not p.deleting), 0) as projects`.execute(db);
  return rows[0] ?? { groups: 0, projects: 0 };
}

type Taken = { path: boolean; name: boolean };

/**
 * The statement for whether another project or group of the same parent has the path, and another group the name. The
 * caller has called lockNamespace() on the parent; at the top the unique index answers.
 */
export const takenInside = (
  parent: NamespaceRow | undefined,
  { path, name }: { path: string; name: string },
  groupId = 0,
): RawBuilder<Taken> =>
  parent
    ? sql`select ${pathTaken(parent, path, { namespaceId: groupId })} as path,
        exists (select from namespaces where parent_id = ${parent.id} and not deleting and id <> ${groupId}
          and lower(name) = ${name.toLowerCase()}) as name`
    : sql`select false as path, false as name`;

/** The storages of groups' wikis: for administrators, and no part of the free tier. */
export async function selectWikiStorages(
  db: Db,
  view: Pick<GroupView, 'admin' | 'tier'>,
  ids: readonly number[],
): Promise<Map<number, string>> {
  if (!view.admin || view.tier === 'free' || ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('group_wikis')
    .select(['id', 'repository_storage'])
    .where('id', 'in', ids)
    .execute();
  return new Map(rows.map((row) => [row.id, row.repository_storage]));
}

/** The levels of a group with those below it, itself included. */
export async function heightOf(tx: Db, groupId: number): Promise<number> {
  const { rows } = await sql<{ height: number }>`
    select max(cardinality(ancestor_ids)) - min(cardinality(ancestor_ids)) + 1 as height
    from namespaces where ancestor_ids @> array[${groupId}]::bigint[]`.execute(tx);
  return rows[0]?.height ?? 1;
}
