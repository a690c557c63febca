/** Announcements of epics, for the feed, the audit trail and listeners. */
import type { AuthorizedGroup } from '../../../../kernel/access/find.ts';
import type { ActivityAction, Announcement } from '../../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import type { Json } from '../../../../platform/db/rows.ts';
import { mayNameNoteables } from '../../../conversation/index.ts';

/** The announcement of the event. An epic that is not inserted yet has no id: its insert adds it. */
export function epicAnnouncement(
  author: Actor,
  group: AuthorizedGroup,
  { id, title, description }: { id?: number; title: string; description?: string | null },
  event: 'epic_created' | 'epic_updated' | 'epic_destroyed',
  action?: ActivityAction,
  details: Record<string, Json> = {},
): Announcement {
  const isKnown = id !== undefined;
  const may_name = mayNameNoteables(`${title}\n${description ?? ''}`);
  return {
    author,
    audit: {
      entity: { type: 'Group', id: group.id, path: group.row.full_path },
      event,
      details: {
        ...(isKnown && { target_id: id }),
        target_type: 'Epic',
        target_details: title,
        ...details,
      },
    },
    ...(action && {
      activity: { action, namespaceId: group.id, targetType: 'Epic', ...(isKnown && { targetId: id }) },
    }),
    fact: {
      name: event,
      payload: {
        group_id: group.id,
        user_id: author.id,
        ...(isKnown && { epic_id: id }),
        may_name,
        ...details,
      },
    },
  };
}
