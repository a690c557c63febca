/** What the checks of a merge request look at: all well, and for each check a change that makes it fail. */
import type { FailedCheck, MergeConditions } from '../../src/domain/merge-requests/mergeability/checks.ts';

const now = new Date('2030-01-01T12:00:00Z');

export const mergeableConditions: MergeConditions = {
  merge_status: 'can_be_merged',
  state: 'opened',
  hasRequestedChanges: false,
  approvals: 'satisfied',
  isBlocked: false,
  hasFailedStatusChecks: false,
  merge_after: null,
  now,
  isDraft: false,
  hasCommits: true,
  hasSourceBranch: true,
  mustResolveDiscussions: false,
  hasUnresolvedDiscussions: true,
  matchesTitlePattern: true,
  changesLocked: false,
  merge_method: 'merge',
  containsTargetHead: false,
  pipeline: null,
  mustPipelineSucceed: false,
  allowsSkippedPipeline: false,
  isAutoMerge: false,
};

/** In the order in which they win. */
export const failingConditions: readonly [FailedCheck, Partial<MergeConditions>][] = [
  ['requested_changes', { hasRequestedChanges: true }],
  ['not_approved', { approvals: 'missing' }],
  ['merge_request_blocked', { isBlocked: true }],
  ['status_checks_must_pass', { hasFailedStatusChecks: true }],
  ['not_open', { state: 'closed' }],
  ['merge_time', { merge_after: new Date(now.getTime() + 1) }],
  ['draft_status', { isDraft: true }],
  ['commits_status', { hasCommits: false }],
  ['discussions_not_resolved', { mustResolveDiscussions: true }],
  ['locked_lfs_files', { changesLocked: true }],
  ['title_regex', { matchesTitlePattern: false }],
  ['conflict', { merge_status: 'cannot_be_merged' }],
  ['need_rebase', { merge_method: 'ff' }],
  ['ci_must_pass', { mustPipelineSucceed: true }],
];
