/** What every language has words for. Each sentence stands alone, so that a language orders its own. */
import type { Reason } from '../../../core/notifications/audience.ts';
import type { NotificationEventName } from '../../../core/notifications/levels.ts';
import type { MailTargetKind } from './inputs.ts';

type Noteable = 'issue' | 'epic' | 'merge_request' | 'commit' | 'snippet';

export type Words = {
  /** Of the parts of the mail (RFC 3282). */
  language: string;
  /** As days and times are written. */
  locale: string;
  /** Stands for who did it when that is unknown. */
  somebody: string;
  /** What happened, by whom. */
  happened: Record<Exclude<NotificationEventName, 'new_note'>, (who: string) => string>;
  commented: Record<Noteable, (who: string) => string>;
  replied: Record<Noteable, (who: string) => string>;
  /** Subjects of what has no title. */
  subjects: {
    failed_pipeline: (ref: string) => string;
    fixed_pipeline: (ref: string) => string;
    success_pipeline: (ref: string) => string;
    new_release: (name: string) => string;
    moved_project: string;
  };
  pipeline: (id: number) => string;
  /** Names of what is told in rows. */
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
  /** What the button says. */
  open: Record<MailTargetKind | 'note', string>;
  /** Why somebody gets the mail; `place` is the project or group. */
  why: Record<Reason, (place: string) => string>;
  unsubscribe: string;
  settings: string;
  sentBy: (site: string) => string;
};
