/** What follows when the last open thread of a merge request is resolved. */
import { announcementParts } from '../../../kernel/activity/announce-actions.ts';
import type { Author } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { runAsOne } from '../../../platform/db/run-as-one.ts';
import { insertSystemNotes, type Noteable } from '../../conversation/index.ts';
import { mergeRequestNotes } from '../note-texts/system-notes.ts';
import { mergeRequestAnnouncement } from './announcements.ts';

/** The note, and the fact for listeners. */
export async function writeThreadsResolved(tx: Db, actor: Author, mergeRequest: Noteable): Promise<void> {
  const { project, id, iid, title } = mergeRequest;
  if (!project || id === undefined || iid === undefined) return;
  const about = { id, iid, title };
  await runAsOne(tx, {
    statements: [insertSystemNotes(tx, mergeRequest, actor, [mergeRequestNotes.threadsResolved()])],
    parts: announcementParts([
      mergeRequestAnnouncement(actor, project, about, 'merge_request_threads_resolved'),
    ]),
  });
}
