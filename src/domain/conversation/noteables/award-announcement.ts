/** Announcements of awards, for listeners. */
import type { Announcement } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { AwardChange } from './award-actions.ts';
import { noteablePayload } from './noteable-payload.ts';
import type { Noteable } from './noteables.ts';

/** Of an award that the actor gave or took back; the fact keeps it, as it may have no row any more. */
export const awardAnnouncement = (
  actor: Actor,
  noteable: Noteable,
  { event, award }: AwardChange,
): Announcement => ({
  author: actor,
  fact: {
    name: event,
    payload: {
      ...noteablePayload(noteable),
      user_id: actor.id,
      note_id: award.note_id,
      award: {
        user_id: award.user_id,
        created_at: award.created_at.toISOString(),
        id: award.id,
        name: award.name,
        updated_at: award.updated_at.toISOString(),
      },
    },
  },
});
