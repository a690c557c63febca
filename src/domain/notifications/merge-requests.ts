/** Merge requests in mails, until the capability that will have them registers this. */
import {
  idsOf,
  type NotificationEvent,
  type NotificationFact,
  notificationEvent,
  type PeopleChanges,
  reassigned,
} from '../../core/notifications/events.ts';
import type { NotificationEventName } from '../../core/notifications/levels.ts';

type MergeRequestFact = {
  project_id: number;
  /** The actor. */
  user_id: number;
  merge_request_id: number;
};

const aboutMergeRequest = ({ project_id, user_id, merge_request_id }: MergeRequestFact) => ({
  actorId: user_id,
  projectId: project_id,
  subject: { kind: 'merge_request', id: merge_request_id },
});

const changed =
  (event: NotificationEventName) =>
  (fact: MergeRequestFact): NotificationEvent[] => [notificationEvent(event, aboutMergeRequest(fact))];

export const mergeRequestFacts: readonly NotificationFact[] = [
  {
    name: 'merge_request_created',
    eventsOf: (fact: MergeRequestFact & { approver_ids: number[] }) => [
      notificationEvent('new_merge_request', aboutMergeRequest(fact)),
      ...(fact.approver_ids.length > 0
        ? [
            notificationEvent('approver', {
              ...aboutMergeRequest(fact),
              involved: { approvers: fact.approver_ids },
            }),
          ]
        : []),
    ],
  },
  {
    name: 'merge_request_updated',
    eventsOf: (fact: MergeRequestFact & { assignees?: PeopleChanges; reviewers?: PeopleChanges }) => [
      ...(fact.assignees
        ? [reassigned('reassign_merge_request', aboutMergeRequest(fact), fact.assignees)]
        : []),
      ...(fact.reviewers
        ? [
            notificationEvent('change_reviewer_merge_request', {
              ...aboutMergeRequest(fact),
              involved: {
                reviewing: idsOf(fact.reviewers.added),
                noLongerReviewing: idsOf(fact.reviewers.removed),
              },
            }),
          ]
        : []),
    ],
  },
  { name: 'merge_request_closed', eventsOf: changed('close_merge_request') },
  { name: 'merge_request_reopened', eventsOf: changed('reopen_merge_request') },
  { name: 'merge_request_merged', eventsOf: changed('merge_merge_request') },
  { name: 'merge_request_pushed', eventsOf: changed('push_to_merge_request') },
  { name: 'merge_request_auto_merge_set', eventsOf: changed('merge_when_pipeline_succeeds') },
];
