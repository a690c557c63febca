/** Statements that take approvals away, whatever the reason. */
import type { Db } from '../../../platform/db/database.ts';
import type { StatementParts } from '../../../platform/db/run-as-one.ts';

/** The approvals of these users go, and as reviewers they are those who approve no longer. */
export const removeApprovals = (
  tx: Db,
  id: number,
  userIds: readonly number[],
): StatementParts['statements'] =>
  userIds.length === 0
    ? []
    : [
        tx
          .deleteFrom('merge_request_approvals')
          .where('merge_request_id', '=', id)
          .where('user_id', 'in', [...userIds]),
        tx
          .updateTable('merge_request_reviewers')
          .set({ state: 'unapproved' })
          .where('merge_request_id', '=', id)
          .where('user_id', 'in', [...userIds])
          .where('state', '=', 'approved'),
      ];
