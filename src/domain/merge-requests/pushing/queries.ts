/** What a push with options asks the database. */
import type { Db } from '../../../platform/db/database.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

/** Open merge requests from the branch, into the projects of these ids, oldest first. */
export const selectOpenFrom = (
  db: Db,
  sourceProjectId: number,
  branch: string,
  targetIds: readonly number[],
): Promise<MergeRequestRow[]> =>
  db
    .selectFrom('merge_requests')
    .selectAll()
    .where('source_project_id', '=', sourceProjectId)
    .where('source_branch', '=', branch)
    .where('project_id', 'in', [...targetIds])
    .where('state', '=', 'opened')
    .orderBy('id')
    .limit(10)
    .execute();

export async function selectAssigneeIds(db: Db, id: number): Promise<number[]> {
  const rows = await db
    .selectFrom('merge_request_assignees')
    .select('user_id')
    .where('merge_request_id', '=', id)
    .execute();
  return rows.map(({ user_id }) => user_id);
}
