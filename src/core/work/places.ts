/** Where labels and milestones are: in a project or a group, the groups around it, and what is inside a group. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';
import type { AuthorizedGroup, AuthorizedProject } from '../access/find.ts';
import { CALLER, callerCte, reachedCtes, TODAY } from '../access/memberships.ts';
import { GUEST } from '../access/roles.ts';
import type { AuditedEntity } from '../activity/announce.ts';
import type { Caller } from '../identity/actor.ts';
import { openTo, seesAll } from '../namespaces/group-list.ts';

/** What labels and milestones belong to. */
export type Place = AuthorizedProject | AuthorizedGroup;

export const isProject = (place: Place): place is AuthorizedProject => 'fullPath' in place;

/** A project, if it is one, and the groups whose labels and milestones are there too, the outermost first. */
export type Reach = { projectId?: number; ancestorIds: readonly number[] };

/** The place and the groups around it. */
export const reachOf = (place: Place): Reach =>
  isProject(place)
    ? { projectId: place.id, ancestorIds: place.row.ancestor_ids }
    : { ancestorIds: place.row.ancestor_ids };

/** The columns that say which of the two a label or milestone belongs to. */
export const homeOf = (place: Place): { project_id: number } | { namespace_id: number } =>
  isProject(place) ? { project_id: place.id } : { namespace_id: place.id };

export const placePath = (place: Place): string => (isProject(place) ? place.fullPath : place.row.full_path);

/** The place as the audit trail names it. */
export const auditedPlace = (place: Place): AuditedEntity => ({
  type: isProject(place) ? 'Project' : 'Group',
  id: place.id,
  path: placePath(place),
});

/**
 * Lets one at a time change what has to be different across a group and its projects; others may read, and write what
 * belongs to it.
 */
export async function lockNamespace(tx: Db, id: number): Promise<void> {
  await tx.selectFrom('namespaces').select('id').where('id', '=', id).forNoKeyUpdate().execute();
}

/** The ids that the caller reaches as Guest or more; `from` is one of the CTEs of reachedCtes(). */
const reached = (caller: Caller, from: 'reached_groups' | 'reached_projects'): RawBuilder<unknown> =>
  caller === undefined
    ? sql`(select null::bigint)`
    : sql`(with ${callerCte(caller)}, ${sql.raw(reachedCtes(CALLER, TODAY))}
        select id from ${sql.raw(from)} where level >= ${sql.lit(GUEST)})`;

/** The ids of the group and of the groups below it whose planning the caller reads; decided as `read_planning` is. */
export function groupsBelow(caller: Caller, groupId: number): RawBuilder<unknown> {
  const seen = seesAll(caller)
    ? sql<SqlBool>`true`
    : sql<SqlBool>`(n.visibility >= ${sql.lit(openTo(caller))} or n.id in ${reached(caller, 'reached_groups')})`;
  return sql`(select n.id from namespaces n
    where n.ancestor_ids @> array[${groupId}]::bigint[] and n.kind = 'group' and not n.deleting and ${seen})`;
}

/** The ids of projects right in the groups, a list or statement of ids, whose planning the caller reads. */
export function projectsIn(caller: Caller, groups: RawBuilder<unknown>): RawBuilder<unknown> {
  const seen = seesAll(caller)
    ? sql<SqlBool>`true`
    : sql<SqlBool>`(p.visibility >= ${sql.lit(openTo(caller))}
        or p.namespace_id in ${reached(caller, 'reached_groups')} or p.id in ${reached(caller, 'reached_projects')})`;
  return sql`(select p.id from projects p where p.namespace_id in ${groups} and not p.deleting and ${seen})`;
}
