/**
 * Facts that mails follow, as their announcers write them, and the notification events made of them. Facts of
 * merge requests, pipelines and releases come from the capabilities that will have them.
 */
import type { Json } from '../../platform/db/rows.ts';
import type { Fact } from '../../platform/outbox/outbox.ts';
import type { NotificationEventName } from './levels.ts';

type Payload<T extends Record<string, Json>> = T;
/** `user_id` is the actor. */
type InProject = { project_id: number; user_id: number };
type Named = { id: number; username: string };
/** Added and removed assignees or reviewers. */
type People = { added: Named[]; removed: Named[] };
type OnIssue = InProject & { issue_id: number; changes?: { assignees?: People } };
type OnMergeRequest = InProject & { merge_request_id: number };

/** The facts that mails follow, by name, with their payloads. */
export type NotificationFacts = {
  issue_created: Payload<OnIssue>;
  issue_updated: Payload<OnIssue>;
  issue_closed: Payload<OnIssue>;
  issue_reopened: Payload<OnIssue>;
  /** Announced once for an issue and day, in the morning of the day before. */
  issue_due: Payload<{ project_id: number; issue_id: number; due_date: string }>;
  note_created: Payload<{
    project_id?: number;
    namespace_id?: number | null;
    noteable_type: 'Issue' | 'Epic' | 'Snippet' | 'Commit' | 'MergeRequest' | 'AlertManagement::Alert';
    noteable_id: number | null;
    commit_id?: string;
    note_id: number;
    user_id: number;
    internal: boolean;
  }>;
  epic_created: Payload<{ group_id: number; user_id: number; epic_id: number }>;
  /** Full paths. */
  project_moved: Payload<{ project_id: number; from: string; to: string }>;
  release_created: Payload<InProject & { release_id: number }>;
  merge_request_created: Payload<OnMergeRequest & { approver_ids: number[] }>;
  merge_request_updated: Payload<OnMergeRequest & { assignees?: People; reviewers?: People }>;
  merge_request_closed: Payload<OnMergeRequest>;
  merge_request_reopened: Payload<OnMergeRequest>;
  merge_request_merged: Payload<OnMergeRequest>;
  /** The first new commits, oldest first, and the number of all. */
  merge_request_pushed: Payload<
    OnMergeRequest & { commits: { sha: string; title: string }[]; count: number }
  >;
  merge_request_auto_merge_set: Payload<OnMergeRequest>;
  /** `user_id` is the pipeline's owner; `was_failing`: the branch's pipeline before it had failed. */
  pipeline_finished: Payload<
    InProject & { pipeline_id: number; status: 'success' | 'failed'; was_failing: boolean }
  >;
};

export type NotificationFactName = keyof NotificationFacts;

/** The fact, for an announcement. */
export const notificationFact = <Name extends NotificationFactName>(
  name: Name,
  told: NotificationFacts[Name],
): Fact => ({
  name,
  payload: told,
});

/** The subject of the mail, and of replies to it. */
export type NotificationSubject =
  | { kind: 'issue' | 'epic' | 'snippet' | 'merge_request' | 'release' | 'pipeline' | 'project'; id: number }
  | { kind: 'commit'; sha: string };

/** Ids of users whom the event itself names. */
export type Involved = {
  /** New assignees. Those of a new subject are read with the subject. */
  assigned: readonly number[];
  unassigned: readonly number[];
  reviewing: readonly number[];
  noLongerReviewing: readonly number[];
  /** May approve it. */
  approvers: readonly number[];
  /** The pipeline's owner. */
  owner: number | undefined;
};

export type NotificationEvent = {
  name: NotificationEventName;
  /** The actor; undefined where time or the program acted, and where the actor is notified as others are. */
  actorId: number | undefined;
  projectId: number | undefined;
  /** The group of an epic. */
  groupId: number | undefined;
  subject: NotificationSubject;
  noteId: number | undefined;
  /** Whether it is an internal note. */
  internal: boolean;
  involved: Involved;
};

const nobody: Involved = {
  assigned: [],
  unassigned: [],
  reviewing: [],
  noLongerReviewing: [],
  approvers: [],
  owner: undefined,
};

const eventOf = (
  event: NotificationEventName,
  about: Pick<NotificationEvent, 'subject'> & Partial<NotificationEvent>,
): NotificationEvent => ({
  name: event,
  actorId: undefined,
  projectId: undefined,
  groupId: undefined,
  noteId: undefined,
  internal: false,
  involved: nobody,
  ...about,
});

const ids = (people: readonly Named[]): number[] => people.map(({ id }) => id);

const onIssue = (told: OnIssue) => ({
  actorId: told.user_id,
  projectId: told.project_id,
  subject: { kind: 'issue', id: told.issue_id } as const,
});

const onMergeRequest = (told: OnMergeRequest) => ({
  actorId: told.user_id,
  projectId: told.project_id,
  subject: { kind: 'merge_request', id: told.merge_request_id } as const,
});

