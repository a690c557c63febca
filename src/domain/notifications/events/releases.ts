/** Releases in mails, until the capability that will have them registers this. */

import { type NotificationFact, notificationEvent } from './events.ts';
import type { MailContents } from './mail-contents.ts';
import type { InLanguages, SubjectWords } from './mail-words.ts';

export const releaseFact: NotificationFact = {
  name: 'release_created',
  eventsOf: ({
    project_id,
    user_id,
    release_id,
  }: {
    project_id: number;
    user_id: number;
    release_id: number;
  }) => [
    notificationEvent('new_release', {
      actorId: user_id,
      projectId: project_id,
      subject: { kind: 'release', id: release_id },
    }),
  ],
};

const words: InLanguages<SubjectWords & { tag: string; topic: (name: string) => string }> = {
  en: {
    happened: { new_release: (who) => `${who} published a release` },
    open: 'View the release',
    tag: 'Tag',
    topic: (name) => `New release: ${name}`,
  },
  de: {
    happened: { new_release: (who) => `${who} hat ein Release veröffentlicht` },
    open: 'Release ansehen',
    tag: 'Tag',
    topic: (name) => `Neues Release: ${name}`,
  },
};

/** The contents of a mail about the release. Pure. */
export function releaseMail({
  id,
  name,
  tag,
  url,
}: {
  id: number;
  name: string;
  tag: string;
  url: string;
}): MailContents {
  const title = name === tag ? name : `${name} (${tag})`;
  return {
    target: { kind: 'release', key: id, url, title, headers: { 'Release-ID': String(id) }, words },
    topic: ({ language }) => words[language].topic(title),
    rows: ({ language }) => [{ label: words[language].tag, value: tag }],
  };
}
