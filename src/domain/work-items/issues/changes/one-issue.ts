/** One issue as the response to a change, and its assignees. */

import { notFound } from '../../../../platform/failure.ts';
import { type IssueReading, type IssueRecord, presentIssues } from '../records/issue-records.ts';
import type { IssueRow } from '../records/issue-rows.ts';

/** The record by itself; 404 when the issue was deleted meanwhile. */
export async function presentOne(reading: IssueReading, issue: IssueRow): Promise<IssueRecord> {
  const [record] = await presentIssues(reading, [issue], { single: true });
  if (!record) throw notFound();
  return record;
}
