/** One issue as the response to a change, and its assignees. */

import { notFound } from '../../../../platform/failure.ts';
import {
  type IssueReading,
  type IssueRecord,
  presentIssue,
  presentIssues,
} from '../records/issue-records.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import type { CreatedIssue } from '../writing/issue-creation.ts';

/** The record by itself; 404 when the issue was deleted meanwhile. */
export async function presentOne(reading: IssueReading, issue: IssueRow): Promise<IssueRecord> {
  const [record] = await presentIssues(reading, [issue], { single: true });
  if (!record) throw notFound();
  return record;
}

/** The same of a new one. */
export const presentCreated = async (
  reading: IssueReading,
  { issue, relations }: CreatedIssue,
): Promise<IssueRecord> =>
  (relations && presentIssue(reading, relations, issue, {})) ?? presentOne(reading, issue);
