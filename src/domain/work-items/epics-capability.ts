/** Epics of groups, their issues, child epics and links. Premium and up. */

import type { Capability } from '../../kernel/capability.ts';
import { type MentionServices, mentionNamed, noteables, todoTargets } from '../conversation/index.ts';
import { referenceDefinitions } from '../markdown/index.ts';
import { notificationFacts, notificationSubjects } from '../notifications/index.ts';
import { epicIssueEndpoints } from './epic-issues/routes.ts';
import { childEpicEndpoints } from './epics/child-routes.ts';
import { epicEndpoints } from './epics/epic-routes.ts';
import { epicEventEndpoints } from './epics/event-routes.ts';
import { MENTION_NAMED, mentioningEpics, mentionListeners } from './epics/mentions/mentioning-epics.ts';
import { epicConversation, epicDefinition } from './epics/registrations/noteable.ts';
import { epicFact } from './epics/registrations/notification-facts.ts';
import { epicSubject } from './epics/registrations/notification-subject.ts';
import { epicReferences } from './epics/registrations/references.ts';
import { epicTodoEndpoint, epicTodoTarget } from './epics/registrations/todo-target.ts';
import { epicWorkKind } from './epics/registrations/work-kind.ts';
import { relatedEndpoints } from './epics/related-routes.ts';
import { reassignEpics } from './epics/writing/actions.ts';
import { workKinds } from './quick-actions/work-kinds.ts';

export const epicsCapability = (services: MentionServices): Capability => ({
  name: 'epics',
  registrations: [
    noteables.add(epicDefinition),
    referenceDefinitions.add(epicReferences),
    todoTargets.add(epicTodoTarget),
    notificationFacts.add(epicFact),
    notificationSubjects.add(epicSubject),
    workKinds.add(epicWorkKind),
  ],
  endpoints: [
    ...epicConversation.all,
    ...epicEndpoints.all,
    ...childEpicEndpoints.all,
    ...epicIssueEndpoints.all,
    ...relatedEndpoints,
    ...epicEventEndpoints,
    epicTodoEndpoint,
  ],
  tasks: { [MENTION_NAMED]: mentionNamed(services, mentioningEpics) },
  listeners: mentionListeners,
  // Rows go with their group; an epic_issues row also goes with its issue.
  tables: ['epics', 'epic_issues', 'related_epic_links'],
  reassign: reassignEpics,
});
