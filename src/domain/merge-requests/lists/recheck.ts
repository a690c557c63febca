/** Has merge requests of a page judged whose merge status is not known (facts: merge requests §1.2). */
import type { Caller } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import { addJobs } from '../../../platform/jobs/jobs.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { judgingJob } from '../writing/following-jobs.ts';
import { selectUpdatable } from './updatable-queries.ts';

type Listed = Pick<MergeRequestRow, 'project_id' | 'target_branch' | 'state' | 'merge_status'>;

const isUnknown = ({ state, merge_status }: Listed): boolean =>
  state === 'opened' && merge_status !== 'can_be_merged' && merge_status !== 'cannot_be_merged';

/** Where the caller changes merge requests. It is done later, by one job for each branch that they are merged into. */
export async function recheck(
  { database }: Needs<'database'>,
  actor: Caller,
  rows: readonly Listed[],
): Promise<void> {
  const unknown = rows.filter(isUnknown);
  if (!actor || unknown.length === 0) return;
  const updatable = await selectUpdatable(
    database.db,
    actor,
    unknown.map((row) => row.project_id),
  );
  const jobs = unknown
    .filter((row) => updatable.has(row.project_id))
    .map((row) => judgingJob(row.project_id, row.target_branch));
  const distinct = new Map(jobs.map((job) => [job.key, job]));
  if (distinct.size > 0) await addJobs(database.db, [...distinct.values()]);
}
