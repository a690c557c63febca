/** Merge requests in mails, until the capability that will have them registers this. */

import type { NotificationEventName } from '../settings/levels.ts';
import {
  idsOf,
  type NotificationEvent,
  type NotificationFact,
  notificationEvent,
  type PeopleChanges,
  reassigned,
} from './events.ts';
import {
  changeRow,
  type MailContents,
  type PeopleChange,
  type Row,
  shortSha,
  valuesRow,
} from './mail-contents.ts';
import type { InLanguages, SubjectWords, Words } from './mail-words.ts';

type MergeRequestFact = {
  project_id: number;
  /** The actor. */
  user_id: number;
  merge_request_id: number;
};

const aboutMergeRequest = ({ project_id, user_id, merge_request_id }: MergeRequestFact) => ({
  actorId: user_id,
  projectId: project_id,
  subject: { kind: 'merge_request', id: merge_request_id },
});

const changed =
  (event: NotificationEventName) =>
  (fact: MergeRequestFact): NotificationEvent[] => [notificationEvent(event, aboutMergeRequest(fact))];

export const mergeRequestFacts: readonly NotificationFact[] = [
  {
    name: 'merge_request_created',
    eventsOf: (fact: MergeRequestFact & { approver_ids: number[] }) => [
      notificationEvent('new_merge_request', aboutMergeRequest(fact)),
      ...(fact.approver_ids.length > 0
        ? [
            notificationEvent('approver', {
              ...aboutMergeRequest(fact),
              involved: { approvers: fact.approver_ids },
            }),
          ]
        : []),
    ],
  },
  {
    name: 'merge_request_updated',
    eventsOf: (fact: MergeRequestFact & { assignees?: PeopleChanges; reviewers?: PeopleChanges }) => [
      ...(fact.assignees
        ? [reassigned('reassign_merge_request', aboutMergeRequest(fact), fact.assignees)]
        : []),
      ...(fact.reviewers
        ? [
            notificationEvent('change_reviewer_merge_request', {
              ...aboutMergeRequest(fact),
              involved: {
                reviewing: idsOf(fact.reviewers.added),
                noLongerReviewing: idsOf(fact.reviewers.removed),
              },
            }),
          ]
        : []),
    ],
  },
  { name: 'merge_request_closed', eventsOf: changed('close_merge_request') },
  { name: 'merge_request_reopened', eventsOf: changed('reopen_merge_request') },
  { name: 'merge_request_merged', eventsOf: changed('merge_merge_request') },
  { name: 'merge_request_pushed', eventsOf: changed('push_to_merge_request') },
  { name: 'merge_request_auto_merge_set', eventsOf: changed('merge_when_pipeline_succeeds') },
];

export type MailedMergeRequest = {
  id: number;
  iid: number;
  title: string;
  url: string;
  state: 'opened' | 'closed' | 'merged' | 'locked';
  sourceBranch: string;
  targetBranch: string;
  /** Names of users. */
  assignees: readonly string[];
  reviewers: readonly string[];
  labels: readonly string[];
  milestone: string | null;
};

type MergeRequestWords = SubjectWords & {
  reviewers: string;
  branches: string;
  newCommits: (count: number) => string;
  moreCommits: (count: number) => string;
};

