/** Properties that a caller may set, by role, authorship and tier (facts: Roles and visibility). */

import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import { GUEST, OWNER, PLANNER } from '../../../../kernel/policy/roles.ts';
import type { Needs } from '../../../../kernel/services.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { forbidden } from '../../../../platform/failure.ts';
import type { ChangeRights } from '../../changes/issue-changes.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { selectAssigneeIds } from '../records/noteable-queries.ts';

const paid = ({ config }: Needs<'config'>) => ({
  premium: config.tier !== 'free',
  ultimate: config.tier === 'ultimate',
});

/** Members set everything on issues that they create; others the texts, and that it is confidential. */
export const creationRights = (services: Needs<'config'>, project: AuthorizedProject): ChangeRights => ({
  metadata: project.role >= GUEST,
  confidentiality: true,
  lock: project.may('update_issues'),
  history: project.role >= OWNER,
  ...paid(services),
});

/** Planners set everything; authors and assignees the texts, the type and the state. */
export const updateRights = (services: Needs<'config'>, project: AuthorizedProject): ChangeRights => {
  const manages = project.may('update_issues');
  return {
    metadata: manages,
    confidentiality: manages,
    lock: manages,
    history: project.role >= OWNER,
    ...paid(services),
  };
};

/** Fails with 403 unless the actor manages the project's issues, or is the author or an assignee. */
export async function requireUpdate(
  db: Db,
  project: AuthorizedProject,
  actor: Actor,
  issue: Pick<IssueRow, 'id' | 'author_id'>,
): Promise<void> {
  if (project.may('update_issues') || issue.author_id === actor.id) return;
  const assignees = await selectAssigneeIds(db, issue.id);
  if (!assignees.some(({ user_id }) => user_id === actor.id)) throw forbidden();
}

/** Fails with 403 unless the caller manages the project's issues. */
export function requireManagement(project: AuthorizedProject): void {
  if (!project.may('update_issues')) throw forbidden();
}

/** Fails with 403 unless the caller is an owner, a planner or the author. */
export function requireDeletion(
  project: AuthorizedProject,
  actor: Actor,
  issue: Pick<IssueRow, 'author_id'>,
): void {
  const may = project.may('delete_issues') || project.role === PLANNER || issue.author_id === actor.id;
  if (!may) throw forbidden();
}
