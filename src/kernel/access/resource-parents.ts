/** Resource parents of labels and milestones: a project or a group, its ancestors and its descendants. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';
import type { AuditedEntity } from '../activity/announce.ts';
import type { Caller } from '../actor.ts';
import { GUEST } from '../policy/roles.ts';
import type { AuthorizedGroup, AuthorizedProject } from './find.ts';
import { openTo, seesAll } from './group-list-queries.ts';
import { CALLER, callerCte, reachedCtes, TODAY } from './memberships.ts';

/** The parent of a label or milestone. */
export type ResourceParent = AuthorizedProject | AuthorizedGroup;

export const isProject = (parent: ResourceParent): parent is AuthorizedProject => 'fullPath' in parent;

/** A project, if it is one, and its ancestor groups, whose labels and milestones it has, outermost first. */
export type Reach = { projectId?: number; ancestorIds: readonly number[] };

/** The parent and its ancestor groups. */
export const reachOf = (parent: ResourceParent): Reach =>
  isProject(parent)
    ? { projectId: parent.id, ancestorIds: parent.row.ancestor_ids }
    : { ancestorIds: parent.row.ancestor_ids };

/** The column of the parent in a label or milestone. */
export const parentColumns = (parent: ResourceParent): { project_id: number } | { namespace_id: number } =>
  isProject(parent) ? { project_id: parent.id } : { namespace_id: parent.id };

export const parentPath = (parent: ResourceParent): string =>
  isProject(parent) ? parent.fullPath : parent.row.full_path;

/** The parent in the audit trail. */
export const auditedParent = (parent: ResourceParent): AuditedEntity => ({
  type: isProject(parent) ? 'Project' : 'Group',
  id: parent.id,
  path: parentPath(parent),
});

/**
 * Serializes changes of names that are unique across a group and its projects; others may still read, and
 * write rows that refer to it.
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

/** The ids of the group and its descendants whose planning the caller reads, as `read_planning` decides. */
export function groupsBelow(caller: Caller, groupId: number): RawBuilder<unknown> {
  const seen = seesAll(caller)
    ? sql<SqlBool>`true`
    : sql<SqlBool>`(n.visibility >= ${sql.lit(openTo(caller))} or n.id in ${reached(caller, 'reached_groups')})`;
  return sql`(select n.id from namespaces n
    where n.ancestor_ids @> array[${groupId}]::bigint[] and n.kind = 'group' and not n.deleting and ${seen})`;
}

/** The ids of projects directly in `groups`, a list or statement of ids, whose planning the caller reads. */
export function projectsIn(caller: Caller, groups: RawBuilder<unknown>): RawBuilder<unknown> {
  const seen = seesAll(caller)
    ? sql<SqlBool>`true`
    : sql<SqlBool>`(p.visibility >= ${sql.lit(openTo(caller))}
        or p.namespace_id in ${reached(caller, 'reached_groups')} or p.id in ${reached(caller, 'reached_projects')})`;
  return sql`(select p.id from projects p where p.namespace_id in ${groups} and not p.deleting and ${seen})`;
}
