/** Jobs that bring merge requests up to what their branches are. */
import { now } from '../../../platform/clock.ts';
import type { NewJob } from '../../../platform/jobs/jobs.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

export const FOLLOW_INTERRUPTED = 'merge_requests.follow_interrupted';
export const JUDGE_BRANCH = 'merge_requests.judge_branch';

/** Judges those into the branch. Of several for a branch that wait one is done. */
export const judgingJob = (projectId: number, branch: string): NewJob => ({
  task: JUDGE_BRANCH,
  payload: { project_id: projectId, branch },
  key: `${JUDGE_BRANCH} ${projectId} ${branch}`,
});

type Unlocked = Pick<MergeRequestRow, 'project_id' | 'source_project_id' | 'target_branch'>;

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
