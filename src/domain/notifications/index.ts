/** Notifications: the events that facts give, their audience, and the mails. */
export { mailCapability } from './account-mails/capability.ts';
export { selectChoosers } from './audience/candidate-queries.ts';
export { notificationsCapability } from './capability.ts';
export {
  type NotificationEvent,
  type NotificationFact,
  notificationEvent,
  notificationFacts,
  type PeopleChanges,
  reassigned,
  reviewersChanged,
} from './events/events.ts';
export {
  changeRow,
  dayRow,
  type MailContents,
  type PeopleChange,
  type Row,
  valuesRow,
} from './events/mail-contents.ts';
export type { MailTexts } from './events/mail-texts.ts';
export { selectPeopleChange } from './events/people-queries.ts';
export {
  groupOf,
  type LoadedSubject,
  type Loading,
  type NotificationSubject,
  notificationSubjects,
  projectOf,
} from './events/subjects.ts';
export type { NotificationEventName } from './settings/levels.ts';
