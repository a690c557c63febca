/** New releases as events of which mails tell. */
import {
  type NotificationFact,
  type NotificationSubject,
  notificationEvent,
} from '../../notifications/index.ts';
import { releaseName, releaseUrl } from '../rules.ts';
import { type MailedRelease, selectMailedRelease } from './queries.ts';
import { releaseMail } from './release-mail.ts';

type ReleaseFact = { project_id: number; user_id: number; release_id: number };

export const releaseFact: NotificationFact = {
  name: 'release_created',
  eventsOf: ({ project_id, user_id, release_id }: ReleaseFact) => [
    notificationEvent('new_release', {
      actorId: user_id,
      projectId: project_id,
      subject: { kind: 'release', id: release_id },
    }),
  ],
};

export const releaseSubject: NotificationSubject = {
  kind: 'release',
  select: ({ projectId = 0, subject }) => selectMailedRelease(projectId, subject.id ?? 0),
  async load({ services, context, row }) {
    // That of selectMailedRelease().
    const release = row as MailedRelease | null;
    if (!release) return undefined;
    const { id, tag, description, author_id } = release;
    const url = releaseUrl(`${services.baseUrl()}/${context.fullPath}`, tag);
    return {
      authorId: author_id,
      assigneeIds: [],
      reviewerIds: [],
      said: null,
      ability: 'read_releases',
      contents: async () => ({ ...releaseMail({ id, name: releaseName(release), tag, url }), description }),
    };
  },
};
