/** Input of a mail. The caller loads all of it for the recipient, so that composing needs no database. */
import type { Reason } from '../../../core/notifications/audience.ts';

/** A text as written, and as core/markdown rendered it for the recipient. */
export type Body = {
  text: string;
  html: string;
  /** Whether the text is truncated: see cutBody(). */
  cut: boolean;
};

type Issue = {
  kind: 'issue';
  id: number;
  iid: number;
  title: string;
  url: string;
  state: 'opened' | 'closed';
  confidential: boolean;
  /** Names of users. */
  assignees: readonly string[];
  labels: readonly string[];
  milestone: string | null;
  /** `YYYY-MM-DD`. */
  dueDate: string | null;
};

type Epic = {
  kind: 'epic';
  id: number;
  iid: number;
  title: string;
  url: string;
  state: 'opened' | 'closed';
  confidential: boolean;
  labels: readonly string[];
  startDate: string | null;
  dueDate: string | null;
};

type MergeRequest = {
  kind: 'merge_request';
  id: number;
  iid: number;
  title: string;
  url: string;
  state: 'opened' | 'closed' | 'merged' | 'locked';
  sourceBranch: string;
  targetBranch: string;
  assignees: readonly string[];
  reviewers: readonly string[];
  labels: readonly string[];
  milestone: string | null;
};

type Commit = { kind: 'commit'; sha: string; title: string; url: string };

type Snippet = { kind: 'snippet'; id: number; title: string; url: string };

type Release = { kind: 'release'; id: number; name: string; tag: string; url: string };

type Pipeline = {
  kind: 'pipeline';
  id: number;
  url: string;
  ref: string;
  commit: { sha: string; title: string; url: string };
  /** Failed jobs, the first stage first. */
  failedJobs: readonly { name: string; stage: string; url: string }[];
};

type Project = {
  kind: 'project';
  id: number;
  url: string;
  /** Full paths. */
  from: string;
  to: string;
  /** The new address for cloning. */
  cloneUrl: string;
};

export type Note = {
  url: string;
  /** Whether it replies in a thread. */
  reply: boolean;
  /** Whether it is an internal note. */
  internal: boolean;
  discussionId: string;
  body: Body;
};

/** Names of users. */
export type PeopleChange = { from: readonly string[]; to: readonly string[] };

type Described = { description: Body | undefined };

/** The event and its target. */
export type Happening =
  | ({ event: 'new_issue' | 'issue_due'; target: Issue } & Described)
  | { event: 'close_issue' | 'reopen_issue'; target: Issue }
  | { event: 'reassign_issue'; target: Issue; change: PeopleChange }
  | { event: 'new_note'; target: Issue | Epic | MergeRequest | Commit | Snippet; note: Note }
  | ({ event: 'new_epic'; target: Epic } & Described)
  | ({ event: 'new_merge_request' | 'approver'; target: MergeRequest } & Described)
  | {
      event:
        | 'close_merge_request'
        | 'reopen_merge_request'
        | 'merge_merge_request'
        | 'merge_when_pipeline_succeeds';
      target: MergeRequest;
    }
  | {
      event: 'reassign_merge_request' | 'change_reviewer_merge_request';
      target: MergeRequest;
      change: PeopleChange;
    }
  | {
      event: 'push_to_merge_request';
      target: MergeRequest;
      /** The first commits. */
      commits: readonly { sha: string; title: string; url: string }[];
      /** The number of all commits. */
      count: number;
    }
  | { event: 'failed_pipeline' | 'fixed_pipeline' | 'success_pipeline'; target: Pipeline }
  | ({ event: 'new_release'; target: Release } & Described)
  | { event: 'moved_project'; target: Project };

export type MailTarget = Happening['target'];
export type MailTargetKind = MailTarget['kind'];

export type MailInput = Happening & {
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
