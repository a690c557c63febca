/** One issue as the response to a change, and its assignees. */

import type { Db } from '../../../../platform/db/database.ts';
import { notFound } from '../../../../platform/failure.ts';
import type { IssueReading, IssueRecord } from '../records/issue-records.ts';
import { presentIssues } from '../records/issue-records.ts';
import type { IssueRow } from '../records/issue-rows.ts';

/** The record by itself; 404 when the issue was deleted meanwhile. */
export async function presentOne(reading: IssueReading, issue: IssueRow): Promise<IssueRecord> {
  const [record] = await presentIssues(reading, [issue], { single: true });
  if (!record) throw notFound();
  return record;
}

export async function assigneesOf(db: Db, issueId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('issue_assignees')
    .select('user_id')
    .where('issue_id', '=', issueId)
    .execute();
  return rows.map(({ user_id }) => user_id);
}
