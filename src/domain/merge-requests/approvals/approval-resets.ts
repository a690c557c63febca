/** The approvals that a merge request loses when its changes are others (facts: merge requests §3.2). Pure. */
import type { ApprovalSettings } from '../approval-settings/rules.ts';

/** A push to the source branch. */
export type SourcePush = {
  /** Whether the changes themselves are others: a rebase, or a merge of the target branch, leaves them alike. */
  isPatchChanged: boolean;
  /** Approvers of the code owner rules whose files the push changed. */
  ownersOfChanged: ReadonlySet<number>;
};

/** The users among those who approved whose approval goes. */
export function approvalsLostByPush(
  approvedBy: readonly number[],
  settings: Pick<ApprovalSettings, 'retain_approvals_on_push' | 'selective_code_owner_removals'>,
  { isPatchChanged, ownersOfChanged }: SourcePush,
): number[] {
  if (!isPatchChanged) return [];
  if (!settings.retain_approvals_on_push) return [...approvedBy];
  return settings.selective_code_owner_removals ? approvedBy.filter((id) => ownersOfChanged.has(id)) : [];
}
