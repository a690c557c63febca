/** Updates and deletes merge requests, with their relations, notes, events and announcements. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { runAsOne, type StatementParts } from '../../../platform/db/run-as-one.ts';
import { addJobs } from '../../../platform/jobs/jobs.ts';
import { type ActorContext, addTodos, type MentionTodo } from '../../conversation/index.ts';
import { followingChanges, withNewLabels } from '../../work-items/index.ts';
import {
  type MergeRequestChange,
  type MergeRequestState,
  mergeRequestDifferences,
  type Named,
  notesOf,
  stateAfter,
} from '../changes/changes.ts';
import type { Requested } from '../changes/requested.ts';
import { mergeRequestNotes } from '../note-texts/system-notes.ts';
import { lockMergeRequest } from '../records/find-queries.ts';
import { mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { isDraft } from '../texts/draft.ts';
import { type MergeRequestEvent, mergeRequestAnnouncement } from './announcements.ts';
import { removeApprovals } from './approval-actions.ts';
import { notWaiting } from './auto-merge-actions.ts';
import { closingStatements, type FindClosing } from './closing-actions.ts';
import { lockCurrent } from './current-queries.ts';
import { jobsForJudged } from './following-jobs.ts';
import { askToTrace } from './trace-actions.ts';
import { type OpenedVersion, versionStatements } from './version-actions.ts';

/** What an update will write: what the caller may change, with the records that it names. */
export type MergeRequestUpdate = {
  requested: Requested;
  named: Named;
  mentioned: readonly MentionTodo[];
  /** The version that a reopened one begins with, or one with another target. */
  opened: OpenedVersion | undefined;
  /** Finds the issues that it will close; undefined where nothing changes that may name issues. */
  findClosing: FindClosing | undefined;
  /** Whether the target branch changes because it was merged and is gone. */
  isTargetDeleted?: boolean;
};

type Columns = Partial<Omit<MergeRequestRow, 'id'>>;

/**
 * Why an automatic merge waits no longer: it was asked for by who may merge into the branch as it was, and who may only change
 * the merge request must not have it elsewhere.
 */
function abortOf(
  { auto_merge }: Pick<MergeRequestRow, 'auto_merge'>,
  changes: readonly MergeRequestChange[],
): 'closed' | 'target_changed' | undefined {
  if (auto_merge === null) return undefined;
  if (changes.some((change) => change.what === 'state' && change.to === 'closed')) return 'closed';
  return changes.some(({ what }) => what === 'target_branch') ? 'target_changed' : undefined;
}

/** The columns that a state changes. */
function stateColumns(changes: readonly MergeRequestChange[], actor: Pick<Actor, 'id'>, time: Date): Columns {
  const state = changes.find((change) => change.what === 'state');
  if (!state) return {};
  return state.to === 'closed'
    ? { closed_at: time, closed_by_id: actor.id, merge_error: null }
    : { closed_at: null, closed_by_id: null, refs_removed: false };
}

/** The columns that nobody is told of. */
const plainColumns = (requested: Requested): Columns => ({
  ...(requested.squash !== undefined && { squash: requested.squash }),
  ...(requested.force_remove_source_branch !== undefined && {
    force_remove_source_branch: requested.force_remove_source_branch,
  }),
  ...(requested.allow_collaboration !== undefined && { allow_collaboration: requested.allow_collaboration }),
  ...(requested.merge_after !== undefined && { merge_after: requested.merge_after }),
  ...(requested.approvals_before_merge !== undefined && {
    approvals_before_merge: requested.approvals_before_merge,
  }),
});

function columnsOf(
  after: MergeRequestState,
  changes: readonly MergeRequestChange[],
  actor: Pick<Actor, 'id'>,
): Columns {
  const time = now();
  const edited = changes.some(({ what }) => what === 'title' || what === 'description');
  const { assignees: _, reviewers: __, labels: ___, milestone, ...columns } = after;
  return {
    ...columns,
    draft: isDraft(after.title),
    milestone_id: milestone?.id ?? null,
    ...stateColumns(changes, actor, time),
    ...(edited && { last_edited_at: time }),
    updated_at: time,
  };
}

function eventOf(changes: readonly MergeRequestChange[]): MergeRequestEvent {
  const state = changes.find((change) => change.what === 'state');
  if (!state) return 'merge_request_updated';
  return state.to === 'closed' ? 'merge_request_closed' : 'merge_request_reopened';
}

