/** Issues of projects: their lists, records and changes. */
import { activityTargets } from '../../core/activity/targets.ts';
import type { Capability } from '../../core/capability.ts';
import { referenceDefinitions } from '../../core/markdown/reference-definitions.ts';
import { notificationFacts } from '../../core/notifications/events.ts';
import { notificationSubjects } from '../../core/notifications/subjects.ts';
import { noteables } from '../../core/work/noteable-registry.ts';
import { plannedKinds } from '../../core/work/planned.ts';
import { conversationEndpoints } from '../conversation/index.ts';
import { todoTargets, userCounts } from '../todos/index.ts';
import { issueActivityTarget } from './activity-target.ts';
import { issueEventEndpoints } from './event-routes.ts';
import { iterationEndpoints } from './iteration-routes.ts';
import { issueLinkEndpoints } from './link-routes.ts';
import { issueListEndpoints } from './list-routes.ts';
import { milestoneContentEndpoints } from './milestone-routes.ts';
import { issueMoveEndpoints } from './move-routes.ts';
import { issueDefinition, issueResource } from './noteable.ts';
import { issueFacts } from './notification-facts.ts';
import { issueSubject } from './notification-subject.ts';
import { plannedIssues } from './planned.ts';
import { issueReferences } from './references.ts';
import { issueShowEndpoints } from './show-routes.ts';
import { issueStatisticsEndpoints } from './statistics.ts';
import { issueSubscriptionEndpoints } from './subscription-routes.ts';
import { issueTimeEndpoints } from './time-routes.ts';
import { assignedIssues, issueTodoEndpoint, issueTodoTarget } from './todo-target.ts';
import { issueWriteEndpoints } from './write-routes.ts';

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
    ...conversationEndpoints(issueResource),
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
  async reassign(tx, userId, ghostId) {
    await tx.updateTable('issues').set({ author_id: ghostId }).where('author_id', '=', userId).execute();
    await tx
      .updateTable('issues')
      .set({ closed_by_id: ghostId })
      .where('closed_by_id', '=', userId)
      .execute();
    await tx.deleteFrom('issue_assignees').where('user_id', '=', userId).execute();
    await tx.updateTable('timelogs').set({ user_id: ghostId }).where('user_id', '=', userId).execute();
    await tx.updateTable('resource_events').set({ user_id: ghostId }).where('user_id', '=', userId).execute();
  },
});
