/** Issues of projects: their lists, records and changes. */

import { activityTargets } from '../../kernel/activity/targets.ts';
import type { Capability } from '../../kernel/capability.ts';
import {
  type MentionServices,
  mentionNamed,
  noteables,
  todoTargets,
  userCounts,
} from '../conversation/index.ts';
import { hookNoteables, hookSamples, hookSources } from '../hooks/index.ts';
import { referenceDefinitions } from '../markdown/index.ts';
import { notificationFacts, notificationSubjects } from '../notifications/index.ts';
import { plannedKinds } from '../planning/index.ts';
import { issueLinkEndpoints } from './issues/changes/link-routes.ts';
import { issueMoveEndpoints } from './issues/changes/move-routes.ts';
import { issueWriteEndpoints } from './issues/changes/routes.ts';
import { issueSubscriptionEndpoints } from './issues/changes/subscription-routes.ts';
import { issueTimeEndpoints } from './issues/changes/time-routes.ts';
import { issueEventEndpoints } from './issues/event-routes.ts';
import { iterationEndpoints } from './issues/iteration-routes.ts';
import { issueListEndpoints } from './issues/lists/routes.ts';
import { issueStatisticsEndpoints } from './issues/lists/statistics.ts';
import { MENTION_NAMED, mentioningIssues, mentionListeners } from './issues/mentions/mentioning-issues.ts';
import { milestoneContentEndpoints } from './issues/milestone-routes.ts';
import { issueActivityTarget } from './issues/registrations/activity-target.ts';
import { issueHooks, issueOfNotes, issueSamples } from './issues/registrations/hook-events.ts';
import { issueMetadata } from './issues/registrations/metadata-source.ts';
import { issueConversation, issueDefinition } from './issues/registrations/noteable.ts';
import { issueFacts } from './issues/registrations/notification-facts.ts';
import { issueSubject } from './issues/registrations/notification-subject.ts';
import { plannedIssues } from './issues/registrations/planned.ts';
import { issueReferences } from './issues/registrations/references.ts';
import { assignedIssues, issueTodoEndpoint, issueTodoTarget } from './issues/registrations/todo-target.ts';
import { issueWorkKind } from './issues/registrations/work-kind.ts';
import { issueShowEndpoints } from './issues/show-routes.ts';
import { reassignIssues } from './issues/writing/actions.ts';
import { metadataSources } from './quick-actions/metadata-sources.ts';
import { workKinds } from './quick-actions/work-kinds.ts';

export const issuesCapability = (services: MentionServices): Capability => ({
  name: 'issues',
  registrations: [
    noteables.add(issueDefinition),
    referenceDefinitions.add(issueReferences),
    plannedKinds.add(plannedIssues),
    todoTargets.add(issueTodoTarget),
    userCounts.add(assignedIssues),
    activityTargets.add(issueActivityTarget),
    notificationFacts.add(...issueFacts),
    notificationSubjects.add(issueSubject),
    workKinds.add(issueWorkKind),
    metadataSources.add(issueMetadata),
    hookSources.add(...issueHooks),
    hookSamples.add(...issueSamples),
    hookNoteables.add(issueOfNotes),
  ],
  endpoints: [
    ...issueConversation.all,
    ...issueListEndpoints,
    ...issueStatisticsEndpoints,
    ...issueShowEndpoints,
    ...issueWriteEndpoints,
    ...issueLinkEndpoints,
    ...issueMoveEndpoints,
    ...issueTimeEndpoints,
    ...issueSubscriptionEndpoints,
    ...issueEventEndpoints,
    ...iterationEndpoints,
    ...milestoneContentEndpoints,
    issueTodoEndpoint,
  ],
  tasks: { [MENTION_NAMED]: mentionNamed(services, mentioningIssues) },
  listeners: mentionListeners,
  tables: [
    'issues',
    'issue_assignees',
    'issue_links',
    'timelogs',
    'resource_events',
    'project_counters',
    'group_counters',
  ],
  unique: { issues_project_iid: { property: 'iid', status: 'conflict' } },
  // A project's issues are deleted with it, by foreign key.
  reassign: reassignIssues,
});