/** Statements that write added and removed assignees and reviewers. */
const peopleStatements = (
  tx: Db,
  id: number,
  changes: readonly MergeRequestChange[],
): StatementParts['statements'] =>
  changes.flatMap((change): StatementParts['statements'] => {
    if (change.what !== 'assignees' && change.what !== 'reviewers') return [];
    const table =
      change.what === 'assignees'
        ? ('merge_request_assignees' as const)
        : ('merge_request_reviewers' as const);
    const removed = change.removed.map((user) => user.id);
    const added = change.added.map((user) => ({ merge_request_id: id, user_id: user.id }));
    return [
      removed.length > 0
        ? tx.deleteFrom(table).where('merge_request_id', '=', id).where('user_id', 'in', removed)
        : undefined,
      added.length === 0
        ? undefined
        : table === 'merge_request_assignees'
          ? tx.insertInto(table).values(added)
          : tx.insertInto(table).values(added.map((each) => ({ ...each, created_at: now() }))),
    ];
  });

/** To-dos of those who are assigned now, asked to review, or mentioned. */
const todosOf = (changes: readonly MergeRequestChange[], actor: Pick<Actor, 'id'>): MentionTodo[] =>
  changes.flatMap((change): MentionTodo[] => {
    if (change.what !== 'assignees' && change.what !== 'reviewers') return [];
    const action = change.what === 'assignees' ? 'assigned' : 'review_requested';
    return change.added.filter(({ id }) => id !== actor.id).map(({ id }) => ({ userId: id, action }));
  });

/** Writes an update; a requested value that is there already is no change. 404 when the merge request is gone. */
export async function writeUpdate(
  { actor }: Pick<ActorContext, 'actor'>,
  tx: Db,
  project: AuthorizedProject,
  id: number,
  update: MergeRequestUpdate,
): Promise<MergeRequestRow> {
  const { requested, mentioned, opened, findClosing } = update;
  const { row: locked, relations } = await lockCurrent(tx, id);
  const named = await withNewLabels(tx, actor, project, requested, update.named);
  const before: MergeRequestState = { ...locked, ...relations };
  const after = stateAfter(before, requested, named);
  const { shared, all } = mergeRequestDifferences(before, after);
  const reopened = all.some((change) => change.what === 'state' && change.to === 'reopened');
  const isOpenedAnew = reopened || all.some(({ what }) => what === 'target_branch');
  const fresh = isOpenedAnew && opened ? versionStatements(tx, id, opened) : undefined;
  const aborted = abortOf(locked, all);
  const columns = {
    ...plainColumns(requested),
    ...(all.length > 0 && columnsOf(after, all, actor)),
    ...fresh?.columns,
    ...(aborted && notWaiting),
    ...(reopened && opened && { noted_sha: opened.version.head }),
  };
  if (Object.keys(columns).length === 0) return locked;
  const change = tx.updateTable('merge_requests').set(columns).where('id', '=', id);
  const row = { ...locked, ...columns };
  if (all.length === 0) {
    await runAsOne(tx, { statements: [change] });
    return row;
  }
  const details = { changes: Object.fromEntries(all.map(({ what, ...rest }) => [what, rest])) };
  const announcement = mergeRequestAnnouncement(actor, project, row, eventOf(all), details);
  const noteable = mergeRequestNoteable(project, locked);
  const notes = [...notesOf(all, update), ...(aborted ? [mergeRequestNotes.autoMergeAborted(aborted)] : [])];
  const following = followingChanges(tx, actor, noteable, { changes: shared, notes }, announcement);
  const closing =
    findClosing && row.state === 'opened' ? closingStatements(tx, id, await findClosing(tx, row)) : [];
  await runAsOne(tx, {
    ...following,
    statements: [
      change,
      ...closing,
      ...following.statements,
      ...peopleStatements(tx, id, all),
      ...(fresh?.statements ?? []),
    ],
  });
  if (fresh) {
    await askToTrace(tx, row, actor);
    await addJobs(tx, jobsForJudged(locked.merge_status, row));
  }
  // What was approved was another change. It is a statement of its own, as that above may remove reviewers.
  if (row.head_sha !== locked.head_sha || row.target_branch !== locked.target_branch)
    await runAsOne(tx, { statements: removeApprovals(tx, id, 'all') });
  const target = mergeRequestNoteable(project, row);
  await addTodos(tx, { author: actor, target }, [...todosOf(all, actor), ...mentioned]);
  return row;
}

/** Deletes the merge request with all its rows. `check` sees the locked row first. */
export const deleteMergeRequest = (
  { db, actor }: Pick<ActorContext, 'db' | 'actor'>,
  project: AuthorizedProject,
  id: number,
  check: (row: MergeRequestRow) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const locked = await lockMergeRequest(tx, id);
    check(locked);
    await ahead(tx).deleteFrom('merge_requests').where('id', '=', id).execute();
    await announce(tx, mergeRequestAnnouncement(actor, project, locked, 'merge_request_deleted'));
  });
