/** What a note tells the rest of the program: the feed, and who listens. */
import type { Announcement } from '../../core/activity/announce.ts';
import type { Actor } from '../../core/identity/actor.ts';
import type { NoteRow } from '../../core/work/notes.ts';
import { type Target, targetTypes } from '../../core/work/targets.ts';
import type { Json } from '../../platform/db/rows.ts';

const homeOf = ({ project, group }: Target): Record<string, Json> =>
  project ? { project_id: project.id } : { namespace_id: group?.id ?? null };

/** What it is about, for a listener. */
export const aboutTarget = (target: Target): Record<string, Json> => ({
  ...homeOf(target),
  noteable_type: targetTypes[target.kind],
  noteable_id: target.id ?? null,
  ...(target.sha !== undefined && { commit_id: target.sha }),
});

/** The event names the note, whose own target decides who may see it. */
export const noteAnnouncement = (actor: Actor, target: Target, note: NoteRow): Announcement => ({
  author: actor,
  activity: {
    action: 'commented',
    ...(target.project ? { projectId: target.project.id } : { namespaceId: target.group?.id ?? 0 }),
    targetType: note.in_thread ? 'DiscussionNote' : 'Note',
    targetId: note.id,
    details: { target_title: target.title, ...aboutTarget(target) },
  },
  fact: {
    name: 'note_created',
    payload: { ...aboutTarget(target), note_id: note.id, user_id: actor.id, internal: note.internal },
  },
});
