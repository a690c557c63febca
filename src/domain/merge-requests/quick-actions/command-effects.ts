/** Runs the effects of quick actions on a merge request that are not changes of its properties. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type ActorContext, applyOwnEffect } from '../../conversation/index.ts';
import { resetSpentTime, spendTime } from '../../work-items/index.ts';
import { approveAlong, requestChangesAlong, unapproveAlong } from '../approving/actions.ts';
import { requestMerge, requestRebase } from '../merging/requested-merges.ts';
import { mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { timedMergeRequest } from '../writing/announcements.ts';
import { askForReviewAgain } from '../writing/reviewer-actions.ts';
import type { MergeRequestEffect } from './command-terms.ts';

async function apply(
  context: ActorContext,
  project: AuthorizedProject,
  row: MergeRequestRow,
  effect: MergeRequestEffect,
): Promise<void> {
  const { db, actor } = context;
  switch (effect.do) {
    case 'spend': {
      const { seconds, spentOn } = effect;
      const spentAt = spentOn === undefined ? undefined : new Date(`${spentOn}T00:00:00Z`);
      await spendTime(db, actor, timedMergeRequest(actor, project, row), { seconds, spentAt });
      return;
    }
    case 'reset_spent':
      await resetSpentTime(db, actor, timedMergeRequest(actor, project, row));
      return;
    case 'review_again':
      return askForReviewAgain(db, actor, project, row, effect.userIds);
    case 'merge':
      return requestMerge(db, actor, row);
    case 'rebase':
      return requestRebase(db, actor, row);
    case 'approve':
      return approveAlong(context, project, row.id);
    case 'request_changes':
      return requestChangesAlong(context, project, row.id);
    case 'unapprove':
      return unapproveAlong(context, project, row.id);
    default:
      return applyOwnEffect(context, mergeRequestNoteable(project, row), effect);
  }
}

/** In their order, in the caller's transaction. Reading the commands decided the permissions. */
export async function applyEffects(
  context: ActorContext,
  project: AuthorizedProject,
  row: MergeRequestRow,
  effects: readonly MergeRequestEffect[],
): Promise<void> {
  for (const effect of effects) await apply(context, project, row, effect);
}
