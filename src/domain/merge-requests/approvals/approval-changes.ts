/** What hooks call it that approvals were given or taken away (facts-merge-requests: 10.5). Pure. */
import { type LoadedApprovals, stateOf } from './loaded.ts';

export type ApprovalAction = 'approved' | 'approval' | 'unapproved' | 'unapproval';

/** Whose approvals were taken away; the user whose approval was given otherwise. */
export type ApprovalChange = { taken: readonly number[] } | { given: number };

/** Whether it was approved when these had approved it, too; their approvals counted for rules of any approver. */
function wasApproved(loaded: LoadedApprovals, taken: readonly number[]): boolean {
  const { of } = loaded;
  const approvedBy = [...new Set([...of.approvedBy, ...taken])];
  const anyApproverIds = new Set([...of.anyApproverIds, ...taken]);
  return stateOf({ ...loaded, of: { ...of, approvedBy, anyApproverIds } }).approved;
}

/** The approvals are those since the change: it made the merge request approved, or is one more or less. */
export function approvalAction(since: LoadedApprovals, change: ApprovalChange): ApprovalAction {
  const { approved } = stateOf(since);
  if ('given' in change) return approved ? 'approved' : 'approval';
  return !approved && wasApproved(since, change.taken) ? 'unapproved' : 'unapproval';
}

/** The name of what a push took away: all approvals, or those of the owners of what it changed. */
export const resetBySystem = ({ settings }: Pick<LoadedApprovals, 'settings'>): string =>
  settings.retain_approvals_on_push ? 'code_owner_approvals_reset_on_push' : 'approvals_reset_on_push';