const reassigned = (
  event: 'reassign_issue' | 'reassign_merge_request',
  about: Pick<NotificationEvent, 'subject'> & Partial<NotificationEvent>,
  people: People | undefined,
): NotificationEvent[] => {
  if (!people) return [];
  const involved = { ...nobody, assigned: ids(people.added), unassigned: ids(people.removed) };
  return [eventOf(event, { ...about, involved })];
};

/** Events of a changed issue: of its state, and of its assignees. */
const changedIssue =
  (event?: 'close_issue' | 'reopen_issue') =>
  (told: OnIssue): NotificationEvent[] => [
    ...(event ? [eventOf(event, onIssue(told))] : []),
    ...reassigned('reassign_issue', onIssue(told), told.changes?.assignees),
  ];

const changedMergeRequest =
  (event: NotificationEventName) =>
  (told: OnMergeRequest): NotificationEvent[] => [eventOf(event, onMergeRequest(told))];

const noteableKinds = {
  Issue: 'issue',
  Epic: 'epic',
  Snippet: 'snippet',
  MergeRequest: 'merge_request',
} as const;

function noted(told: NotificationFacts['note_created']): NotificationEvent[] {
  // Alerts send no mail for notes; mentioned users have to-dos.
  if (told.noteable_type === 'AlertManagement::Alert') return [];
  const subject: NotificationSubject =
    told.noteable_type === 'Commit'
      ? { kind: 'commit', sha: told.commit_id ?? '' }
      : { kind: noteableKinds[told.noteable_type], id: told.noteable_id ?? 0 };
  return [
    eventOf('new_note', {
      actorId: told.user_id,
      projectId: told.project_id,
      groupId: told.namespace_id ?? undefined,
      subject,
      noteId: told.note_id,
      internal: told.internal,
    }),
  ];
}

function finishedPipeline(told: NotificationFacts['pipeline_finished']): NotificationEvent[] {
  const event =
    told.status === 'failed' ? 'failed_pipeline' : told.was_failing ? 'fixed_pipeline' : 'success_pipeline';
  const subject = { kind: 'pipeline', id: told.pipeline_id } as const;
  const involved = { ...nobody, owner: told.user_id };
  return [eventOf(event, { projectId: told.project_id, subject, involved })];
}

const readings: { [Name in NotificationFactName]: (told: NotificationFacts[Name]) => NotificationEvent[] } = {
  issue_created: (told) => [eventOf('new_issue', onIssue(told))],
  issue_updated: changedIssue(),
  issue_closed: changedIssue('close_issue'),
  issue_reopened: changedIssue('reopen_issue'),
  issue_due: ({ project_id, issue_id }) => [
    eventOf('issue_due', { projectId: project_id, subject: { kind: 'issue', id: issue_id } }),
  ],
  note_created: noted,
  epic_created: ({ group_id, user_id, epic_id }) => [
    eventOf('new_epic', { actorId: user_id, groupId: group_id, subject: { kind: 'epic', id: epic_id } }),
  ],
  project_moved: ({ project_id }) => [
    eventOf('moved_project', { projectId: project_id, subject: { kind: 'project', id: project_id } }),
  ],
  release_created: ({ project_id, user_id, release_id }) => [
    eventOf('new_release', {
      actorId: user_id,
      projectId: project_id,
      subject: { kind: 'release', id: release_id },
    }),
  ],
  merge_request_created: (told) => [
    eventOf('new_merge_request', onMergeRequest(told)),
    ...(told.approver_ids.length > 0
      ? [
          eventOf('approver', {
            ...onMergeRequest(told),
            involved: { ...nobody, approvers: told.approver_ids },
          }),
        ]
      : []),
  ],
  merge_request_updated: (told) => [
    ...reassigned('reassign_merge_request', onMergeRequest(told), told.assignees),
    ...(told.reviewers
      ? [
          eventOf('change_reviewer_merge_request', {
            ...onMergeRequest(told),
            involved: {
              ...nobody,
              reviewing: ids(told.reviewers.added),
              noLongerReviewing: ids(told.reviewers.removed),
            },
          }),
        ]
      : []),
  ],
  merge_request_closed: changedMergeRequest('close_merge_request'),
  merge_request_reopened: changedMergeRequest('reopen_merge_request'),
  merge_request_merged: changedMergeRequest('merge_merge_request'),
  merge_request_pushed: changedMergeRequest('push_to_merge_request'),
  merge_request_auto_merge_set: changedMergeRequest('merge_when_pipeline_succeeds'),
  pipeline_finished: finishedPipeline,
};

/** The names of the facts to listen to. */
export const notificationFactNames = Object.keys(readings) as NotificationFactName[];

/** The notification events of a fact: none, one or several. */
export const notificationEventsOf = <Name extends NotificationFactName>(
  name: Name,
  told: NotificationFacts[Name],
): NotificationEvent[] => readings[name](told);
