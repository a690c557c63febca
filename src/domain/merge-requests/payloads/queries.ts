/** Reads for the payloads of merge requests. */
import type { Db } from '../../../platform/db/database.ts';

export const selectReviewerStates = (
  db: Db,
  mergeRequestId: number,
): Promise<{ user_id: number; state: string }[]> =>
  db
    .selectFrom('merge_request_reviewers')
    .select(['user_id', 'state'])
    .where('merge_request_id', '=', mergeRequestId)
    .execute();
