/** Releases in mails, until the capability that will have them registers this. */

import { createCatalog } from '../../../kernel/mail/texts.ts';
import { type NotificationFact, notificationEvent } from './events.ts';
import type { MailContents } from './mail-contents.ts';
import german from './releases.de.json' with { type: 'json' };
import english from './releases.en.json' with { type: 'json' };

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

const texts = createCatalog({ en: english, de: german });

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
    target: { kind: 'release', key: id, url, title, headers: { 'Release-ID': String(id) }, texts },
    topic: ({ language }) => texts(language).say('topic', { name: title }),
    rows: ({ language }) => [{ label: texts(language).say('tag'), value: tag }],
  };
}
