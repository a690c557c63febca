/** The projects on which a caller has an ability, for lists over what is in them. */
import { type RawBuilder, sql } from 'kysely';
import { type Caller, jobCredentialOf } from '../actor.ts';
import type { ProjectAbility } from '../policy/policy.ts';
import { DEVELOPER, NO_ACCESS } from '../policy/roles.ts';
import type { DeployTokenHome } from './find-queries.ts';
import { CALLER, callerCte, reachedCtes, TODAY } from './membership-queries.ts';
import { mayInProjects } from './policy-sql.ts';

/** Conditions on projects `p`: below a group. */
export const belowGroup = (id: number): RawBuilder<unknown> =>
  sql`p.namespace_id in (select id from namespaces where ancestor_ids @> array[${id}]::bigint[])`;
/** Below the group or user of this path in lower case, which is below none. */
export const belowRoot = (path: string): RawBuilder<unknown> =>
  sql`p.namespace_id in (select n.id from namespaces n join namespaces r on n.ancestor_ids @> array[r.id]
    where lower(r.full_path) = ${path} and r.parent_id is null)`;
export const rightInGroup = (id: number): RawBuilder<unknown> => sql`p.namespace_id = ${id}`;

/**
 * The ids of those that meet the condition, in brackets. For abilities that archived projects keep. A job has its user's role in its
 * own project alone: those that let it in are not looked for.
 */
export function projectsWith(
  ability: ProjectAbility,
  caller: Caller,
  among: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const everywhere = caller === undefined || caller.admin || caller.auditor;
  const job = jobCredentialOf(caller);
  const own = job
    ? sql`case when p.id = ${job.projectId} then greatest(g.level, r.level) end`
    : sql`greatest(g.level, r.level)`;
  const level = everywhere ? sql`0` : sql`coalesce(${own}, 0)`;
  const reached = everywhere
    ? sql``
    : sql`left join reached_groups g on g.id = p.namespace_id left join reached_projects r on r.id = p.id`;
  return sql`(with ${callerCte(caller)} ${sql.raw(everywhere ? '' : `, ${reachedCtes(CALLER, TODAY)}`)}
    select p.id from projects p ${reached}
    where not p.deleting and ${mayInProjects(ability, caller, level)} and ${among})`;
}

/** The same for a deploy token, which has the role of a Developer in its project, or below its group, and elsewhere none. */
export function projectsOfDeployToken(
  ability: ProjectAbility,
  { project_id, namespace_id }: DeployTokenHome,
  among: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const may = mayInProjects(ability, undefined, sql.lit(DEVELOPER));
  const open = mayInProjects(ability, undefined, sql.lit(NO_ACCESS));
  const home = project_id === null ? belowGroup(namespace_id ?? 0) : sql`p.id = ${project_id}`;
  return sql`(select p.id from projects p where not p.deleting and (${may} and ${home} or ${open}) and ${among})`;
}

/** The ids in brackets and those of projects that have opened their packages to everybody, where administrators let them. */
export const alsoPublicRegistries = (
  read: RawBuilder<unknown>,
  among: RawBuilder<unknown>,
): RawBuilder<unknown> => sql`(
  select id from ${read} own union
  select p.id from projects p
  where not p.deleting and p.settings ->> 'package_registry_access_level' = 'public' and ${among} and not exists (
    select from application_settings where values @> '{"package_registry_allow_anyone_to_pull_option": false}'))`;
