/** Contents of mails about merge requests. Pure. */
import { createCatalog } from '../../../kernel/mail/texts.ts';
import { shortSha } from '../../../platform/git/commit-texts.ts';
import {
  changeRow,
  type MailContents,
  type MailTexts,
  type NotificationEventName,
  type PeopleChange,
  type Row,
  valuesRow,
} from '../../notifications/index.ts';
import german from './mail-texts.de.json' with { type: 'json' };
import english from './mail-texts.en.json' with { type: 'json' };

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

/** What an event changed. */
export type MergeRequestNews = {
  /** Of assignees or reviewers. */
  people?: PeopleChange;
  /** The newest commits, and the number of all new ones. */
  commits?: readonly { sha: string; title: string; url: string }[];
  count?: number;
};

/** The contents of a mail about the merge request. */
export function mergeRequestMail(
  event: NotificationEventName,
  mergeRequest: MailedMergeRequest,
  { people = { from: [], to: [] }, commits = [], count = 0 }: MergeRequestNews = {},
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
        ...(count > 0 && {
          list: ({ language }: MailTexts) => ({
            label: texts(language).say('newCommits', { count }),
            items: commits.map((commit) => ({
              text: `${shortSha(commit.sha)} ${commit.title}`,
              url: commit.url,
            })),
            rest: rest > 0 ? texts(language).say('moreCommits', { count: rest }) : undefined,
          }),
        }),
      };
    }
    default:
      return { target };
  }
}
