/** Asks reviewers of a merge request to look at it again. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { announcementParts } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { runAsOne } from '../../../platform/db/run-as-one.ts';
import { addTodos, insertSystemNotes, usersByIds } from '../../conversation/index.ts';
import { mergeRequestNotes } from '../note-texts/system-notes.ts';
import { mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { mergeRequestAnnouncement } from './announcements.ts';

/** What these reviewers said of it no longer counts, their approvals neither; those who review it no longer are left out. */
export async function askForReviewAgain(
  tx: Db,
  actor: Actor,
  project: AuthorizedProject,
  row: MergeRequestRow,
  userIds: readonly number[],
): Promise<void> {
  const changed = await tx
    .updateTable('merge_request_reviewers')
    .set({ state: 'unreviewed' })
    .where('merge_request_id', '=', row.id)
    .where('user_id', 'in', [...userIds])
    .returning('user_id')
    .execute();
  const people = await usersByIds(
    tx,
    changed.map(({ user_id }) => user_id),
  );
  if (people.length === 0) return;
  const removed = await tx
    .deleteFrom('merge_request_approvals')
    .where('merge_request_id', '=', row.id)
    .where('user_id', 'in', [...userIds])
    .returning('user_id')
    .execute();
  const hadApproved = new Set(removed.map(({ user_id }) => user_id));
  const noteable = mergeRequestNoteable(project, row);
  const added = people.map(({ id, username }) => ({ id, username }));
  const details = { changes: { reviewers: { added, removed: [] } } };
  await runAsOne(tx, {
    statements: [
      insertSystemNotes(
        tx,
        noteable,
        actor,
        people.map((reviewer) => mergeRequestNotes.reviewAgain(reviewer, hadApproved.has(reviewer.id))),
      ),
    ],
    parts: announcementParts([
      mergeRequestAnnouncement(actor, project, row, 'merge_request_updated', details),
    ]),
  });
  const others = people.filter(({ id }) => id !== actor.id);
  await addTodos(
    tx,
    { author: actor, target: noteable },
    others.map(({ id }) => ({ userId: id, action: 'review_requested' as const })),
  );
}
