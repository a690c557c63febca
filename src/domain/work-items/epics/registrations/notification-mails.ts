/** Contents of mails about epics. Pure. */
import {
  dayRow,
  type InLanguages,
  type MailContents,
  type NotificationEventName,
  type SubjectWords,
  valuesRow,
} from '../../../notifications/index.ts';

export type MailedEpic = {
  id: number;
  iid: number;
  title: string;
  url: string;
  state: 'opened' | 'closed';
  confidential: boolean;
  labels: readonly string[];
  /** `YYYY-MM-DD`. */
  startDate: string | null;
  dueDate: string | null;
};

const words: InLanguages<SubjectWords> = {
  en: {
    happened: {
      new_epic: (who) => `${who} opened an epic`,
      new_note: (who) => `${who} commented on an epic`,
    },
    replied: (who) => `${who} replied on an epic`,
    open: 'View the epic',
  },
  de: {
    happened: {
      new_epic: (who) => `${who} hat ein Epic eröffnet`,
      new_note: (who) => `${who} hat ein Epic kommentiert`,
    },
    replied: (who) => `${who} hat in einem Epic geantwortet`,
    open: 'Epic ansehen',
  },
};

/** The contents of a mail about the epic. */
export function epicMail(event: NotificationEventName, epic: MailedEpic): MailContents {
  const target = {
    kind: 'epic',
    key: epic.id,
    url: epic.url,
    title: `${epic.title} (&${epic.iid})`,
    confidential: epic.confidential,
    headers: { 'Epic-ID': String(epic.id), 'Epic-IID': String(epic.iid), 'Epic-State': epic.state },
    words,
  };
  if (event !== 'new_epic') return { target };
  return {
    target,
    rows: (said) => [
      ...valuesRow(said.rows.labels, epic.labels),
      ...dayRow(said.rows.start, epic.startDate, said),
      ...dayRow(said.rows.due, epic.dueDate, said),
    ],
  };
}
