/** What becomes of a deleted user's part in merge requests. */
import type { Db } from '../../../platform/db/database.ts';

/**
 * The ghost is the author of theirs, and has merged and closed what they did. Nobody is assigned or asked to review instead,
 * and what they asked to be merged automatically waits no longer.
 */
export async function reassignMergeRequests(tx: Db, userId: number, ghostId: number): Promise<void> {
  await tx
    .updateTable('merge_requests')
    .set({ auto_merge: null, merge_user_id: null, should_remove_source_branch: null })
    .where('merge_user_id', '=', userId)
    .where('auto_merge', 'is not', null)
    .execute();
  for (const column of ['author_id', 'merge_user_id', 'closed_by_id'] as const)
    await tx
      .updateTable('merge_requests')
      .set({ [column]: ghostId })
      .where(column, '=', userId)
      .execute();
  for (const table of ['merge_request_assignees', 'merge_request_reviewers'] as const)
    await tx.deleteFrom(table).where('user_id', '=', userId).execute();
}
