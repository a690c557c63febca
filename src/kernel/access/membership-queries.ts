/** SQL of roles: memberships, direct and inherited, and shares. `u` is the caller's id, `today` the date. */

import { type RawBuilder, sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import type { Caller } from '../actor.ts';
import { MINIMAL } from '../policy/roles.ts';

/**
 * The caller and the date as a CTE for Kysely: CALLER and TODAY are then the user and the date of the
 * functions below. The text is so the same for all callers, and prepared once per connection.
 */
export const callerCte = (caller: Caller): RawBuilder<unknown> => sql`caller as materialized (
  select ${caller?.id ?? 0}::bigint as id, ${now().toISOString().slice(0, 10)}::date as today)`;
export const CALLER = '(select id from caller)';
export const TODAY = '(select today from caller)';

/** Highest level on namespaces whose ids are in `ids` (an array expression): direct, inherited, and by group shares. */
const levelsOnNamespaces = (ids: string, user: string, today: string, minimal: boolean): string => `
  select m.access_level as level from members m
  where m.user_id = ${user} and m.namespace_id = any(${ids}) and (m.expires_at is null or m.expires_at > ${today})
    and (m.access_level > ${MINIMAL}${minimal ? ' or m.namespace_id = n.id' : ''})
  union all
  select least(l.group_access, m.access_level) from group_group_links l
  join namespaces g on g.id = l.shared_with_group_id
  join members m on m.user_id = ${user} and m.namespace_id = any(g.ancestor_ids)
  where l.shared_group_id = any(${ids}) and (l.expires_at is null or l.expires_at > ${today})
    and (m.expires_at is null or m.expires_at > ${today}) and m.access_level > ${MINIMAL}`;

/**
 * The caller's level on a namespace `n` from memberships and shares, or 0; the owner of a personal namespace
 * is Owner. Minimal Access counts only on the group that it was given on, and only when `of` is the group,
 * not its contents.
 */
export const namespaceLevel = (user: string, today: string, of: 'group' | 'contents'): string => `
  case when n.owner_id = ${user} then 50 else
    coalesce((select max(level) from (${levelsOnNamespaces('n.ancestor_ids', user, today, of === 'group')}) x), 0) end`;

/** The caller's direct level on a project `p`, or 0. */
export const directProjectLevel = (user: string, today: string): string => `
  coalesce((select m.access_level from members m where m.user_id = ${user} and m.project_id = p.id
    and (m.expires_at is null or m.expires_at > ${today})), 0)`;

/** The caller's level on a project `p` from groups that it is shared with, or 0. */
export const sharedProjectLevel = (user: string, today: string): string => `
  coalesce((select max(least(l.group_access, m.access_level)) from project_group_links l
    join namespaces g on g.id = l.group_id
    join members m on m.user_id = ${user} and m.namespace_id = any(g.ancestor_ids)
    where l.project_id = p.id and (l.expires_at is null or l.expires_at > ${today})
      and (m.expires_at is null or m.expires_at > ${today}) and m.access_level > ${MINIMAL}), 0)`;

/** The caller's level on a project `p` of the namespace `n`, however it is reached, or 0. */
export const projectLevel = (user: string, today: string): string => `
  greatest(${directProjectLevel(user, today)}, ${namespaceLevel(user, today, 'contents')}, ${sharedProjectLevel(user, today)})`;

/**
 * What custom roles add for the caller on a namespace `n` and, where `ofProject` says so, on a project `p` in it: names of abilities,
 * null without any. Shares bring none.
 */
export const customAbilitiesOn = (user: string, today: string, ofProject: boolean): string => `
  (select array_agg(distinct a.name) from members m join member_roles r on r.id = m.member_role_id, unnest(r.abilities) a(name)
    where m.user_id = ${user} and m.member_role_id is not null and (m.expires_at is null or m.expires_at > ${today})
      and (m.namespace_id = any(n.ancestor_ids)${ofProject ? ' or m.project_id = p.id' : ''}))`;

/** Whether a custom role of the caller has one of these abilities on a project `p`. */
export const hasCustomAbility = (
  caller: { id: number },
  names: readonly string[],
): RawBuilder<boolean> => sql`exists (
  select from members cm join member_roles cr on cr.id = cm.member_role_id, namespaces cn
  where cm.user_id = ${caller.id} and cn.id = p.namespace_id and (cm.project_id = p.id or cm.namespace_id = any(cn.ancestor_ids))
    and (cm.expires_at is null or cm.expires_at > ${now().toISOString().slice(0, 10)}::date)
    and cr.abilities && ${[...names]}::text[])`;

/**
 * CTEs of the caller's reach, for lists: `reached_groups(id, level)`, every namespace with the caller's
 * level, subgroups and the personal namespace included (its contents need more than Minimal Access), and
 * `reached_projects(id, level)`, the projects reached otherwise. Their cost depends on the caller's
 * memberships only, not on the number of projects.
 */
export const reachedCtes = (user: string, today: string): string => `
  member_groups as materialized (
    select m.namespace_id as id, m.access_level as level from members m
    where m.user_id = ${user} and m.namespace_id is not null and (m.expires_at is null or m.expires_at > ${today})),
  own_groups as materialized (
    select n.id, max(r.level) as level from member_groups r
    join namespaces n on n.ancestor_ids @> array[r.id] and (r.level > ${MINIMAL} or n.id = r.id) group by n.id),
  shared_groups as materialized (
    select n.id, max(least(l.group_access, r.level)) as level from own_groups r
    join group_group_links l on l.shared_with_group_id = r.id
    join namespaces n on n.ancestor_ids @> array[l.shared_group_id]
    where r.level > ${MINIMAL} and (l.expires_at is null or l.expires_at > ${today}) group by n.id),
  reached_groups as materialized (
    select id, max(level)::integer as level from (
      select id, level from own_groups union all select id, level from shared_groups
      union all select n.id, 50 from namespaces n where n.owner_id = ${user}) x group by id),
  reached_projects as materialized (
    select id, max(level)::integer as level from (
      select m.project_id as id, m.access_level as level from members m
      where m.user_id = ${user} and m.project_id is not null and (m.expires_at is null or m.expires_at > ${today})
      union all
      select l.project_id, least(l.group_access, r.level) from own_groups r
      join project_group_links l on l.group_id = r.id
      where r.level > ${MINIMAL} and (l.expires_at is null or l.expires_at > ${today})) x group by id)`;

/** A project with its ancestor groups, or, without one, a group with its ancestors and itself. */
export type MembersOf = { projectId: number | undefined; ancestorIds: readonly number[] };

/**
 * Ids of members, some more than once: direct ones, those of ancestor groups, the owner of the personal
 * namespace, and those of groups that share one of these. Minimal Access does not count.
 */
export function memberIds({ projectId, ancestorIds }: MembersOf): RawBuilder<unknown> {
  const today = sql`${now().toISOString().slice(0, 10)}::date`;
  const current = (alias: string) =>
    sql`(${sql.ref(`${alias}.expires_at`)} is null or ${sql.ref(`${alias}.expires_at`)} > ${today})`;
  const around = sql`any(${[...ancestorIds]}::bigint[])`;
  const ours = projectId === undefined ? sql`false` : sql`m.project_id = ${projectId}`;
  const invited = sql`join members m on m.namespace_id = any(g.ancestor_ids) and m.access_level > ${MINIMAL} and ${current('m')}`;
  return sql`
    select m.user_id from members m where (${ours} or m.namespace_id = ${around})
      and m.access_level > ${MINIMAL} and ${current('m')}
    union all select n.owner_id from namespaces n where n.id = ${around} and n.owner_id is not null
    union all select m.user_id from project_group_links l join namespaces g on g.id = l.group_id ${invited}
      where l.project_id = ${projectId ?? null} and ${current('l')}
    union all select m.user_id from group_group_links l join namespaces g on g.id = l.shared_with_group_id ${invited}
      where l.shared_group_id = ${around} and ${current('l')}`;
}
