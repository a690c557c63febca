/** Jobs that bring merge requests up to what their branches are. */
import { now } from '../../../platform/clock.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import type { NewJob } from '../../../platform/jobs/jobs.ts';
import { isNewConflict, type MergeStatus } from '../mergeability/merge-status.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

/** What `repository_pushed` says: no user of a deploy key or token. */
export type Pushed = {
  project_id: number;
  user_id: number | null;
  updates: RefUpdate[];
  event_chain?: string;
  /** By a CI job, by its token. */
  by_job?: true;
};

export const FOLLOW_INTERRUPTED = 'merge_requests.follow_interrupted';
export const JUDGE_BRANCH = 'merge_requests.judge_branch';
export const RETARGET = 'merge_requests.retarget';
export const ADD_UNMERGEABLE_TODOS = 'merge_requests.add_unmergeable_todos';

/** Judges those into the branch, which this user pushed. Of several for a branch that wait one is done. */
export const judgingJob = (projectId: number, branch: string, userId: number | null = null): NewJob => ({
  task: JUDGE_BRANCH,
  payload: { project_id: projectId, branch, user_id: userId },
  key: `${JUDGE_BRANCH} ${projectId} ${branch}`,
});

type Judged = Pick<MergeRequestRow, 'id' | 'author_id' | 'merge_user_id' | 'auto_merge'>;

/** Tells the author, and who wants it merged by itself, that it cannot be. */
export const unmergeableJob = ({ id, author_id, merge_user_id, auto_merge }: Judged): NewJob => ({
  task: ADD_UNMERGEABLE_TODOS,
  payload: {
    merge_request_id: id,
    user_ids: [author_id, ...(auto_merge !== null && merge_user_id !== null ? [merge_user_id] : [])],
  },
});

/** The same where a judgement has found a conflict that was none before. Without commits there is nothing to merge. */
export const jobsForJudged = (
  before: string,
  row: Judged & Pick<MergeRequestRow, 'merge_status' | 'commits_count'>,
): NewJob[] =>
  row.commits_count > 0 && isNewConflict(before as MergeStatus, row.merge_status as MergeStatus)
    ? [unmergeableJob(row)]
    : [];

type Unlocked = Pick<MergeRequestRow, 'project_id' | 'source_project_id' | 'target_branch'>;

/** Lets those into deleted branches go on to where these were merged; no user is known who deleted them. */
export const retargetingJob = (projectId: number, updates: readonly RefUpdate[]): NewJob => ({
  task: RETARGET,
  payload: { project_id: projectId, user_id: null, updates: [...updates] },
});

/** What was pushed to its branches while it was locked was not followed, and it may have been passed over by who judged. */
export const jobsForUnlocked = ({ project_id, source_project_id, target_branch }: Unlocked): NewJob[] => [
  ...[...new Set([project_id, source_project_id ?? project_id])].map(followingJob),
  judgingJob(project_id, target_branch),
];

/** Follows branches that are not where open merge requests know them. */
const followingJob = (projectId: number): NewJob => ({
  task: FOLLOW_INTERRUPTED,
  payload: { kind: 'project', id: projectId, began_at: now().toISOString() },
  key: `${FOLLOW_INTERRUPTED} ${projectId}`,
});
