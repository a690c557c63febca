/** Facts of issues that mails follow. */
import {
  type NotificationEvent,
  type NotificationFact,
  notificationEvent,
  type PeopleChanges,
  reassigned,
} from '../../../notifications/index.ts';

type IssueFact = {
  project_id: number;
  /** The actor. */
  user_id: number;
  issue_id: number;
  changes?: { assignees?: PeopleChanges };
};

const aboutIssue = ({ project_id, user_id, issue_id }: IssueFact) => ({
  actorId: user_id,
  projectId: project_id,
  subject: { kind: 'issue', id: issue_id },
});

/** The events of a changed issue: of its state, and of its assignees. */
const changed =
  (event?: 'close_issue' | 'reopen_issue') =>
  (fact: IssueFact): NotificationEvent[] => [
    ...(event ? [notificationEvent(event, aboutIssue(fact))] : []),
    ...(fact.changes?.assignees
      ? [reassigned('reassign_issue', aboutIssue(fact), fact.changes.assignees)]
      : []),
  ];

export const issueFacts: readonly NotificationFact[] = [
  {
    name: 'issue_created',
    eventsOf: (fact: IssueFact) => [notificationEvent('new_issue', aboutIssue(fact))],
  },
  { name: 'issue_updated', eventsOf: changed() },
  { name: 'issue_closed', eventsOf: changed('close_issue') },
  { name: 'issue_reopened', eventsOf: changed('reopen_issue') },
];
