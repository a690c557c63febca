/** Input of a mail. The caller loads all of it for the recipient, so that composing needs no database. */
import type { Reason } from '../events/events.ts';
import type { MailContents } from '../events/mail-contents.ts';
import type { NotificationEventName } from '../settings/levels.ts';

/** A text as written, and as domain/markdown rendered it for the recipient. */
export type Body = {
  text: string;
  html: string;
  /** Whether the text is truncated: see cutBody(). */
  cut: boolean;
};

type Note = {
  url: string;
  /** Whether it replies in a thread. */
  reply: boolean;
  /** Whether it is an internal note. */
  internal: boolean;
  discussionId: string;
};

export type MailInput = MailContents & {
  event: NotificationEventName;
  /** The note of an event that is one. */
  note: Note | undefined;
  /** The note's text, or the subject's description. */
  body: Body | undefined;
  /** Part of mail ids, the same at each attempt: letters, digits, dots and hyphens. */
  name: string;
  reason: Reason;
  /** `language` as users have it, `timezone` by IANA name; unknown values fall back to English and UTC. */
  recipient: { id: number; language: string; timezone: string | null };
  /** `fullName` includes the ancestors' names: `Fleet / Engine`. */
  place: {
    kind: 'project' | 'group';
    id: number;
    name: string;
    fullName: string;
    fullPath: string;
    url: string;
  };
  actor: { name: string; username: string } | undefined;
  at: Date;
  site: {
    url: string;
    /** The part of mail ids after the @. */
    host: string;
    /** The recipient's settings page. */
    settingsUrl: string;
  };
  /** Unsubscribes with one click; undefined where there is no subscription. */
  unsubscribeUrl: string | undefined;
};
