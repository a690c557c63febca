/** Announcements of notes, for the feed and for listeners. */
import type { Announcement } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Json } from '../../../platform/db/rows.ts';
import type { AwardChange } from '../noteables/award-actions.ts';
import { mayNameNoteables } from '../noteables/named-noteables.ts';
import type { Noteable } from '../noteables/noteables.ts';

const homeOf = ({ project, group }: Noteable): Record<string, Json> =>
  project ? { project_id: project.id } : { namespace_id: group?.id ?? null };

/** The noteable in the payload of a fact. */
export const noteablePayload = (noteable: Noteable): Record<string, Json> => ({
  ...homeOf(noteable),
  noteable_type: noteable.kind.type,
  noteable_id: noteable.id ?? null,
  ...(noteable.sha !== undefined && { commit_id: noteable.sha }),
});

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
