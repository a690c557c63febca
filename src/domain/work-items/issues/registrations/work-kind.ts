/** Issues in quick actions: references to them, and the effects that only they have. */

import { authorizeGroup, authorizeProject } from '../../../../kernel/access/find.ts';
import { Failure, type FailureKind } from '../../../../platform/failure.ts';
import type { ActorContext } from '../../../conversation/index.ts';
import type { MoveAction } from '../../quick-actions/work-command-terms.ts';
import type { WorkKind } from '../../quick-actions/work-kinds.ts';
import { resetSpentTime, spendTime } from '../../time-tracking/time-actions.ts';
import { cloneIssue, moveIssue } from '../moving/actions.ts';
import { promoteIssue } from '../moving/promotion-actions.ts';
import { findIssue, findIssueById } from '../records/find-queries.ts';
import { issueKind } from '../records/issue-noteable.ts';
import { type LinkType, linkIssues } from '../relations/link-actions.ts';
import { timedIssue } from '../writing/timed-issue.ts';

type FoundIssue = Awaited<ReturnType<typeof findIssueById>>;

async function link(context: ActorContext, from: FoundIssue, issueId: number, type: LinkType): Promise<void> {
  const { db, services, actor } = context;
  if (from.issue.id === issueId) return;
  const to = await findIssueById(db, services.database.points, actor, issueId);
  // An existing link is the state requested; a forbidden one is passed over.
  await linkIssues(context, from, to, type).catch(unless('conflict', 'forbidden'));
}

/** Ignores failures of these kinds. */
const unless =
  (...kinds: FailureKind[]) =>
  (error: unknown): void => {
    if (!(error instanceof Failure && kinds.includes(error.kind))) throw error;
  };

async function applyMoveAction(
  context: ActorContext,
  { issue, project }: FoundIssue,
  action: MoveAction,
): Promise<unknown> {
  const { services, actor } = context;
  const { points } = services.database;
  if (action.do === 'promote') {
    const group = await authorizeGroup(points, actor, 'create_epics', project.row.namespace_id);
    return promoteIssue(context, project, issue, group);
  }
  const to = await authorizeProject(points, actor, 'read_project', action.projectId);
  return action.do === 'move'
    ? moveIssue(context, project, issue, to)
    : cloneIssue(context, project, issue, to, action.withNotes);
}

export const issueWorkKind: WorkKind = {
  kind: issueKind,
  sign: '#',
  async find({ db, services, actor }, { project }, path, iid) {
    const home =
      path === '' && project
        ? project
        : await authorizeProject(services.database.points, actor, 'read_issues', path);
    return findIssue(db, home, actor, iid);
  },
  async apply(context, { id }, effect) {
    if (id === undefined) return;
    const { db, services, actor } = context;
    const findHere = () => findIssueById(db, services.database.points, actor, id);
    switch (effect.do) {
      case 'link':
        return link(context, await findHere(), effect.issueId, effect.type);
      case 'spend': {
        const on = await findHere();
        const spentAt = effect.spentOn === undefined ? undefined : new Date(`${effect.spentOn}T00:00:00Z`);
        await spendTime(db, actor, timedIssue(actor, on.project, on.issue), {
          seconds: effect.seconds,
          spentAt,
        });
        return;
      }
      case 'reset_spent': {
        const on = await findHere();
        await resetSpentTime(db, actor, timedIssue(actor, on.project, on.issue));
        return;
      }
      default:
        // Another request may have moved the issue, or the permission, project or group may be gone by now.
        await findHere()
          .then((from) => applyMoveAction(context, from, effect))
          .catch(unless('bad_request', 'conflict', 'forbidden', 'not_found'));
    }
  },
};
