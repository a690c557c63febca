/** The fact of an epic that mails follow. */
import { type NotificationFact, notificationEvent } from '../../../notifications/index.ts';

export const epicFact: NotificationFact = {
  name: 'epic_created',
  eventsOf: ({ group_id, user_id, epic_id }: { group_id: number; user_id: number; epic_id: number }) => [
    notificationEvent('new_epic', {
      actorId: user_id,
      groupId: group_id,
      subject: { kind: 'epic', id: epic_id },
    }),
  ],
};
