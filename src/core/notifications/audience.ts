/** Who hears of what: the whole of it, for one person and one occasion. Pure. */

import type { NotificationEvent } from './events.ts';
import { choosesEvent, type NotificationEventName } from './levels.ts';
import type { Setting, UserSettings } from './settings.ts';

/** How somebody stands to the thing, and what the occasion is to them. */
export type Participation = {
  /** Called by name, alone or with a group, in what is said now: the new description, or the note. */
  mentioned: boolean;
  /** Answers for it from now on: since it was made with them, or reassigned to them. */
  assigned: boolean;
  /** Answered for it until now. */
  wasAssigned: boolean;
  /** Is asked for a review from now on. */
  reviewing: boolean;
  wasReviewing: boolean;
  /** Wrote the issue, epic, merge request, snippet or commit. */
  author: boolean;
  /** Answers for it, reviews it, said something on it, or was called to it before. */
  participates: boolean;
  /** What they said themselves of hearing of it; undefined when they said nothing. */
  subscribed: boolean | undefined;
  /** Hears of a label with which it was made. */
  labelSubscribed: boolean;
  /** May approve it. */
  approver: boolean;
  /** The pipeline is theirs. */
  owner: boolean;
};

/** Of somebody whom nothing ties to the thing. */
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
  /** `active` is the only one who gets mail. */
  state: string;
  /** `human` is the only one who gets mail. */
  kind: string;
  /** Whether they proved that their address is theirs. */
  confirmed: boolean;
  /** Of the project, or of the group of an epic, straight, from above, or by a share. */
  member: boolean;
  /** Whether they would be shown it at this moment; of a note for the team, the note. */
  canRead: boolean;
  /** Whether the project, its group, or any group above sends no mail. */
  emailsDisabled: boolean;
  settings: UserSettings;
  participation: Participation;
};

/** Why somebody hears of something; where several reasons are true, the first. */
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

/** What the level `watch` leaves out for those who do not take part (facts: Notification settings). */
const unwatched: ReadonlySet<NotificationEventName> = new Set([
  'push_to_merge_request',
  'issue_due',
  'success_pipeline',
  'approver',
]);

/** How the people of an event are found. */
export type AudienceKind = 'thread' | 'members' | 'owner' | 'approvers';

const special: Partial<Record<NotificationEventName, AudienceKind>> = {
  moved_project: 'members',
  failed_pipeline: 'owner',
  fixed_pipeline: 'owner',
  success_pipeline: 'owner',
  approver: 'approvers',
};

/**
 * Among whom an event's people are: those tied to the thing and those who watch or chose it, the members of the project,
 * the pipeline's owner, or those who may approve.
 */
export const audienceKind = (event: NotificationEventName): AudienceKind => special[event] ?? 'thread';

/** Whether people who only watch can hear of it. */
export const reachesWatchers = (event: NotificationEventName): boolean =>
  audienceKind(event) === 'thread' && !unwatched.has(event);

/** What somebody said that bears on the place: of the project, else of the nearest group that is not `global`, else of all. */
function settingFor(settings: UserSettings): { setting: Setting; ofPlace: boolean } {
  const said = [settings.project ?? [], ...settings.groups].flat().find(({ level }) => level !== 'global');
  return { setting: said ?? settings.global, ofPlace: said !== undefined };
}

type Tie = {
  reason: Reason;
  /** Somebody turned to them: heard at the level `mention`, and by those who unsubscribed. */
  called?: boolean;
  /** They asked for it by hand, which the level `mention` does not take back. */
  asked?: boolean;
};

/** What ties them to the thing, the first reason first. */
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

/** Of what people talk about: those who have to do with it, and those who want to hear of what others have to do with. */
function reasonOfThread(event: NotificationEventName, person: Candidate): Reason | undefined {
  const { setting, ofPlace } = settingFor(person.settings);
  const ties = tiesOf(event, person.participation);
  if (setting.level === 'mention')
    return ties.find(({ called, asked: requested }) => called || requested)?.reason;
  const [tie] = ties;
  if (tie) return tie.reason;
  if (person.participation.subscribed === false) return undefined;
  // Whoever watches everything does not mean every public project there is.
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

/** Those who chose to hear of what waits for them; once, where they hear of the same merge request anyway. */
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

/** Whether somebody hears of an occasion, and why; undefined when they do not (facts: Notification settings). */
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
