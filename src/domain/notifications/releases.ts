/** Releases in mails, until the capability that will have them registers this. */
import { type NotificationFact, notificationEvent } from '../../core/notifications/events.ts';

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
