/** Work items: issues and epics, their lists, records and changes. */
export { epicsCapability } from './epics/capability.ts';
export { EpicRecord } from './epics/records/epic-records.ts';
export { issuesCapability } from './issues/capability.ts';
export { findIssue } from './issues/records/issue-find.ts';
export { IssueBasicRecord, IssueRecord, presentIssues } from './issues/records/issue-records.ts';
export { type IssueRow, issueWebUrl } from './issues/records/issue-rows.ts';
export { visibleIssues } from './issues/records/issue-visibility.ts';
export type { Severity, WorkChange } from './issues/writing/issue-changes.ts';
export { prepareIssue } from './issues/writing/issue-creation.ts';
export { type IssueFollowUp, issueFollowUps } from './issues/writing/issue-follow-ups.ts';
export { insertIssue } from './issues/writing/issue-insert.ts';
export { checkIssueSpam } from './issues/writing/issue-spam.ts';
export { closeIssue } from './issues/writing/issue-writes.ts';
export { type SystemNote, systemNote } from './issues/writing/system-notes.ts';
