/** The move of a project, which its members get mails about. */
import { type NotificationFact, notificationEvent } from '../../core/notifications/events.ts';

export const projectFact: NotificationFact = {
  name: 'project_moved',
  eventsOf: ({ project_id }: { project_id: number }) => [
    notificationEvent('moved_project', {
      projectId: project_id,
      subject: { kind: 'project', id: project_id },
    }),
  ],
};
