/**
 * Statements of merging. A merge request that is being merged is `locked`, and `merging` says what is about to be written: who
 * finds it so after its process has died looks into the repository, whether it was.
 */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { announcementParts } from '../../../kernel/activity/announce-actions.ts';
import type { Author } from '../../../kernel/actor.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { DEAD_AFTER_SECONDS } from '../../../platform/db/processes.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { runAsOne } from '../../../platform/db/run-as-one.ts';
import { addJobs } from '../../../platform/jobs/jobs.ts';
import { completionOfTodos } from '../../conversation/index.ts';
import { insertResourceEvents } from '../../work-items/index.ts';
import { mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { mergeRequestAnnouncement } from './announcements.ts';
import { jobsForUnlocked } from './following-jobs.ts';

const MAX_SETTLED_AT_ONCE = 100;
/** Nothing that git and the database do between the claim and the record takes so long. */
const MAX_MERGE_MS = 300_000;

/** What a merge is about to write. */
export type Merging = {
  /** Of the process that merges. */
  process: string;
  /** In milliseconds since 1970. */
  since: number;
  /** What the target branch will be. */
  head: string;
  mergeCommit: string | null;
  squashCommit: string | null;
  /** Whether the source branch is to go; null where only the merge request's own choice says so. */
  shouldRemove: boolean | null;
  userId: number;
};

/**
 * Locks an open merge request for a merge of this head into this branch, by its title; false where another request was faster.
 */
export async function claimMerge(
  db: Db,
  { id, head_sha, target_branch, title, merge_after }: MergeRequestRow,
  merging: Merging,
): Promise<boolean> {
  const claimed = await db
    .updateTable('merge_requests')
    .set({ state: 'locked', merging: merging as unknown as Json })
    .where('id', '=', id)
    .where('state', '=', 'opened')
    .where('head_sha', '=', head_sha)
    .where('target_branch', '=', target_branch)
    .where('title', '=', title)
    .where('merge_after', 'is not distinct from', merge_after)
    .returning('id')
    .executeTakeFirst();
  return claimed !== undefined;
}

/** Opens again what is locked for a merge to this head, and has it follow its branches. */
export const unclaimMerge = (db: Db, id: number, head: string): Promise<void> =>
  inTransaction(db, async (tx) => {
    const unlocked = await tx
      .updateTable('merge_requests')
      .set({ state: 'opened', merging: null })
      .where('id', '=', id)
      .where('state', '=', 'locked')
      .where(sql`merging ->> 'head'`, '=', head)
      .returning(['project_id', 'source_project_id', 'target_branch'])
      .executeTakeFirst();
    if (unlocked) await addJobs(tx, jobsForUnlocked(unlocked));
  });

/**
 * Those whose merge a dead process left, or one that could not record it in time. The one that asks lives, also where a machine
 * that stood still has kept its heart from beating.
 */
export const selectInterrupted = (db: Db, ownProcess: string): Promise<MergeRequestRow[]> =>
  db
    .selectFrom('merge_requests')
    .selectAll()
    .where('state', '=', 'locked')
    .where(
      sql<boolean>`((merging ->> 'since')::bigint < ${now().getTime() - MAX_MERGE_MS}
        or merging ->> 'process' is distinct from ${ownProcess} and not exists (select from processes p where p.id::text = merging ->> 'process'
          and p.beat_at > clock_timestamp() - make_interval(secs => ${DEAD_AFTER_SECONDS})))`,
    )
    .limit(MAX_SETTLED_AT_ONCE)
    .execute();

/**
 * What is to be recorded as merged: an open one as it was found, or one that was locked for a merge to this head, which is open
 * again where another process took the one that merged for dead.
 */
type Unrecorded = Pick<MergeRequestRow, 'id' | 'head_sha' | 'target_branch'> & { lockedFor?: string };

/**
 * What a merge that is done writes: the state, its event and announcement, the actor's to-dos; the row then. Nothing where another
 * has recorded it, or it was closed or deleted meanwhile.
 */
export async function recordMerged(
  tx: Db,
  actor: Author,
  project: AuthorizedProject,
  { id, head_sha, target_branch, lockedFor }: Unrecorded,
  commits: Pick<Merging, 'mergeCommit' | 'squashCommit' | 'shouldRemove'>,
): Promise<MergeRequestRow | undefined> {
  const time = now();
  const row = await tx
    .updateTable('merge_requests')
    .set({
      state: 'merged',
      merging: null,
      auto_merge: null,
      merge_error: null,
      merge_status: 'can_be_merged',
      merge_user_id: actor.id,
      merged_at: time,
      merge_commit_sha: commits.mergeCommit,
      squash_commit_sha: commits.squashCommit,
      should_remove_source_branch: commits.shouldRemove,
      updated_at: time,
    })
    .where('id', '=', id)
    .where('head_sha', '=', head_sha)
    .where('target_branch', '=', target_branch)
    .where(
      lockedFor === undefined
        ? sql<boolean>`state = 'opened'`
        : sql<boolean>`(state = 'locked' and merging ->> 'head' = ${lockedFor} or state = 'opened')`,
    )
    .returningAll()
    .executeTakeFirst();
  if (!row) return undefined;
  // What was merged on the command line leaves its branch to who did that.
  const removes =
    lockedFor !== undefined && (row.should_remove_source_branch ?? row.force_remove_source_branch);
  const details = { removes_source_branch: removes === true };
  await runAsOne(ahead(tx), {
    statements: [
      insertResourceEvents(tx, { merge_request_id: id }, actor.id, [{ kind: 'state', action: 'merged' }]),
      completionOfTodos(tx, actor.id, mergeRequestNoteable(project, row)),
    ],
    parts: announcementParts([
      mergeRequestAnnouncement(actor, project, row, 'merge_request_merged', details),
    ]),
  });
  return row;
}

/** Writes why the last merge or rebase failed, or that it did not. */
export const setMergeError = (db: Db, id: number, error: string | null): Promise<unknown> =>
  db.updateTable('merge_requests').set({ merge_error: error }).where('id', '=', id).execute();
