/** Visibility of merge requests: whoever has `read_merge_requests` in the target's project sees them (facts: Permissions). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { CALLER, callerCte, reachedCtes, TODAY } from '../../../kernel/access/membership-queries.ts';
import { mayInProjects } from '../../../kernel/access/policy-sql.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Visible } from '../../planning/index.ts';

const conditions = {
  condition: sql<SqlBool>`true`,
  // `is true` keeps the planner from turning this into a join.
  conditionAlone: sql<SqlBool>`((i.project_id in (select id from listed_projects)) is true)`,
};

/** Those that a caller sees, in all projects or where `projects`, a condition over `projects p`, holds. */
export function visibleMergeRequests(caller: Caller, projects: RawBuilder<unknown> = sql`true`): Visible {
  const everywhere = caller === undefined || caller.admin || caller.auditor;
  const level = everywhere ? sql`0` : sql`coalesce(greatest(g.level, r.level), 0)`;
  const reached = everywhere
    ? sql``
    : sql`left join reached_groups g on g.id = p.namespace_id left join reached_projects r on r.id = p.id`;
  return {
    ctes: sql`${callerCte(caller)}, ${sql.raw(caller ? `${reachedCtes(CALLER, TODAY)},` : '')} listed_projects as (
      select p.id from projects p ${reached}
      where not p.deleting and ${mayInProjects('read_merge_requests', caller, level)} and ${projects})`,
    ...conditions,
  };
}

/** The same for one project, as its receipt decided. */
export const visibleMergeRequestsOf = (project: AuthorizedProject, caller: Caller): Visible => ({
  ctes: sql`${callerCte(caller)}, listed_projects as (select ${project.id}::bigint as id)`,
  ...conditions,
});
