/** Issues of projects: their lists, records and changes. */

import { activityTargets } from '../../../kernel/activity/targets.ts';
import type { Capability } from '../../../kernel/capability.ts';
import { noteables, todoTargets, userCounts } from '../../conversation/index.ts';
import { referenceDefinitions } from '../../markdown/index.ts';
import { notificationFacts, notificationSubjects } from '../../notifications/index.ts';
import { plannedKinds } from '../../planning/index.ts';
import { issueLinkEndpoints } from './changes/link-routes.ts';
import { issueMoveEndpoints } from './changes/move-routes.ts';
import { issueWriteEndpoints } from './changes/routes.ts';
import { issueSubscriptionEndpoints } from './changes/subscription-routes.ts';
import { issueTimeEndpoints } from './changes/time-routes.ts';
import { issueEventEndpoints } from './event-routes.ts';
import { iterationEndpoints } from './iteration-routes.ts';
import { issueListEndpoints } from './lists/routes.ts';
import { issueStatisticsEndpoints } from './lists/statistics.ts';
import { milestoneContentEndpoints } from './milestone-routes.ts';
import { issueActivityTarget } from './registrations/activity-target.ts';
import { issueConversation, issueDefinition } from './registrations/noteable.ts';
import { issueFacts } from './registrations/notification-facts.ts';
import { issueSubject } from './registrations/notification-subject.ts';
import { plannedIssues } from './registrations/planned.ts';
import { issueReferences } from './registrations/references.ts';
import { assignedIssues, issueTodoEndpoint, issueTodoTarget } from './registrations/todo-target.ts';
import { issueShowEndpoints } from './show-routes.ts';
import { reassignIssues } from './writing/actions.ts';

export const issuesCapability = (): Capability => ({
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
  tables: [
    'issues',
    'issue_assignees',
    'issue_links',
    'timelogs',
    'resource_events',
    'project_counters',
    'group_counters',
  ],
  // A project's issues are deleted with it, by foreign key.
  reassign: reassignIssues,
});