const words: InLanguages<MergeRequestWords> = {
  en: {
    happened: {
      new_merge_request: (who) => `${who} opened a merge request`,
      approver: (who) => `${who} opened a merge request that you can approve`,
      close_merge_request: (who) => `${who} closed a merge request`,
      reopen_merge_request: (who) => `${who} reopened a merge request`,
      merge_merge_request: (who) => `${who} merged a merge request`,
      merge_when_pipeline_succeeds: (who) =>
        `${who} set a merge request to be merged as soon as its checks pass`,
      reassign_merge_request: (who) => `${who} reassigned a merge request`,
      change_reviewer_merge_request: (who) => `${who} changed who reviews a merge request`,
      push_to_merge_request: (who) => `${who} pushed to a merge request`,
      new_note: (who) => `${who} commented on a merge request`,
    },
    replied: (who) => `${who} replied on a merge request`,
    open: 'View the merge request',
    reviewers: 'Reviewers',
    branches: 'Branches',
    newCommits: (count) => `${count} ${count === 1 ? 'new commit' : 'new commits'}`,
    moreCommits: (count) => `and ${count} more`,
  },
  de: {
    happened: {
      new_merge_request: (who) => `${who} hat einen Merge-Request eröffnet`,
      approver: (who) => `${who} hat einen Merge-Request eröffnet, den Sie genehmigen können`,
      close_merge_request: (who) => `${who} hat einen Merge-Request geschlossen`,
      reopen_merge_request: (who) => `${who} hat einen Merge-Request wieder geöffnet`,
      merge_merge_request: (who) => `${who} hat einen Merge-Request zusammengeführt`,
      merge_when_pipeline_succeeds: (who) =>
        `${who} lässt einen Merge-Request zusammenführen, sobald seine Prüfungen bestanden sind`,
      reassign_merge_request: (who) => `${who} hat einen Merge-Request neu zugewiesen`,
      change_reviewer_merge_request: (who) => `${who} hat geändert, wer einen Merge-Request prüft`,
      push_to_merge_request: (who) => `${who} hat zu einem Merge-Request gepusht`,
      new_note: (who) => `${who} hat einen Merge-Request kommentiert`,
    },
    replied: (who) => `${who} hat in einem Merge-Request geantwortet`,
    open: 'Merge-Request ansehen',
    reviewers: 'Prüfung durch',
    branches: 'Branches',
    newCommits: (count) => `${count} ${count === 1 ? 'neuer Commit' : 'neue Commits'}`,
    moreCommits: (count) => `und ${count} weitere`,
  },
};

type Changes = {
  /** Of assignees or reviewers. */
  people?: PeopleChange;
  /** The first new commits, and the number of all. */
  commits?: readonly { sha: string; title: string; url: string }[];
  count?: number;
};

/** The contents of a mail about the merge request. Pure. */
export function mergeRequestMail(
  event: NotificationEventName,
  mergeRequest: MailedMergeRequest,
  { people = { from: [], to: [] }, commits = [], count = 0 }: Changes = {},
): MailContents {
  const { id, iid, url, title, state, milestone, sourceBranch, targetBranch } = mergeRequest;
  const target = {
    kind: 'merge_request',
    key: id,
    url,
    title: `${title} (!${iid})`,
    headers: {
      'MergeRequest-ID': String(id),
      'MergeRequest-IID': String(iid),
      'MergeRequest-State': state,
    },
    words,
  };
  const branches = ({ language }: Words): Row => ({
    label: words[language].branches,
    value: `${sourceBranch} → ${targetBranch}`,
  });
  switch (event) {
    case 'new_merge_request':
    case 'approver':
      return {
        target,
        rows: (said) => [
          branches(said),
          ...valuesRow(said.rows.assignees, mergeRequest.assignees),
          ...valuesRow(words[said.language].reviewers, mergeRequest.reviewers),
          ...valuesRow(said.rows.labels, mergeRequest.labels),
          ...valuesRow(said.rows.milestone, milestone === null ? [] : [milestone]),
        ],
      };
    case 'reassign_merge_request':
      return { target, rows: (said) => [changeRow(said.rows.assignees, people, said)] };
    case 'change_reviewer_merge_request':
      return { target, rows: (said) => [changeRow(words[said.language].reviewers, people, said)] };
    case 'merge_merge_request':
    case 'merge_when_pipeline_succeeds':
      return { target, rows: (said) => [branches(said)] };
    case 'push_to_merge_request': {
      const rest = count - commits.length;
      return {
        target,
        rows: (said) => [branches(said)],
        list: ({ language }) => ({
          label: words[language].newCommits(count),
          items: commits.map((commit) => ({
            text: `${shortSha(commit.sha)} ${commit.title}`,
            url: commit.url,
          })),
          rest: rest > 0 ? words[language].moreCommits(rest) : undefined,
        }),
      };
    }
    default:
      return { target };
  }
}
