/** Notification events: facts as those see them who may be notified. The announcer of a fact registers its events. */

import { Registry } from '../../../kernel/registry.ts';
import type { Json } from '../../../platform/db/rows.ts';
import type { NotificationEventName } from '../settings/levels.ts';

/** Reasons for a notification; the first that applies counts. */
export const reasons = [
  'own_activity',
  'assigned',
  'review_requested',
  'mentioned',
  'subscribed',
  'author',
  'unassigned',
  'participating',
  'owner',
  'member',
  'custom',
  'watching',
] as const;
export type Reason = (typeof reasons)[number];

/** The subject of an event: its kind, and its id, or the SHA of a commit. */
export type EventSubject = { kind: string; id?: number; sha?: string };

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
  subject: EventSubject;
  noteId: number | undefined;
  /** Of the same review as the note, which the mail tells too. */
  furtherNoteIds?: readonly number[];
  involved: Involved;
};

type About = Pick<NotificationEvent, 'subject'> &
  Partial<Omit<NotificationEvent, 'name' | 'involved'>> & { involved?: Partial<Involved> };

/** The event of this name; it names no users but the given ones. */
export const notificationEvent = (
  name: NotificationEventName,
  { involved, ...about }: About,
): NotificationEvent => ({
  name,
  actorId: undefined,
  projectId: undefined,
  groupId: undefined,
  noteId: undefined,
  involved: {
    assigned: [],
    unassigned: [],
    reviewing: [],
    noLongerReviewing: [],
    approvers: [],
    owner: undefined,
    ...involved,
  },
  ...about,
});

type Named = { id: number; username: string };
/** Added and removed assignees or reviewers in a fact. */
export type PeopleChanges = { added: Named[]; removed: Named[] };

const idsOf = (people: readonly Named[]): number[] => people.map(({ id }) => id);

/** The event of a change of assignees. */
export const reassigned = (
  name: 'reassign_issue' | 'reassign_merge_request',
  about: About,
  { added, removed }: PeopleChanges,
): NotificationEvent =>
  notificationEvent(name, { ...about, involved: { assigned: idsOf(added), unassigned: idsOf(removed) } });

/** The event of a change of reviewers. */
export const reviewersChanged = (about: About, { added, removed }: PeopleChanges): NotificationEvent =>
  notificationEvent('change_reviewer_merge_request', {
    ...about,
    involved: { reviewing: idsOf(added), noLongerReviewing: idsOf(removed) },
  });

/** A fact that mails follow. */
export type NotificationFact = {
  name: string;
  /** Its events: none, one or several. The payload is as its announcer wrote it. */
  eventsOf(payload: Readonly<Record<string, Json>>): NotificationEvent[];
};

/** The facts that mails follow, from those who announce them. */
export const notificationFacts = new Registry<NotificationFact>();
