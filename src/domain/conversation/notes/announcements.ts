/** Announcements of notes, for the feed and for listeners. */
import type { Announcement } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { mayNameNoteables } from '../noteables/named-noteables.ts';
import { noteablePayload } from '../noteables/noteable-payload.ts';
import type { Noteable } from '../noteables/noteables.ts';

/** Of a comment with another text. */
export const editAnnouncement = (
  actor: Actor,
  noteable: Noteable,
  note: { id: number; internal: boolean; body: string },
): Announcement => ({
  author: actor,
  fact: {
    name: 'note_edited',
    payload: {
      ...noteablePayload(noteable),
      user_id: actor.id,
      note_id: note.id,
      internal: note.internal,
      may_name: mayNameNoteables(note.body),
    },
  },
});

/** The event refers to the note, whose noteable decides its visibility; the insert adds its id. */
export const noteAnnouncement = (
  actor: Actor,
  noteable: Noteable,
  note: { inThread: boolean; inDiff: boolean; internal: boolean; inReview: boolean; body: string },
): Announcement => ({
  author: actor,
  activity: {
    action: 'commented',
    ...(noteable.project ? { projectId: noteable.project.id } : { namespaceId: noteable.group?.id ?? 0 }),
    targetType: note.inDiff ? 'DiffNote' : note.inThread ? 'DiscussionNote' : 'Note',
    details: { target_title: noteable.title, ...noteablePayload(noteable) },
  },
  fact: {
    name: 'note_created',
    payload: {
      ...noteablePayload(noteable),
      user_id: actor.id,
      internal: note.internal,
      in_review: note.inReview,
      may_name: mayNameNoteables(note.body),
    },
  },
});
