/** The approvals that a merge request loses by a push to its source branch (facts: merge requests §3.2). Pure. */
import type { ApprovalSettings } from '../approval-settings/rules.ts';

/**
 * `owners` are those of code owners whose files the push changed. `isPatchChanged`: a rebase, or a merge of the target branch,
 * leaves the changes alike.
 */
export function approvalsLostByPush(
  settings: Pick<ApprovalSettings, 'retain_approvals_on_push' | 'selective_code_owner_removals'>,
  isPatchChanged: boolean,
): 'all' | 'owners' | 'none' {
  if (!isPatchChanged) return 'none';
  if (!settings.retain_approvals_on_push) return 'all';
  return settings.selective_code_owner_removals ? 'owners' : 'none';
}
