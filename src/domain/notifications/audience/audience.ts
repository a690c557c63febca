/** Recipients of notifications: the whole decision for one user and one notification event. Pure. */

import type { NotificationEvent, Reason } from '../events/events.ts';
import { choosesEvent, type NotificationEventName } from '../settings/levels.ts';
import type { Setting, UserSettings } from '../settings/notification-settings.ts';

/** The user's relation to the subject and the event. */
export type Participation = {
  /** Mentioned, alone or with a group, in the new description or the note. */
  mentioned: boolean;
  /** Assigned by this event, at creation or later. */
  assigned: boolean;
  /** Assigned until this event. */
  wasAssigned: boolean;
  /** Requested as a reviewer by this event. */
  reviewing: boolean;
  wasReviewing: boolean;
  /** Author of the issue, epic, merge request, snippet or commit. */
  author: boolean;
  /** Assignee, reviewer, commenter, or mentioned before. */
  participates: boolean;
  /** The user's own subscription; undefined without one. */
  subscribed: boolean | undefined;
  /** Subscribed to a label that it was created with. */
  labelSubscribed: boolean;
  /** May approve it. */
  approver: boolean;
  /** Owner of the pipeline. */
  owner: boolean;
};

/** Of a user without any relation to the subject. */
export const uninvolved: Participation = {
  mentioned: false,
  assigned: false,
  wasAssigned: false,
  reviewing: false,
  wasReviewing: false,
  author: false,
  participates: false,
  subscribed: undefined,
  labelSubscribed: false,
  approver: false,
  owner: false,
};

export type Candidate = {
  id: number;
  /** Only `active` users get mail. */
  state: string;
  /** Only `human` users get mail. */
  kind: string;
  /** Whether the address is confirmed. */
  confirmed: boolean;
  /** Of the project, or of the group of an epic: direct, inherited or by a share. */
  member: boolean;
  /** Whether the user reads the subject now; of an internal note, the note. */
  canRead: boolean;
  /** Whether the project or a group above it has mail disabled. */
  emailsDisabled: boolean;
  settings: UserSettings;
  participation: Participation;
};

/** Events that `watch` leaves out for users who do not participate (facts: Notification settings). */
const unwatched: ReadonlySet<NotificationEventName> = new Set([
  'push_to_merge_request',
  'issue_due',
  'success_pipeline',
  'approver',
]);

/** How the candidates of an event are found. */
export type AudienceKind = 'thread' | 'members' | 'owner' | 'approvers';

const special: Partial<Record<NotificationEventName, AudienceKind>> = {
  moved_project: 'members',
  failed_pipeline: 'owner',
  fixed_pipeline: 'owner',
  success_pipeline: 'owner',
  approver: 'approvers',
};

/**
 * The candidates of an event: users with a relation to the subject and those who watch or chose the event,
 * the members of the project, the pipeline's owner, or the approvers.
 */
export const audienceKind = (event: NotificationEventName): AudienceKind => special[event] ?? 'thread';

/** Whether the event notifies users who only watch. */
export const reachesWatchers = (event: NotificationEventName): boolean =>
  audienceKind(event) === 'thread' && !unwatched.has(event);

/**
 * The setting that applies: the project's, else the nearest group's that is not `global`, else the global.
 */
function settingFor(settings: UserSettings): { setting: Setting; ofPlace: boolean } {
  const said = [settings.project ?? [], ...settings.groups].flat().find(({ level }) => level !== 'global');
  return { setting: said ?? settings.global, ofPlace: said !== undefined };
}

type Tie = {
  reason: Reason;
  /** Addressed to the user: notifies at the level `mention`, and after unsubscribing. */
  called?: boolean;
  /** Subscribed by hand, which the level `mention` respects. */
  asked?: boolean;
};

/** The reasons of the user, the first first. */
function tiesOf(event: NotificationEventName, person: Participation): Tie[] {
  const reassigns = event === 'reassign_issue' || event === 'reassign_merge_request';
  const asksReviewers = event === 'change_reviewer_merge_request';
  const ties: (Tie | false)[] = [
    person.assigned && { reason: 'assigned', called: reassigns },
    person.reviewing && { reason: 'review_requested', called: asksReviewers },
    person.mentioned && { reason: 'mentioned', called: true },
    (person.subscribed === true || person.labelSubscribed) && { reason: 'subscribed', asked: true },
    person.author && { reason: 'author' },
    (person.wasAssigned || person.wasReviewing) && { reason: 'unassigned', called: true },
    person.participates && { reason: 'participating' },
  ];
  const all = ties.filter((tie) => tie !== false);
  return person.subscribed === false ? all.filter(({ called }) => called) : all;
}

/** Of discussions: participants, and users whose level or choice includes the event. */
function reasonOfThread(event: NotificationEventName, person: Candidate): Reason | undefined {
  const { setting, ofPlace } = settingFor(person.settings);
  const ties = tiesOf(event, person.participation);
  if (setting.level === 'mention')
    return ties.find(({ called, asked: requested }) => called || requested)?.reason;
  const [tie] = ties;
  if (tie) return tie.reason;
  if (person.participation.subscribed === false) return undefined;
  // A global level does not cover projects without a membership.
  if (!ofPlace && !person.member) return undefined;
  if (setting.level === 'watch') return unwatched.has(event) ? undefined : 'watching';
  return setting.level === 'custom' && choosesEvent(setting.events, event) ? 'custom' : undefined;
}

function reasonAsOwner(event: NotificationEventName, person: Candidate): Reason | undefined {
  const { level, events } = settingFor(person.settings).setting;
  if (!person.participation.owner || level === 'mention') return undefined;
  const wanted = level === 'custom' ? choosesEvent(events, event) : event !== 'success_pipeline';
  return wanted ? 'owner' : undefined;
}

function reasonAsMember(event: NotificationEventName, person: Candidate): Reason | undefined {
  const { level, events } = settingFor(person.settings).setting;
  return person.member && (level !== 'custom' || choosesEvent(events, event)) ? 'member' : undefined;
}

/** Approvers who chose the event, unless they get the mail about the new merge request anyway. */
function reasonAsApprover(person: Candidate): Reason | undefined {
  const { level, events } = settingFor(person.settings).setting;
  if (!person.participation.approver || level !== 'custom' || !choosesEvent(events, 'approver'))
    return undefined;
  return reasonOfThread('new_merge_request', person) ? undefined : 'custom';
}

function wants(event: NotificationEventName, person: Candidate): Reason | undefined {
  if (settingFor(person.settings).setting.level === 'disabled') return undefined;
  switch (audienceKind(event)) {
    case 'thread':
      return reasonOfThread(event, person);
    case 'owner':
      return reasonAsOwner(event, person);
    case 'members':
      return reasonAsMember(event, person);
    case 'approvers':
      return reasonAsApprover(person);
  }
}

const isReachable = (person: Candidate): boolean =>
  person.state === 'active' &&
  person.kind === 'human' &&
  person.confirmed &&
  person.canRead &&
  !person.emailsDisabled;

/** Why the user is notified of the event; undefined when not (facts: Notification settings). */
export function notificationReason(
  event: Pick<NotificationEvent, 'name' | 'actorId'>,
  person: Candidate,
): Reason | undefined {
  if (!isReachable(person)) return undefined;
  const own = event.actorId === person.id;
  if (own && !person.settings.notifiedOfOwn) return undefined;
  const reason = wants(event.name, person);
  return own && reason ? 'own_activity' : reason;
}
