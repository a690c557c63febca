/** Open merge requests that a push concerns. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { idArray, readTagged, taggedRows } from '../../../platform/db/tagged-rows.ts';
import type { DiffEnds } from '../../../platform/git/history/diff-runs.ts';
import type { InstanceLocks } from '../approval-settings/rules.ts';
import { type ApprovalRows, type LoadedApprovals, loadedApprovals } from '../approvals/loaded.ts';
import { approvalCtes, approvalSelects } from '../approvals/queries.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

const open = (db: Db) => db.selectFrom('merge_requests').selectAll().where('state', '=', 'opened');

/** Those from the branch, into whatever project. */
export const selectFrom = (db: Db, projectId: number, branch: string): Promise<MergeRequestRow[]> =>
  open(db)
    .where('source_project_id', '=', projectId)
    .where('source_branch', '=', branch)
    .orderBy('id')
    .execute();

/** Closed ones, the newest of them, whose source branch this was when it had this head. */
export const selectClosedFrom = (
  db: Db,
  projectId: number,
  branch: string,
  head: string,
): Promise<MergeRequestRow[]> =>
  db
    .selectFrom('merge_requests')
    .selectAll()
    .where('state', '=', 'closed')
    .where('source_project_id', '=', projectId)
    .where('source_branch', '=', branch)
    .where('head_sha', '=', head)
    .orderBy('id', 'desc')
    .limit(10)
    .execute();

/** Those into the branch whose newest commit is one of these. */
export const selectMergedByHand = (
  db: Db,
  projectId: number,
  branch: string,
  commits: readonly string[],
): Promise<MergeRequestRow[]> =>
  open(db)
    .where('project_id', '=', projectId)
    .where('target_branch', '=', branch)
    .where('head_sha', 'in', commits)
    .where('commits_count', '>', 0)
    .orderBy('id')
    .execute();

/** Those into the branch that have one of these commits, or all of them, a slice after this id. */
export const selectInto = (
  db: Db,
  { projectId, branch, commits }: { projectId: number; branch: string; commits: readonly string[] | 'any' },
  after: number,
  limit: number,
): Promise<MergeRequestRow[]> =>
  open(db)
    .where('project_id', '=', projectId)
    .where('target_branch', '=', branch)
    .$if(commits !== 'any', (into) =>
      into.where(
        sql<boolean>`id in (select merge_request_id from merge_request_commits
          where sha = any(${commits === 'any' ? [] : [...commits]}::text[]))`,
      ),
    )
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();

/** What the target was when the latest version was made. */
export async function selectStart(db: Db, { id }: Pick<MergeRequestRow, 'id'>): Promise<string | undefined> {
  const latest = await db
    .selectFrom('merge_request_versions')
    .select('start_sha')
    .where('merge_request_id', '=', id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return latest?.start_sha;
}

/** Where open merge requests from and into the project know their branches. */
export const selectKnownHeads = (db: Db, projectId: number): Promise<{ branch: string; oid: string }[]> =>
  db
    .selectFrom('merge_requests')
    .select(['source_branch as branch', 'head_sha as oid'])
    .where('state', '=', 'opened')
    .where('source_project_id', '=', projectId)
    .where('head_sha', 'is not', null)
    .union((of) =>
      of
        .selectFrom('merge_requests')
        .select(['target_branch as branch', 'judged_target_sha as oid'])
        .where('state', '=', 'opened')
        .where('project_id', '=', projectId)
        .where('judged_target_sha', 'is not', null),
    )
    .$narrowType<{ oid: string }>()
    .execute();

/** Those into the branch that are to be judged, a slice after this id. */
export const selectUnjudged = (
  db: Db,
  projectId: number,
  branch: string,
  after: number,
  limit: number,
): Promise<MergeRequestRow[]> =>
  open(db)
    .where('project_id', '=', projectId)
    .where('target_branch', '=', branch)
    .where('merge_status', 'in', ['unchecked', 'cannot_be_merged_recheck'])
    .where('head_sha', 'is not', null)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();

/** Those into the branch that wait for an automatic merge and have not all of the branch. */
export const selectBehind = (db: Db, projectId: number, branch: string): Promise<MergeRequestRow[]> =>
  open(db)
    .where('project_id', '=', projectId)
    .where('target_branch', '=', branch)
    .where('auto_merge', 'is not', null)
    .where('is_behind', '=', true)
    .where('merge_status', 'in', ['can_be_merged', 'cannot_be_merged'])
    .orderBy('id')
    .execute();

/** The approvals of a merge request, and the ends of its latest version's diff. */
export async function selectApproved(
  db: Db,
  instance: InstanceLocks,
  row: MergeRequestRow,
): Promise<{ loaded: LoadedApprovals; version: DiffEnds | undefined }> {
  const latest = sql`select base_sha as "from", head_sha as "to" from merge_request_versions
    where merge_request_id = ${row.id} order by id desc limit 1`;
  const of = await readTagged<ApprovalRows & { version: DiffEnds }>(
    db,
    [...approvalSelects(), taggedRows('version', latest)],
    approvalCtes(idArray([row.id])),
  );
  return { loaded: loadedApprovals(of, instance)(row), version: of('version')[0] };
}

const waiting = (db: Db) =>
  open(db)
    .where('auto_merge', 'is not', null)
    .where((of) => of.or([of('merge_after', 'is', null), of('merge_after', '<=', now())]))
    .orderBy('id');

/** Open ones that wait for an automatic merge, whose time has come, a slice after this id. */
export const selectWaiting = (db: Db, after: number, limit: number): Promise<MergeRequestRow[]> =>
  waiting(db).where('id', '>', after).limit(limit).execute();

/** The same of those whose newest commit this is, from or into the project. */
export const selectWaitingForCommit = (
  db: Db,
  projectId: number,
  sha: string,
  limit: number,
): Promise<MergeRequestRow[]> =>
  waiting(db)
    .where('head_sha', '=', sha)
    .where((of) => of.or([of('project_id', '=', projectId), of('source_project_id', '=', projectId)]))
    .limit(limit)
    .execute();

/** The same of this one and those that it blocks. */
export const selectWaitingFor = (db: Db, id: number, limit: number): Promise<MergeRequestRow[]> =>
  waiting(db)
    .where(
      sql<boolean>`id in (select ${id}::bigint
        union all select blocked_id from merge_request_blocks where blocking_id = ${id})`,
    )
    .limit(limit)
    .execute();
