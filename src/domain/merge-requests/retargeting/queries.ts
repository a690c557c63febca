/** A merge request that was merged from a branch, and those into the branch. */
import type { Db } from '../../../platform/db/database.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

/** The last that was merged from the branch in its own project, when the branch had this head. */
export const selectMergedFrom = (
  db: Db,
  projectId: number,
  branch: string,
  head: string,
): Promise<MergeRequestRow | undefined> =>
  db
    .selectFrom('merge_requests')
    .selectAll()
    .where('state', '=', 'merged')
    .where('project_id', '=', projectId)
    .where('source_project_id', '=', projectId)
    .where('source_branch', '=', branch)
    .where('head_sha', '=', head)
    .orderBy('merged_at', 'desc')
    .limit(1)
    .executeTakeFirst();

/** The oldest into the branch, up to so many. */
export const selectInto = (
  db: Db,
  projectId: number,
  branch: string,
  limit: number,
): Promise<MergeRequestRow[]> =>
  db
    .selectFrom('merge_requests')
    .selectAll()
    .where('state', '=', 'opened')
    .where('project_id', '=', projectId)
    .where('target_branch', '=', branch)
    .orderBy('id')
    .limit(limit)
    .execute();
