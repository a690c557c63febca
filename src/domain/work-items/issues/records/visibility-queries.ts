/**
 * Visibility of issues: users who read the project's issues see them, confidential ones only from Planner up,
 * or as author or assignee (facts: Roles and visibility). Once for one issue, once as SQL for lists over many
 * projects.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import { CALLER, callerCte, reachedCtes, TODAY } from '../../../../kernel/access/membership-queries.ts';
import type { Caller } from '../../../../kernel/actor.ts';
import { GUEST, INTERNAL, PLANNER, PUBLIC } from '../../../../kernel/policy/roles.ts';
import type { Visible } from '../../../planning/index.ts';
import type { IssueRow } from './issue-rows.ts';

/** Whether a caller who may read the issues of the project sees this one. */
export const seesIssue = (
  project: Pick<AuthorizedProject, 'may'>,
  caller: Caller,
  issue: Pick<IssueRow, 'confidential' | 'author_id'>,
  assigneeIds: readonly number[],
): boolean =>
  !issue.confidential ||
  project.may('read_confidential_issues') ||
  (caller !== undefined && (issue.author_id === caller.id || assigneeIds.includes(caller.id)));

/**
 * What a caller sees in a list over several projects. Of `listed_projects(id, confidential)`, the second tells whether
 * the caller reads confidential issues there.
 */
export type VisibleIssues = Visible;

const own = sql<SqlBool>`(i.author_id = ${sql.raw(CALLER)}
  or exists (select from issue_assignees seen where seen.issue_id = i.id and seen.user_id = ${sql.raw(CALLER)}))`;

/**
 * The condition on issues `i` of projects whose issues the caller reads, where `confidential` tells whether confidential
 * ones are among them; below callerCte().
 */
export const isRevealed = (confidential: RawBuilder<unknown>): RawBuilder<SqlBool> =>
  sql`(${confidential} or not i.confidential or ${own})`;

const conditions = {
  condition: isRevealed(sql`v.confidential`),
  // `is true` keeps the planner from turning these into joins.
  conditionAlone: sql<SqlBool>`((i.project_id in (select id from listed_projects)) is true and (not i.confidential
    or (i.project_id in (select id from listed_projects where confidential)) is true or ${own}))`,
};

const FEATURE = `coalesce(p.settings ->> 'issues_access_level', 'enabled')`;

/** As the abilities read_issues and read_confidential_issues decide. */
function issueProjects(caller: Caller): { tables: string; confidential: string; where: string } {
  if (!caller) {
    const where = `p.visibility = ${PUBLIC} and ${FEATURE} = 'enabled'`;
    return { tables: 'projects p', confidential: 'false', where };
  }
  if (caller.admin || caller.auditor)
    return { tables: 'projects p', confidential: 'true', where: `${FEATURE} <> 'disabled'` };
  const level = 'coalesce(greatest(g.level, r.level), 0)';
  return {
    tables: `projects p left join reached_groups g on g.id = p.namespace_id left join reached_projects r on r.id = p.id`,
    confidential: `${level} >= ${PLANNER}`,
    where: `((p.visibility >= ${caller.external ? PUBLIC : INTERNAL} and ${FEATURE} = 'enabled')
      or (${level} >= ${GUEST} and ${FEATURE} <> 'disabled'))`,
  };
}

/**
 * The issues that a caller sees, in all projects or where `projects`, a condition over `projects p`, holds.
 */
export function visibleIssues(caller: Caller, projects: RawBuilder<unknown> = sql`true`): VisibleIssues {
  const { tables, confidential, where } = issueProjects(caller);
  const reached = caller === undefined ? '' : `${reachedCtes(CALLER, TODAY)},`;
  return {
    ctes: sql`${callerCte(caller)}, ${sql.raw(reached)} listed_projects as (
      select p.id, ${sql.raw(confidential)} as confidential from ${sql.raw(tables)}
      where not p.deleting and ${sql.raw(where)} and ${projects})`,
    ...conditions,
  };
}

/** The same for one project, as its receipt decided. */
export const visibleIssuesOf = (project: AuthorizedProject, caller: Caller): VisibleIssues => ({
  ctes: sql`${callerCte(caller)}, listed_projects as (
    select ${project.id}::bigint as id, ${project.may('read_confidential_issues')}::boolean as confidential)`,
  ...conditions,
});
