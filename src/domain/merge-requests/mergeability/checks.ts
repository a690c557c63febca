/**
 * What must be so before a merge request is merged, in one order for the record and for merging (facts-merge-requests: 1.3).
 * There is nothing here that Jira, security policies, or locks of paths would check. Pure.
 */
import type { MergeStatus } from './merge-status.ts';

export type PipelineStatus =
  | 'created'
  | 'waiting_for_resource'
  | 'preparing'
  | 'pending'
  | 'running'
  | 'success'
  | 'failed'
  | 'canceling'
  | 'canceled'
  | 'skipped'
  | 'manual'
  | 'scheduled';

/** What the checks look at. Settings are those that hold for the project, with its groups'. */
export type MergeConditions = {
  merge_status: MergeStatus;
  state: 'opened' | 'closed' | 'merged' | 'locked';
  /** Whether a reviewer asks for changes, and that was not passed over. */
  hasRequestedChanges: boolean;
  /** `syncing` while they are counted anew after a push. */
  approvals: 'satisfied' | 'missing' | 'syncing';
  /** Whether another merge request must be merged first. */
  isBlocked: boolean;
  /** Whether an external check that must pass has not. */
  hasFailedStatusChecks: boolean;
  merge_after: Date | null;
  now: Date;
  isDraft: boolean;
  hasCommits: boolean;
  hasSourceBranch: boolean;
  mustResolveDiscussions: boolean;
  hasUnresolvedDiscussions: boolean;
  /** True where the project has no pattern. */
  matchesTitlePattern: boolean;
  /** Whether others than the author have locked what it changes, in Git LFS. */
  changesLocked: boolean;
  merge_method: 'merge' | 'rebase_merge' | 'ff';
  /** Whether the source branch contains the head of the target branch. */
  containsTargetHead: boolean;
  /** Of the newest commit; null without one. */
  pipeline: PipelineStatus | null;
  mustPipelineSucceed: boolean;
  allowsSkippedPipeline: boolean;
  /** Whether it is merged by itself as soon as it can be: then a pipeline that exists must succeed. */
  isAutoMerge: boolean;
};

const active: ReadonlySet<PipelineStatus> = new Set([
  'created',
  'waiting_for_resource',
  'preparing',
  'pending',
  'running',
]);
const complete: ReadonlySet<PipelineStatus> = new Set(['success', 'failed', 'canceled', 'skipped']);

type PipelineConditions = Pick<
  MergeConditions,
  'pipeline' | 'mustPipelineSucceed' | 'allowsSkippedPipeline' | 'isAutoMerge'
>;

const isInProgress = ({ pipeline, mustPipelineSucceed }: PipelineConditions): boolean =>
  pipeline !== null && (mustPipelineSucceed ? !complete.has(pipeline) : active.has(pipeline));

function pipelineFailure(conditions: PipelineConditions): 'ci_still_running' | 'ci_must_pass' | undefined {
  const { pipeline, mustPipelineSucceed, allowsSkippedPipeline, isAutoMerge } = conditions;
  const mustSucceed = mustPipelineSucceed || (isAutoMerge && pipeline !== null);
  const succeeded = pipeline === 'success' || (pipeline === 'skipped' && allowsSkippedPipeline);
  if (!mustSucceed || succeeded) return undefined;
  return isInProgress(conditions) ? 'ci_still_running' : 'ci_must_pass';
}

const approvalFailures = {
  satisfied: undefined,
  missing: 'not_approved',
  syncing: 'approvals_syncing',
} as const;

/** The values of `detailed_merge_status` for a check that fails. */
export type FailedCheck =
  | 'requested_changes'
  | (typeof approvalFailures)['missing' | 'syncing']
  | 'merge_request_blocked'
  | 'status_checks_must_pass'
  | 'not_open'
  | 'merge_time'
  | 'draft_status'
  | 'commits_status'
  | 'discussions_not_resolved'
  | 'locked_lfs_files'
  | 'title_regex'
  | 'conflict'
  | 'need_rebase'
  | 'ci_still_running'
  | 'ci_must_pass';

type Check = (conditions: MergeConditions) => FailedCheck | undefined;

const failing =
  (value: FailedCheck, fails: (conditions: MergeConditions) => boolean): Check =>
  (conditions) =>
    fails(conditions) ? value : undefined;

/** The first that fails wins. */
const checks: readonly Check[] = [
  failing('requested_changes', ({ hasRequestedChanges }) => hasRequestedChanges),
  ({ approvals }) => approvalFailures[approvals],
  failing('merge_request_blocked', ({ isBlocked }) => isBlocked),
  failing('status_checks_must_pass', ({ hasFailedStatusChecks }) => hasFailedStatusChecks),
  failing('not_open', ({ state }) => state !== 'opened'),
  failing('merge_time', ({ merge_after, now }) => merge_after !== null && merge_after > now),
  failing('draft_status', ({ isDraft }) => isDraft),
  failing('commits_status', ({ hasCommits, hasSourceBranch }) => !hasCommits || !hasSourceBranch),
  failing(
    'discussions_not_resolved',
    ({ mustResolveDiscussions, hasUnresolvedDiscussions }) =>
      mustResolveDiscussions && hasUnresolvedDiscussions,
  ),
  failing('locked_lfs_files', ({ changesLocked }) => changesLocked),
  failing('title_regex', ({ matchesTitlePattern }) => !matchesTitlePattern),
  // One that is looked at again is a conflict until it is known to be none.
  failing('conflict', ({ merge_status }) => merge_status.startsWith('cannot_be_merged')),
  failing(
    'need_rebase',
    ({ merge_method, containsTargetHead }) => merge_method !== 'merge' && !containsTargetHead,
  ),
  pipelineFailure,
];

/** All checks that fail, in the order in which they win. */
export const failedChecks = (conditions: MergeConditions): FailedCheck[] =>
  checks.flatMap((check) => check(conditions) ?? []);

export type DetailedMergeStatus = 'unchecked' | FailedCheck | 'mergeable';

/** The `detailed_merge_status` of records. What was a conflict goes on to the checks while it is not judged again. */
export const detailedMergeStatus = (conditions: MergeConditions): DetailedMergeStatus =>
  conditions.merge_status === 'unchecked' ? 'unchecked' : (failedChecks(conditions)[0] ?? 'mergeable');

/** Whether it may be merged at this moment: every check passes, and the branches are known to merge. */
export const isMergeable = (conditions: MergeConditions): boolean =>
  conditions.merge_status === 'can_be_merged' && failedChecks(conditions).length === 0;
