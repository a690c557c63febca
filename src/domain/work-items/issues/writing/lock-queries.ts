import type { Db } from '../../../../platform/db/database.ts';
import { notFound } from '../../../../platform/failure.ts';
import type { IssueRow } from '../records/issue-rows.ts';

/** The row, locked until the transaction ends; 404 when it is gone. */
export async function lockIssue(tx: Db, id: number): Promise<IssueRow> {
  const row = await tx.selectFrom('issues').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
  if (!row) throw notFound();
  return row;
}
