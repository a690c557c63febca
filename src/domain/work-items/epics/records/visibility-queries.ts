/**
 * Visibility of epics: users who read the group's epics see them, confidential ones only from Planner up
 * (facts: Roles and visibility). Once for one epic, once as SQL for lists over many groups; both follow the
 * policy.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AuthorizedGroup } from '../../../../kernel/access/find.ts';
import { openTo, seesAll } from '../../../../kernel/access/group-list-queries.ts';
import { CALLER, callerCte, reachedCtes, TODAY } from '../../../../kernel/access/membership-queries.ts';
import type { Caller } from '../../../../kernel/actor.ts';
import { GUEST, PLANNER } from '../../../../kernel/policy/roles.ts';
import type { EpicRow } from './epic-rows.ts';

/** Whether the caller with this receipt sees the epic. */
export const seesEpic = (group: AuthorizedGroup, epic: Pick<EpicRow, 'confidential'>): boolean =>
  group.may('read_epics') && (!epic.confidential || group.may('read_confidential_epics'));

/** The condition over `epics` that the caller sees. The caller's groups are found once per statement. */
export function visibleEpics(caller: Caller): RawBuilder<SqlBool> {
  const live = sql`select from namespaces n where n.id = epics.namespace_id and not n.deleting`;
  if (seesAll(caller)) return sql`exists (${live})`;
  const open = sql`not epics.confidential and exists (${live} and n.visibility >= ${sql.lit(openTo(caller))})`;
  if (!caller) return sql`(${open})`;
  return sql`(${open} or ((epics.namespace_id, epics.confidential) in (
    with ${callerCte(caller)}, ${sql.raw(reachedCtes(CALLER, TODAY))}
    select id, false from reached_groups where level >= ${sql.lit(GUEST)}
    union all
    select id, true from reached_groups where level >= ${sql.lit(PLANNER)}) and exists (${live})))`;
}

/**
 * CTEs for a `with`, the last of which is `epic_groups(id, confidential)`: those of the groups, for which `groups` is a
 * condition over `namespaces n`, whose epics the caller reads, and whether confidential ones are among them.
 */
export function epicGroups(caller: Caller, groups: RawBuilder<unknown>): RawBuilder<unknown> {
  const live = sql`n.kind = 'group' and not n.deleting and ${groups}`;
  if (seesAll(caller))
    return sql`epic_groups as (select n.id, true as confidential from namespaces n where ${live})`;
  const open = sql`n.visibility >= ${sql.lit(openTo(caller))}`;
  if (!caller)
    return sql`epic_groups as (select n.id, false as confidential from namespaces n where ${live} and ${open})`;
  return sql`${callerCte(caller)}, ${sql.raw(reachedCtes(CALLER, TODAY))}, epic_groups as (
    select n.id, coalesce(r.level, 0) >= ${sql.lit(PLANNER)} as confidential
    from namespaces n left join reached_groups r on r.id = n.id
    where ${live} and (${open} or r.level >= ${sql.lit(GUEST)}))`;
}

/** The condition on an epic of a group `v` of `epic_groups`. */
export const inEpicGroup = sql<SqlBool>`epics.namespace_id = v.id and (v.confidential or not epics.confidential)`;
