/** Projects as subjects of notification events: their moves, which members get mails about. */
import {
  type InLanguages,
  type MailContents,
  type NotificationFact,
  type NotificationSubject,
  notificationEvent,
  type SubjectWords,
} from '../../notifications/index.ts';

const words: InLanguages<SubjectWords & Record<'moved' | 'from' | 'to' | 'clone', string>> = {
  en: {
    happened: { moved_project: () => 'A project has moved' },
    open: 'View the project',
    moved: 'Project was moved',
    from: 'Before',
    to: 'Now',
    clone: 'Clone from',
  },
  de: {
    happened: { moved_project: () => 'Ein Projekt ist umgezogen' },
    open: 'Projekt ansehen',
    moved: 'Projekt umgezogen',
    from: 'Bisher',
    to: 'Jetzt',
    clone: 'Klonen von',
  },
};

/** The contents of a mail about the move between full paths. Pure. */
export const projectMoveMail = (project: {
  id: number;
  url: string;
  from: string;
  to: string;
}): MailContents => ({
  target: { kind: 'project', key: project.id, url: project.url, title: project.to, headers: {}, words },
  topic: ({ language }) => words[language].moved,
  rows: ({ language }) => [
    { label: words[language].from, value: project.from },
    { label: words[language].to, value: project.to },
    { label: words[language].clone, value: `${project.url}.git` },
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
