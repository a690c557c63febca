/** Whether a request to approve is refused, and whether all is approved (facts: merge requests §6.1). Pure. */
import { conflict, type Failure, forbidden, unauthenticated } from '../../../platform/failure.ts';
import { mayApprove } from '../approvals/approval-state.ts';
import type { LoadedApprovals } from '../approvals/loaded.ts';
import { stateOf } from '../approvals/loaded.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

type Approver = { id: number; mayUpdate: boolean };

const isNamed = ({ rules }: Pick<LoadedApprovals, 'rules'>, { id }: Approver): boolean =>
  rules.some(({ approverIds }) => approverIds.includes(id));

/** Whether the user's approval is one that is still missing, or may be added. */
export const canApprove = (
  { state }: Pick<MergeRequestRow, 'state'>,
  loaded: LoadedApprovals,
  user: Approver,
): boolean => state === 'opened' && mayApprove(loaded.rules, loaded.of, user);

export type ApprovalRequest = {
  /** The commit that the caller has seen as the newest. */
  sha: string | undefined;
  /** Whether the caller's password came along. */
  isProved: boolean;
};

/** Undefined where it is approved. Who reads it without any right to approve it is told so with 403, all else is 401. */
export function refuseApproval(
  row: Pick<MergeRequestRow, 'state' | 'head_sha'>,
  loaded: LoadedApprovals,
  user: Approver,
  { sha, isProved }: ApprovalRequest,
): Failure | undefined {
  if (!user.mayUpdate && !isNamed(loaded, user)) return forbidden();
  if (sha !== undefined && sha !== row.head_sha)
    return conflict(`SHA does not match HEAD of source branch: ${row.head_sha ?? ''}`);
  if (!canApprove(row, loaded, user)) return unauthenticated();
  return loaded.settings.require_reauthentication_to_approve && !isProved ? unauthenticated() : undefined;
}

/** Below premium, where nothing is asked for, one approval is enough to be called approved. */
export const isCalledApproved = (loaded: LoadedApprovals, isPremium: boolean): boolean =>
  isPremium ? stateOf(loaded).approved : loaded.approvals.length > 0;

export type Called = {
  /** Users whom rules name, for their to-do lists; members of groups are not named. */
  named: readonly number[];
  /** Of those who chose to be told. */
  told: readonly number[];
};

/** Those whose approval a rule of a new merge request waits for; never its author. */
export function calledToApprove(loaded: LoadedApprovals, choosers: readonly Approver[]): Called {
  const others = (ids: readonly number[]) => [...new Set(ids)].filter((id) => id !== loaded.of.authorId);
  const waiting = stateOf(loaded).rules.filter(({ approvalsLeft }) => approvalsLeft > 0);
  const waitsForAnybody = waiting.some(({ rule }) => rule.ruleType === 'any_approver');
  const isAwaited = (user: Approver): boolean =>
    waiting.some(({ waitingFor }) => waitingFor.includes(user.id)) ||
    (waitsForAnybody && user.mayUpdate && mayApprove(loaded.rules, loaded.of, user));
  return {
    named: others(
      waiting.flatMap(({ rule, waitingFor }) => waitingFor.filter((id) => rule.userIds.includes(id))),
    ),
    told: others(choosers.filter(isAwaited).map(({ id }) => id)),
  };
}
