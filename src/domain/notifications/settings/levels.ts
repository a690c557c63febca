/** The names of notification events, and which of them a level includes (spec: Notification setting). */
import type { Tier } from '../../../kernel/config.ts';
import { type Level, levels } from '../../../kernel/namespaces/notification-levels.ts';

export const isLevel = (text: string): text is Level => levels.some((level) => level === text);

/** Without any setting. */
export const DEFAULT_GLOBAL_LEVEL: Level = 'participating';

/** Those that can be chosen, in the order of responses; `approver` is accepted and never returned. */
export const chosenEvents = [
  'new_release',
  'new_note',
  'new_issue',
  'reopen_issue',
  'close_issue',
  'reassign_issue',
  'issue_due',
  'new_merge_request',
  'push_to_merge_request',
  'reopen_merge_request',
  'close_merge_request',
  'reassign_merge_request',
  'change_reviewer_merge_request',
  'merge_merge_request',
  'failed_pipeline',
  'fixed_pipeline',
  'success_pipeline',
  'moved_project',
  'merge_when_pipeline_succeeds',
  'new_epic',
  'approver',
] as const;
export type ChosenEventName = (typeof chosenEvents)[number];

/** The others have no setting: who takes part hears of them, and who watches. */
export const notificationEvents = [
  ...chosenEvents,
  'resolve_all_threads',
  'approve_merge_request',
  'unapprove_merge_request',
] as const;
export type NotificationEventName = (typeof notificationEvents)[number];

/** The user's choices; the default applies to absent ones. */
export type EventChoices = Partial<Record<ChosenEventName, boolean>>;
/** Changes of choices; null removes one. */
export type EventChanges = Partial<Record<ChosenEventName, boolean | null>>;

/** Events that the level `custom` includes by default. */
const onByDefault: ReadonlySet<ChosenEventName> = new Set([
  'failed_pipeline',
  'fixed_pipeline',
  'moved_project',
]);

/** The effective choice: chosen, or on by default; null where the default is off. */
const choiceOf = (events: EventChoices, event: ChosenEventName): boolean | null =>
  events[event] ?? (onByDefault.has(event) || null);

/** Whether the level `custom` with these choices includes the event. */
export const choosesEvent = (events: EventChoices, event: NotificationEventName): boolean =>
  chosenEvents.some((each) => each === event && choiceOf(events, each) === true);

/** The events that can be chosen: `new_epic` where there are epics. */
export const eventsOf = (tier: Tier): ChosenEventName[] =>
  chosenEvents.filter((event) => event !== 'approver' && (event !== 'new_epic' || tier !== 'free'));

/** The choices in a response, in the order of the events. */
export const shownChoices = (events: EventChoices, tier: Tier) =>
  Object.fromEntries(eventsOf(tier).map((event) => [event, choiceOf(events, event)]));
