/** Projects as subjects of notification events: their moves, which members get mails about. */

import { createCatalog } from '../../../kernel/mail/texts.ts';
import {
  type MailContents,
  type NotificationFact,
  type NotificationSubject,
  notificationEvent,
} from '../../notifications/index.ts';
import german from './mail-texts.de.json' with { type: 'json' };
import english from './mail-texts.en.json' with { type: 'json' };

const texts = createCatalog({ en: english, de: german });

/** The contents of a mail about the move between full paths. Pure. */
export const projectMoveMail = (project: {
  id: number;
  url: string;
  from: string;
  to: string;
}): MailContents => ({
  target: { kind: 'project', key: project.id, url: project.url, title: project.to, headers: {}, texts },
  topic: ({ language }) => texts(language).say('moved'),
  rows: ({ language }) => [
    { label: texts(language).say('from'), value: project.from },
    { label: texts(language).say('to'), value: project.to },
    { label: texts(language).say('clone'), value: `${project.url}.git` },
  ],
});

export const projectFact: NotificationFact = {
  name: 'project_moved',
  eventsOf: ({ project_id }: { project_id: number }) => [
    notificationEvent('moved_project', {
      projectId: project_id,
      subject: { kind: 'project', id: project_id },
    }),
  ],
};

/** Users who may read the project at its new path get the mail. */
export const projectSubject: NotificationSubject = {
  kind: 'project',
  load: async ({ services, context: { id, fullPath }, job: { payload } }) => ({
    authorId: undefined,
    assigneeIds: [],
    reviewerIds: [],
    said: null,
    contents: async () =>
      projectMoveMail({
        id,
        url: `${services.baseUrl()}/${fullPath}`,
        from: String(payload.from),
        to: String(payload.to),
      }),
  }),
};
