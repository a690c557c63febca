/** Epics of groups, their issues, child epics and links. Premium and up. */

import type { Capability } from '../../../kernel/capability.ts';
import { noteables, todoTargets } from '../../conversation/index.ts';
import { referenceDefinitions } from '../../markdown/index.ts';
import { notificationFacts, notificationSubjects } from '../../notifications/index.ts';
import { childEpicEndpoints } from './child-routes.ts';
import { epicEndpoints } from './epic-routes.ts';
import { eventEndpoints } from './event-routes.ts';
import { epicIssueEndpoints } from './issue-routes.ts';
import { epicConversation, epicDefinition } from './registrations/noteable.ts';
import { epicFact } from './registrations/notification-facts.ts';
import { epicSubject } from './registrations/notification-subject.ts';
import { epicReferences } from './registrations/references.ts';
import { epicTodoEndpoint, epicTodoTarget } from './registrations/todo-target.ts';
import { relatedEndpoints } from './related-routes.ts';
import { reassignEpics } from './writing/actions.ts';

export const epicsCapability = (): Capability => ({
  name: 'epics',
  registrations: [
    noteables.add(epicDefinition),
    referenceDefinitions.add(epicReferences),
    todoTargets.add(epicTodoTarget),
    notificationFacts.add(epicFact),
    notificationSubjects.add(epicSubject),
  ],
  endpoints: [
    ...epicConversation.all,
    ...epicEndpoints.all,
    ...childEpicEndpoints.all,
    ...epicIssueEndpoints.all,
    ...relatedEndpoints,
    ...eventEndpoints,
    epicTodoEndpoint,
  ],
  // Rows go with their group; an epic_issues row also goes with its issue.
  tables: ['epics', 'epic_issues', 'related_epic_links'],
  reassign: reassignEpics,
});
