/**
 * The vocabulary of a language. Each entry is a whole sentence, so that languages choose their word order.
 */
import type { Reason } from '../../../core/notifications/audience.ts';
import type { NotificationEventName } from '../../../core/notifications/levels.ts';
import type { MailTargetKind } from './inputs.ts';

type Noteable = 'issue' | 'epic' | 'merge_request' | 'commit' | 'snippet';

export type Words = {
  /** The mail's language tag (RFC 3282). */
  language: string;
  /** The locale of dates and times. */
  locale: string;
  /** The actor's name where it is unknown. */
  somebody: string;
  /** The event in one sentence, by its actor. */
  happened: Record<Exclude<NotificationEventName, 'new_note'>, (who: string) => string>;
  commented: Record<Noteable, (who: string) => string>;
  replied: Record<Noteable, (who: string) => string>;
  /** Subjects of targets without a title. */
  subjects: {
    failed_pipeline: (ref: string) => string;
    fixed_pipeline: (ref: string) => string;
    success_pipeline: (ref: string) => string;
    new_release: (name: string) => string;
    moved_project: string;
  };
  pipeline: (id: number) => string;
  /** Labels of rows. */
  rows: Record<
    | 'assignees'
    | 'reviewers'
    | 'labels'
    | 'milestone'
    | 'due'
    | 'start'
    | 'branches'
    | 'branch'
    | 'commit'
    | 'tag'
    | 'from'
    | 'to'
    | 'clone',
    string
  >;
  nobody: string;
  confidential: string;
  internal: string;
  cut: string;
  newCommits: (count: number) => string;
  moreCommits: (count: number) => string;
  failedJobs: string;
  /** Labels of the button. */
  open: Record<MailTargetKind | 'note', string>;
  /** The reason for the mail; `place` is the project or group. */
  why: Record<Reason, (place: string) => string>;
  unsubscribe: string;
  settings: string;
  sentBy: (site: string) => string;
};
