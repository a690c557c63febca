/** Statements that take approvals away, whatever the reason. */
import { type SqlBool, sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { StatementParts } from '../../../platform/db/run-as-one.ts';

/** The approvals of these users go, or all, and as reviewers they are those who approve no longer. */
export function removeApprovals(
  tx: Db,
  id: number,
  of: 'all' | readonly number[],
): StatementParts['statements'] {
  if (of.length === 0) return [];
  const isTheirs = of === 'all' ? sql<SqlBool>`true` : sql<SqlBool>`user_id = any(${[...of]}::bigint[])`;
  return [
    tx.deleteFrom('merge_request_approvals').where('merge_request_id', '=', id).where(isTheirs),
    tx
      .updateTable('merge_request_reviewers')
      .set({ state: 'unapproved' })
      .where('merge_request_id', '=', id)
      .where('state', '=', 'approved')
      .where(isTheirs),
  ];
}
