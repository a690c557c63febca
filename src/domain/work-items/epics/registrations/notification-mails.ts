/** Contents of mails about epics. Pure. */

import { createCatalog } from '../../../../kernel/mail/texts.ts';
import {
  dayRow,
  type MailContents,
  type NotificationEventName,
  valuesRow,
} from '../../../notifications/index.ts';
import german from './mail-texts.de.json' with { type: 'json' };
import english from './mail-texts.en.json' with { type: 'json' };

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

const texts = createCatalog({ en: english, de: german });

/** The contents of a mail about the epic. */
export function epicMail(event: NotificationEventName, epic: MailedEpic): MailContents {
  const target = {
    kind: 'epic',
    key: epic.id,
    url: epic.url,
    title: `${epic.title} (&${epic.iid})`,
    confidential: epic.confidential,
    headers: { 'Epic-ID': String(epic.id), 'Epic-IID': String(epic.iid), 'Epic-State': epic.state },
    texts,
  };
  if (event !== 'new_epic') return { target };
  return {
    target,
    rows: (said) => [
      ...valuesRow(said.say('labels'), epic.labels),
      ...dayRow(said.say('start'), epic.startDate, said),
      ...dayRow(said.say('due'), epic.dueDate, said),
    ],
  };
}
