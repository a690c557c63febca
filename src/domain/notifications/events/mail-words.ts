/** The words of mails in a language. Each entry is a whole sentence, so that languages choose their word order. */

import type { NotificationEventName } from '../settings/levels.ts';
import type { Language } from '../settings/locales.ts';
import type { Reason } from './events.ts';

/** What all mails say. */
export type Words = {
  /** The mail's language tag (RFC 3282). */
  language: Language;
  /** The locale of dates and times. */
  locale: string;
  /** The actor's name where it is unknown. */
  somebody: string;
  /** Labels of rows. */
  rows: Record<'assignees' | 'labels' | 'milestone' | 'due' | 'start', string>;
  nobody: string;
  confidential: string;
  internal: string;
  cut: string;
  /** The label of the button that leads to a note. */
  openNote: string;
  /** The reason for the mail; `place` is the project or group. */
  why: Record<Reason, (place: string) => string>;
  unsubscribe: string;
  settings: string;
  sentBy: (site: string) => string;
};

/** What mails say of subjects of one kind. */
export type SubjectWords = {
  /** Each event in one sentence, by its actor. */
  happened: Partial<Record<NotificationEventName, (who: string) => string>>;
  /** The sentence of a note that is a reply. */
  replied?: (who: string) => string;
  /** The label of the button that leads to the subject. */
  open: string;
};

export type InLanguages<T> = Readonly<Record<Language, T>>;
