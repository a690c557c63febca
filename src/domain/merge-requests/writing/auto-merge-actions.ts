/** Automatic merges: wishes that wait for the checks (facts: Merging). */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { announcementParts } from '../../../kernel/activity/announce-actions.ts';
import type { Author } from '../../../kernel/actor.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { runAsOne } from '../../../platform/db/run-as-one.ts';
import { insertSystemNotes } from '../../conversation/index.ts';
import type { SystemNote } from '../../work-items/index.ts';
import type { MergeWish } from '../changes/merge-wish.ts';
import { mergeRequestNotes } from '../note-texts/system-notes.ts';
import { lockMergeRequest } from '../records/find-queries.ts';
import { mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { type MergeRequestEvent, mergeRequestAnnouncement } from './announcements.ts';

/** Writes the columns with a note and the announcement, by one statement. */
async function writeNoted(
  tx: Db,
  actor: Author,
  project: AuthorizedProject,
  row: MergeRequestRow,
  columns: Partial<Omit<MergeRequestRow, 'id'>>,
  { event, note }: { event: MergeRequestEvent; note: SystemNote },
): Promise<void> {
  await runAsOne(tx, {
    statements: [
      tx
        .updateTable('merge_requests')
        .set({ updated_at: now(), ...columns })
        .where('id', '=', row.id),
      insertSystemNotes(tx, mergeRequestNoteable(project, row), actor, [note]),
    ],
    parts: announcementParts([mergeRequestAnnouncement(actor, project, row, event)]),
  });
}

/** The columns of one that waits no longer. */
export const notWaiting = { auto_merge: null, merge_user_id: null, should_remove_source_branch: null };

/** Lets the wish wait, unless the merge request is no longer what it was made for; one that waits already is replaced. */
export const setAutoMerge = (
  db: Db,
  actor: Author,
  project: AuthorizedProject,
  { id, head_sha, target_branch }: MergeRequestRow,
  wish: MergeWish,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const row = await lockMergeRequest(tx, id);
    if (row.state !== 'opened' || row.head_sha !== head_sha || row.target_branch !== target_branch) return;
    const columns = {
      auto_merge: { ...wish, sha: head_sha ?? undefined, admin_mode: actor.adminMode } as Json,
      merge_user_id: actor.id,
      should_remove_source_branch: wish.shouldRemoveSourceBranch ?? row.should_remove_source_branch,
    };
    const note = mergeRequestNotes.autoMerge(head_sha ?? '');
    await writeNoted(tx, actor, project, row, columns, { event: 'merge_request_auto_merge_set', note });
  });

/** Ends the waiting with a note; nothing where none waits. The row as it is then. */
export const endAutoMerge = (
  db: Db,
  actor: Author,
  project: AuthorizedProject,
  id: number,
  note: SystemNote,
): Promise<MergeRequestRow> =>
  inTransaction(db, async (tx) => {
    const row = await lockMergeRequest(tx, id);
    if (row.auto_merge === null) return row;
    const columns = { ...notWaiting, updated_at: now() };
    await writeNoted(tx, actor, project, row, columns, { event: 'merge_request_updated', note });
    return { ...row, ...columns };
  });
