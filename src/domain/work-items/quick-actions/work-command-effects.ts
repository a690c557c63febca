/** Runs the effects of quick actions on issues and epics that are not changes of properties. */

import { authorizeGroup, authorizeProject } from '../../../kernel/access/find.ts';
import { Failure, type FailureKind } from '../../../platform/failure.ts';
import { type ActorContext, applyOwnEffect, leaves, type Noteable, stays } from '../../conversation/index.ts';
import { cloneIssue, moveIssue } from '../issues/moving/actions.ts';
import { promoteIssue } from '../issues/moving/promotion-actions.ts';
import { findIssueById } from '../issues/records/find-queries.ts';
import { issueKind } from '../issues/records/issue-noteable.ts';
import { type LinkType, linkIssues } from '../issues/relations/link-actions.ts';
import { resetSpentTime, spendTime } from '../issues/relations/time-actions.ts';
import type { MoveAction, WorkEffect } from './work-command-terms.ts';

/** The noteable as an issue that the actor reads, for effects that only issues have. */
const issueOf = ({ db, services, actor }: ActorContext, { kind, id }: Noteable) =>
  kind === issueKind && id !== undefined ? findIssueById(db, services.database.points, actor, id) : undefined;

async function link(
  context: ActorContext,
  noteable: Noteable,
  issueId: number,
  type: LinkType,
): Promise<void> {
  const { db, services, actor } = context;
  const from = await issueOf(context, noteable);
  if (!from || from.issue.id === issueId) return;
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
  noteable: Noteable,
  action: MoveAction,
): Promise<unknown> {
  const { services, actor } = context;
  const { points } = services.database;
  const from = await issueOf(context, noteable);
  if (!from) return undefined;
  const { issue, project } = from;
  if (action.do === 'promote') {
    const group = await authorizeGroup(points, actor, 'create_epics', project.row.namespace_id);
    return promoteIssue(context, project, issue, group);
  }
  const to = await authorizeProject(points, actor, 'read_project', action.projectId);
  return action.do === 'move'
    ? moveIssue(context, project, issue, to)
    : cloneIssue(context, project, issue, to, action.withNotes);
}

async function apply(context: ActorContext, noteable: Noteable, effect: WorkEffect): Promise<void> {
  const { db, actor } = context;
  switch (effect.do) {
    case 'link':
      return link(context, noteable, effect.issueId, effect.type);
    case 'spend': {
      const on = await issueOf(context, noteable);
      const spentAt = effect.spentOn === undefined ? undefined : new Date(`${effect.spentOn}T00:00:00Z`);
      if (on) await spendTime(db, actor, on.project, on.issue, { seconds: effect.seconds, spentAt });
      return;
    }
    case 'move':
    case 'clone':
    case 'promote':
      // Another request may have moved the issue, or the permission, project or group may be gone by now.
      await applyMoveAction(context, noteable, effect).catch(
        unless('bad_request', 'conflict', 'forbidden', 'not_found'),
      );
      return;
    case 'reset_spent': {
      const on = await issueOf(context, noteable);
      if (on) await resetSpentTime(db, actor, on.project, on.issue);
      return;
    }
    default:
      return applyOwnEffect(context, noteable, effect);
  }
}

/** Runs the effects in their order, move actions last. parseQuickActions() decided the permissions. */
export async function applyEffects(
  context: ActorContext,
  noteable: Noteable,
  effects: readonly WorkEffect[],
): Promise<void> {
  for (const effect of [...effects.filter(stays), ...effects.filter(leaves)])
    await apply(context, noteable, effect);
}
