/** Parameters and records of the issues of epics. */
import Type, { type Static } from 'typebox';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import { EpicRecord } from '../epics/records/epic-records.ts';
import { move, ofEpic } from '../epics/schema.ts';
import { IssueRecord } from '../issues/records/issue-records.ts';

const ofEpicIssue = {
  ...ofEpic,
  issue_id: integerId({ description: 'The id that the issue has in the epic.' }),
};
export const OneEpicIssue = Type.Object(ofEpicIssue);
export const MoveEpicIssue = Type.Object({ ...ofEpicIssue, ...move });
export const AssignIssue = Type.Object({
  ...ofEpic,
  issue_id: integerId({ description: 'The id of the issue.' }),
});

export const EpicIssueRecord = Type.Object({
  ...IssueRecord.properties,
  epic_issue_id: Type.Integer(),
  relative_position: Type.Integer(),
});
export type EpicIssueRecord = Static<typeof EpicIssueRecord>;

export const EpicIssueLinkRecord = Type.Object({
  id: Type.Integer(),
  relative_position: Type.Integer(),
  epic: EpicRecord,
  issue: IssueRecord,
});
export type EpicIssueLinkRecord = Static<typeof EpicIssueLinkRecord>;
