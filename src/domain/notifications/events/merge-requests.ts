/** Merge requests in mails, until the capability that will have them registers this. */

import { createCatalog } from '../../../kernel/mail/texts.ts';
import { shortSha } from '../../../platform/git/commit-texts.ts';
import type { NotificationEventName } from '../settings/levels.ts';
import {
  idsOf,
  type NotificationEvent,
  type NotificationFact,
  notificationEvent,
  type PeopleChanges,
  reassigned,
} from './events.ts';
import { changeRow, type MailContents, type PeopleChange, type Row, valuesRow } from './mail-contents.ts';
import type { MailTexts } from './mail-texts.ts';
import german from './merge-requests.de.json' with { type: 'json' };
import english from './merge-requests.en.json' with { type: 'json' };

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

const texts = createCatalog({ en: english, de: german });

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
    texts,
  };
  const branches = ({ language }: MailTexts): Row => ({
    label: texts(language).say('branches'),
    value: `${sourceBranch} → ${targetBranch}`,
  });
  switch (event) {
    case 'new_merge_request':
    case 'approver':
      return {
        target,
        rows: (said) => [
          branches(said),
          ...valuesRow(said.say('assignees'), mergeRequest.assignees),
          ...valuesRow(texts(said.language).say('reviewers'), mergeRequest.reviewers),
          ...valuesRow(said.say('labels'), mergeRequest.labels),
          ...valuesRow(said.say('milestone'), milestone === null ? [] : [milestone]),
        ],
      };
    case 'reassign_merge_request':
      return { target, rows: (said) => [changeRow(said.say('assignees'), people, said)] };
    case 'change_reviewer_merge_request':
      return { target, rows: (said) => [changeRow(texts(said.language).say('reviewers'), people, said)] };
    case 'merge_merge_request':
    case 'merge_when_pipeline_succeeds':
      return { target, rows: (said) => [branches(said)] };
    case 'push_to_merge_request': {
      const rest = count - commits.length;
      return {
        target,
        rows: (said) => [branches(said)],
        list: ({ language }) => ({
          label: texts(language).say('newCommits', { count }),
          items: commits.map((commit) => ({
            text: `${shortSha(commit.sha)} ${commit.title}`,
            url: commit.url,
          })),
          rest: rest > 0 ? texts(language).say('moreCommits', { count: rest }) : undefined,
        }),
      };
    }
    default:
      return { target };
  }
}
