/** Contents of mails about issues. Pure. */
import {
  changeRow,
  dayRow,
  type InLanguages,
  type MailContents,
  type NotificationEventName,
  type PeopleChange,
  type Row,
  type SubjectWords,
  valuesRow,
  type Words,
} from '../../../notifications/index.ts';

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

const words: InLanguages<SubjectWords> = {
  en: {
    happened: {
      new_issue: (who) => `${who} opened an issue`,
      close_issue: (who) => `${who} closed an issue`,
      reopen_issue: (who) => `${who} reopened an issue`,
      reassign_issue: (who) => `${who} reassigned an issue`,
      issue_due: () => 'An issue is due tomorrow',
      new_note: (who) => `${who} commented on an issue`,
    },
    replied: (who) => `${who} replied on an issue`,
    open: 'View the issue',
  },
  de: {
    happened: {
      new_issue: (who) => `${who} hat ein Ticket eröffnet`,
      close_issue: (who) => `${who} hat ein Ticket geschlossen`,
      reopen_issue: (who) => `${who} hat ein Ticket wieder geöffnet`,
      reassign_issue: (who) => `${who} hat ein Ticket neu zugewiesen`,
      issue_due: () => 'Ein Ticket ist morgen fällig',
      new_note: (who) => `${who} hat ein Ticket kommentiert`,
    },
    replied: (who) => `${who} hat in einem Ticket geantwortet`,
    open: 'Ticket ansehen',
  },
};

const properties = (issue: MailedIssue, said: Words): Row[] => [
  ...valuesRow(said.rows.assignees, issue.assignees),
  ...valuesRow(said.rows.labels, issue.labels),
  ...valuesRow(said.rows.milestone, issue.milestone === null ? [] : [issue.milestone]),
  ...dayRow(said.rows.due, issue.dueDate, said),
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
    words,
  };
  if (change) return { target, rows: (said) => [changeRow(said.rows.assignees, change, said)] };
  if (event !== 'new_issue' && event !== 'issue_due') return { target };
  return { target, rows: (said) => properties(issue, said) };
}
