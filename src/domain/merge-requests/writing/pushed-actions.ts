/** What a push to the source writes beside the version: notes, the announcement, the end of an automatic merge. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { announcementParts } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { runAsOne } from '../../../platform/db/run-as-one.ts';
import { titleOf } from '../../../platform/git/commit-texts.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { completionOfTodos, insertSystemNotes, usersByIds } from '../../conversation/index.ts';
import { insertResourceEvents } from '../../work-items/index.ts';
import { commitNote } from '../note-texts/commit-notes.ts';
import { mergeRequestNotes } from '../note-texts/system-notes.ts';
import { lockMergeRequest } from '../records/find-queries.ts';
import { mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { asDraft, draftingCommit } from '../texts/draft.ts';
import { fittingTitle } from '../texts/titles.ts';
import { mergeRequestAnnouncement, type PushDetails } from './announcements.ts';
import { notWaiting } from './auto-merge-actions.ts';

/** Closes an open merge request whose source branch is gone, with the notes of both. */
export const closeForDeletedBranch = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  { id }: Pick<MergeRequestRow, 'id'>,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const row = await lockMergeRequest(tx, id);
    if (row.state !== 'opened') return;
    const time = now();
    const noteable = mergeRequestNoteable(project, row);
    const change = tx
      .updateTable('merge_requests')
      .set({
        state: 'closed',
        closed_at: time,
        closed_by_id: actor.id,
        ...(row.auto_merge !== null && notWaiting),
        merge_error: null,
        updated_at: time,
      })
      .where('id', '=', id);
    const notes = [
      mergeRequestNotes.sourceBranchDeleted(row.source_branch),
      ...(row.auto_merge === null ? [] : [mergeRequestNotes.autoMergeAborted('closed')]),
    ];
    await runAsOne(tx, {
      statements: [
        change,
        insertSystemNotes(tx, noteable, actor, notes),
        insertResourceEvents(tx, { merge_request_id: id }, actor.id, [{ kind: 'state', action: 'closed' }]),
        completionOfTodos(tx, actor.id, noteable),
      ],
      parts: announcementParts([mergeRequestAnnouncement(actor, project, row, 'merge_request_closed')]),
    });
  });

/** Notes that the source branch of a closed one is there again, as it was; it stays closed until it is opened. */
export const noteRestored = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  row: MergeRequestRow,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const note = mergeRequestNotes.sourceBranchRestored(row.source_branch);
    await insertSystemNotes(tx, mergeRequestNoteable(project, row), actor, [note])?.execute();
  });

/** Only the newest ones have their messages. */
type NamedCommit = Pick<Commit, 'oid' | 'message'>;

type Pushed = { before: string; after: string };

export type PushedToSource = Pushed & {
  /** Oldest first: the new commits of the merge request, and others that came with the target. */
  added: readonly NamedCommit[];
  existing: readonly Pick<Commit, 'oid'>[];
  byJob?: true | undefined;
};

/** Commits that the fact of a push names. */
const MAX_NAMED_COMMITS = 20;

/** The newest commits first, and the number of all. */
const pushDetails = (added: readonly NamedCommit[]): PushDetails => ({
  commits: added
    .slice(-MAX_NAMED_COMMITS)
    .toReversed()
    .map(({ oid, message }) => ({ sha: oid, title: fittingTitle(titleOf(message)) })),
  count: added.length,
});

const selectVersionId = async (tx: Db, id: number): Promise<number> => {
  const { latest } = await tx
    .selectFrom('merge_request_versions')
    .select(({ fn }) => fn.max('id').as('latest'))
    .where('merge_request_id', '=', id)
    .executeTakeFirstOrThrow();
  return latest;
};

/**
 * What of a push no note tells of yet, whoever made the version of it: a reader may be faster than what follows pushes, and
 * one version may hold several. `noted_sha` is where the last push that was noted ended, or the head that the merge request
 * was opened with. A push that was followed before those in front of it is noted with them, if it is the last.
 */
export function unnotedPush(
  { noted_sha, head_sha }: Pick<MergeRequestRow, 'noted_sha' | 'head_sha'>,
  { before, after }: Pushed,
): Pushed | undefined {
  if (noted_sha === after) return undefined;
  if (noted_sha === before) return { before, after };
  return head_sha === after ? { before: noted_sha ?? before, after } : undefined;
}

/** What a commit whose message begins with `Draft:` makes of a merge request that is none. */
function draftedBy(row: MergeRequestRow, added: readonly NamedCommit[]) {
  const commit = row.draft ? undefined : draftingCommit(added);
  if (!commit) return undefined;
  const title = fittingTitle(asDraft(row.title));
  return {
    columns: { title, draft: true },
    note: mergeRequestNotes.draftFromCommit(commit.oid),
    details: { changes: { title: { from: row.title, to: title } } },
  };
}

/** Tells of the pushed commits; an automatic merge of what was there before is over. */
export const writePushed = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  { id }: Pick<MergeRequestRow, 'id'>,
  { before, after, added, existing, byJob }: PushedToSource,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const row = await lockMergeRequest(tx, id);
    if (row.state !== 'opened' || unnotedPush(row, { before, after })?.before !== before) return;
    const aborts = row.auto_merge !== null;
    const drafted = draftedBy(row, added);
    const isFork = row.source_project_id !== row.project_id;
    const note = commitNote({
      added,
      existing,
      before,
      targetBranch: row.target_branch,
      targetNamespace: isFork ? project.row.namespace_full_path : undefined,
      path: `/${project.fullPath}/-/merge_requests/${row.iid}`,
      diffId: await selectVersionId(tx, id),
    });
    const noteable = mergeRequestNoteable(project, row);
    const byId = new Map((await usersByIds(tx, row.lost_approver_ids)).map((user) => [user.id, user]));
    const lost = [...new Set(row.lost_approver_ids)].flatMap((userId) => byId.get(userId) ?? []);
    const notes = [
      ...(note ? [note] : []),
      ...(lost.length > 0 ? [mergeRequestNotes.approvalsReset(lost)] : []),
      ...(drafted ? [drafted.note] : []),
      ...(aborts ? [mergeRequestNotes.autoMergeAborted('source_updated')] : []),
    ];
    const change = tx
      .updateTable('merge_requests')
      .set({
        ...(aborts && notWaiting),
        ...drafted?.columns,
        noted_sha: after,
        lost_approver_ids: [],
        updated_at: now(),
      })
      .where('id', '=', id);
    await runAsOne(tx, {
      statements: [
        change,
        insertSystemNotes(tx, noteable, actor, notes),
        completionOfTodos(tx, actor.id, noteable),
      ],
      parts: announcementParts([
        mergeRequestAnnouncement(actor, project, row, 'merge_request_pushed', {
          before,
          ...pushDetails(added),
          ...drafted?.details,
          ...(byJob && { by_job: true }),
        }),
        ...(lost.length === 0
          ? []
          : [
              mergeRequestAnnouncement(actor, project, row, 'merge_request_approvals_reset', {
                approver_ids: lost.map(({ id: approverId }) => approverId),
                by_push: true,
              }),
            ]),
      ]),
    });
  });
