/** Makes dependencies between merge requests, and removes them. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { announcementParts } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { runAsOne } from '../../../platform/db/run-as-one.ts';
import { lockMergeRequest } from '../records/find-queries.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { mergeRequestAnnouncement } from '../writing/announcements.ts';
import { type BlockRow, selectCandidates } from './queries.ts';
import { refuseBlock } from './rules.ts';

/** One dependency at a time is made in the whole instance: three that are made at once could close a circle. */
const lockDependencies = (tx: Db) =>
  sql`select pg_advisory_xact_lock(hashtextextended('merge request dependencies', 0))`.execute(ahead(tx));

/** Lets the one wait for the other; fails for what refuseBlock() refuses. */
export const createBlock = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  blocking: Pick<MergeRequestRow, 'id'>,
  blocked: MergeRequestRow,
): Promise<BlockRow> =>
  inTransaction(db, async (tx) => {
    await lockDependencies(tx);
    const { id, candidates } = await selectCandidates(tx, blocking.id, blocked.id);
    const refusal = refuseBlock(candidates);
    if (refusal) throw refusal;
    const row = { id, blocking_id: blocking.id, blocked_id: blocked.id, created_at: now() };
    const announcement = mergeRequestAnnouncement(actor, project, blocked, 'merge_request_updated');
    await runAsOne(tx, {
      statements: [
        sql`insert into merge_request_blocks (id, blocking_id, blocked_id, created_at) overriding system value
          values (${row.id}, ${row.blocking_id}, ${row.blocked_id}, ${row.created_at})`,
      ],
      parts: announcementParts([announcement]),
    });
    return { ...row, project_id: blocked.project_id };
  });

/** Removes the dependency: a merge request that waits is looked at anew. */
export const deleteBlock = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  { id }: Pick<BlockRow, 'id'>,
  blockedId: number,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const row = await lockMergeRequest(tx, blockedId);
    await runAsOne(tx, {
      statements: [tx.deleteFrom('merge_request_blocks').where('id', '=', id)],
      parts: announcementParts([mergeRequestAnnouncement(actor, project, row, 'merge_request_updated')]),
    });
  });
