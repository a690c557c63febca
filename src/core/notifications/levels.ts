/** How much somebody wants to hear of, and the names of what there is to be heard (spec: Notification setting). */

import type { Tier } from '../../config.ts';

/** In the order of their public numbers. */
export const levels = ['disabled', 'participating', 'watch', 'global', 'mention', 'custom'] as const;
export type Level = (typeof levels)[number];

/** The number by which `permissions` of a project show a level (facts: Notification settings). */
export const levelNumber = (level: Level): number => levels.indexOf(level);

export const isLevel = (text: string): text is Level => levels.some((level) => level === text);

/** Where nothing is said of a group or project, what is said above it counts. */
export const DEFAULT_LEVEL: Level = 'global';
/** Where nothing is said at all. */
export const DEFAULT_GLOBAL_LEVEL: Level = 'participating';

/** In the order in which answers name them; `approver` is taken and never answered. */
export const notificationEvents = [
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
export type NotificationEventName = (typeof notificationEvents)[number];

/** Whether each is wanted; of what is absent nothing was said, and the default applies. */
export type EventChoices = Partial<Record<NotificationEventName, boolean>>;
/** Changes of those; null takes back what was said. */
export type EventChanges = Partial<Record<NotificationEventName, boolean | null>>;

/** Those that the level `custom` hears of unless it was told not to. */
const onByDefault: ReadonlySet<NotificationEventName> = new Set([
  'failed_pipeline',
  'fixed_pipeline',
  'moved_project',
]);

/** What is said of the event in the end: chosen, or on by default; null where the default is to be silent. */
const choiceOf = (events: EventChoices, event: NotificationEventName): boolean | null =>
  events[event] ?? (onByDefault.has(event) || null);

/** Whether the level `custom` with these choices hears of the event, whoever it concerns. */
export const choosesEvent = (events: EventChoices, event: NotificationEventName): boolean =>
  choiceOf(events, event) === true;

/** The events that can be chosen: `new_epic` where there are epics. */
export const eventsOf = (tier: Tier): NotificationEventName[] =>
  notificationEvents.filter((event) => event !== 'approver' && (event !== 'new_epic' || tier !== 'free'));

/** What an answer says of each event that can be chosen, in their order. */
export const shownChoices = (events: EventChoices, tier: Tier) =>
  Object.fromEntries(eventsOf(tier).map((event) => [event, choiceOf(events, event)]));
