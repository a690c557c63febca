/** Work items: issues and epics, their lists, records and changes. */

export { followingChanges } from './changes/change-actions.ts';
export {
  checkTexts,
  differences,
  type IssueState,
  labelsAfter,
  type NamedUser,
  type Severity,
  type WorkChange,
  without,
} from './changes/issue-changes.ts';
export {
  milestoneReference,
  type NamedReferences,
  readersNamed,
  resolveNamed,
  withNewLabels,
} from './changes/named-references.ts';
export { type SystemNote, systemNote, systemNotes } from './changes/system-notes.ts';
export { countTasks, taskStatus } from './changes/task-list.ts';
export { epicIssueEndpoints } from './epic-issues/routes.ts';
export { childEpicEndpoints } from './epics/child-routes.ts';
export { epicEndpoints } from './epics/epic-routes.ts';
export { EpicRecord } from './epics/records/epic-records.ts';
export { epicConversation } from './epics/registrations/noteable.ts';
export { epicsCapability } from './epics-capability.ts';
export { presentCreated } from './issues/changes/one-issue.ts';
export { issuesAmong } from './issues/lists/among-queries.ts';
export { groupIssuesEndpoint, projectIssuesEndpoint } from './issues/lists/routes.ts';
export { milestoneContentsOf } from './issues/milestone-routes.ts';
export { findIssue, readIssue } from './issues/records/find-queries.ts';
export { IssueBasicRecord, IssueRecord } from './issues/records/issue-records.ts';
export { type IssueRow, issueWebUrl } from './issues/records/issue-rows.ts';
export { issueConversation } from './issues/registrations/noteable.ts';
export { issueSearch } from './issues/registrations/search-scope.ts';
export { issueEndpoint } from './issues/show-routes.ts';
export { closeIssue } from './issues/writing/actions.ts';
export { closeVia } from './issues/writing/close-via.ts';
export { insertIssue } from './issues/writing/insert-actions.ts';
export { type CreatedIssue, created, prepareIssue } from './issues/writing/issue-creation.ts';
export { type IssueFollowUp, issueFollowUps } from './issues/writing/issue-follow-ups.ts';
export { checkIssueSpam } from './issues/writing/issue-spam.ts';
export { findNamedIssues } from './issues/writing/named-issues.ts';
export { issuesCapability } from './issues-capability.ts';
export { type MetadataSource, metadataSources } from './quick-actions/metadata-sources.ts';
export { argumentsOf, namedRecords } from './quick-actions/named-records.ts';
export type { SharedKnown, TimeEffect } from './quick-actions/shared-command-terms.ts';
export { sharedRulesOf, userIds, withUsers } from './quick-actions/shared-commands.ts';
export { insertResourceEvents } from './resource-events/actions.ts';
export {
  type EventResource,
  resourceEventEndpoint,
  resourceEventsEndpoint,
} from './resource-events/event-routes.ts';
export type { ResourceEventRecord } from './resource-events/resource-event-records.ts';
export { resetSpentTime, spendTime, type Timed } from './time-tracking/time-actions.ts';
export { timeEndpoints } from './time-tracking/time-routes.ts';
export { presentTimeStats, TimeStatsRecord } from './time-tracking/time-stats.ts';
