/** Contents of mails about issues. Pure. */

import { createCatalog } from '../../../../kernel/mail/texts.ts';
import {
  changeRow,
  dayRow,
  type MailContents,
  type MailTexts,
  type NotificationEventName,
  type PeopleChange,
  type Row,
  valuesRow,
} from '../../../notifications/index.ts';
import german from './mail-texts.de.json' with { type: 'json' };
import english from './mail-texts.en.json' with { type: 'json' };

export type MailedIssue = {
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

const texts = createCatalog({ en: english, de: german });

const properties = (issue: MailedIssue, said: MailTexts): Row[] => [
  ...valuesRow(said.say('assignees'), issue.assignees),
  ...valuesRow(said.say('labels'), issue.labels),
  ...valuesRow(said.say('milestone'), issue.milestone === null ? [] : [issue.milestone]),
  ...dayRow(said.say('due'), issue.dueDate, said),
];

/** The contents of a mail about the issue; `change` is that of its assignees. */
export function issueMail(
  event: NotificationEventName,
  issue: MailedIssue,
  change?: PeopleChange,
): MailContents {
  const target = {
    kind: 'issue',
    key: issue.id,
    url: issue.url,
    title: `${issue.title} (#${issue.iid})`,
    confidential: issue.confidential,
    headers: {
      'Issue-ID': String(issue.id),
      'Issue-IID': String(issue.iid),
      'Issue-State': issue.state,
      ConfidentialIssue: String(issue.confidential),
    },
    texts,
  };
  if (change) return { target, rows: (said) => [changeRow(said.say('assignees'), change, said)] };
  if (event !== 'new_issue' && event !== 'issue_due') return { target };
  return { target, rows: (said) => properties(issue, said) };
}
