/** Facts of merge requests that mails follow. */
import {
  type NotificationEvent,
  type NotificationEventName,
  type NotificationFact,
  notificationEvent,
  type PeopleChanges,
  reassigned,
  reviewersChanged,
} from '../../notifications/index.ts';
import { APPROVERS_CALLED } from '../approving/call-approvers.ts';

type MergeRequestFact = {
  project_id: number;
  /** The actor. */
  user_id: number;
  merge_request_id: number;
  changes?: { assignees?: PeopleChanges; reviewers?: PeopleChanges };
};

/** Of notification subjects. */
export const MERGE_REQUEST = 'merge_request';

const aboutMergeRequest = ({ project_id, user_id, merge_request_id }: MergeRequestFact) => ({
  actorId: user_id,
  projectId: project_id,
  subject: { kind: MERGE_REQUEST, id: merge_request_id },
});

/** The events of a changed merge request: what happened to it, and to its assignees and reviewers. */
const changed =
  (event?: NotificationEventName) =>
  (fact: MergeRequestFact): NotificationEvent[] => {
    const about = aboutMergeRequest(fact);
    const { assignees, reviewers } = fact.changes ?? {};
    return [
      ...(event ? [notificationEvent(event, about)] : []),
      ...(assignees ? [reassigned('reassign_merge_request', about, assignees)] : []),
      ...(reviewers ? [reviewersChanged(about, reviewers)] : []),
    ];
  };

export const mergeRequestFacts: readonly NotificationFact[] = [
  { name: 'merge_request_created', eventsOf: changed('new_merge_request') },
  {
    name: APPROVERS_CALLED,
    eventsOf: (fact: MergeRequestFact & { approver_ids: number[] }) => [
      notificationEvent('approver', {
        ...aboutMergeRequest(fact),
        involved: { approvers: fact.approver_ids },
      }),
    ],
  },
  { name: 'merge_request_updated', eventsOf: changed() },
  { name: 'merge_request_closed', eventsOf: changed('close_merge_request') },
  { name: 'merge_request_reopened', eventsOf: changed('reopen_merge_request') },
  { name: 'merge_request_merged', eventsOf: changed('merge_merge_request') },
  { name: 'merge_request_pushed', eventsOf: changed('push_to_merge_request') },
  {
    name: 'merge_request_reviewed',
    eventsOf: (fact: MergeRequestFact & { note_ids: number[] }) => {
      const [noteId, ...furtherNoteIds] = fact.note_ids;
      return [notificationEvent('new_note', { ...aboutMergeRequest(fact), noteId, furtherNoteIds })];
    },
  },
  { name: 'merge_request_threads_resolved', eventsOf: changed('resolve_all_threads') },
  { name: 'merge_request_approved', eventsOf: changed('approve_merge_request') },
  { name: 'merge_request_unapproved', eventsOf: changed('unapprove_merge_request') },
  { name: 'merge_request_auto_merge_set', eventsOf: changed('merge_when_pipeline_succeeds') },
];
