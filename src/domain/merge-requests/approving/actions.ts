/** Approves merge requests, takes an approval back, and removes all (facts: merge requests §6.1). */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { announcementParts } from '../../../kernel/activity/announce-actions.ts';
import { type Actor, isTokenBot } from '../../../kernel/actor.ts';
import { giveBackAttempt, provePassword } from '../../../kernel/identity/passwords/login-actions.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { runAsOne, type StatementParts } from '../../../platform/db/run-as-one.ts';
import { notFound, unauthenticated } from '../../../platform/failure.ts';
import {
  type ActorContext,
  completionOfTodos,
  insertSystemNotes,
  type WriteContext,
} from '../../conversation/index.ts';
import type { LoadedApprovals } from '../approvals/loaded.ts';
import { publishReview } from '../draft-notes/publish-actions.ts';
import { mergeRequestNotes } from '../note-texts/system-notes.ts';
import { findMergeRequest, lockMergeRequest } from '../records/find-queries.ts';
import { mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { type MergeRequestEvent, mergeRequestAnnouncement } from '../writing/announcements.ts';
import { removeApprovals } from '../writing/approval-actions.ts';
import { type ApprovalReading, lockNumbered, selectApprovals } from './queries.ts';
import { type ApprovalRequest, refuseApproval } from './rules.ts';

/** Whether this is the caller's password, by which they could sign in. Wrong ones are counted as at a sign-in. */
async function isOwnPassword(
  { db, settings, actor, request }: WriteContext,
  password: string,
): Promise<boolean> {
  if (actor.kind !== 'human') return false;
  const given = { login: actor.username, password, address: request.address };
  const proof = await provePassword(db, settings, given);
  if (!proof.right) return false;
  await giveBackAttempt(db, proof.account.id);
  return proof.refused === undefined;
}

type Writing = {
  event: MergeRequestEvent;
  details?: Record<string, Json>;
  notes: Parameters<typeof insertSystemNotes>[3];
  statements: StatementParts['statements'];
};

/** Writes the change with its note and announcement; the actor's to-dos on the merge request are done. */
async function writeApproval(
  tx: Db,
  actor: Actor,
  project: AuthorizedProject,
  row: MergeRequestRow,
  { event, details, notes, statements }: Writing,
): Promise<MergeRequestRow> {
  const noteable = mergeRequestNoteable(project, row);
  const changed = { updated_at: now() };
  await runAsOne(tx, {
    statements: [
      ...statements,
      tx.updateTable('merge_requests').set(changed).where('id', '=', row.id),
      insertSystemNotes(tx, noteable, actor, notes),
      completionOfTodos(tx, actor.id, noteable),
    ],
    parts: announcementParts([mergeRequestAnnouncement(actor, project, row, event, details)]),
  });
  return { ...row, ...changed };
}

export type Approving = {
  iid: number;
  sha: string | undefined;
  password: string | undefined;
  /** Whether the caller's drafts are published with it. */
  publishesReview: boolean;
};

/** The approvals that the merge request has; fails where the caller's one is refused. */
async function requireApprovable(
  context: WriteContext,
  project: AuthorizedProject,
  row: MergeRequestRow,
  request: ApprovalRequest,
): Promise<LoadedApprovals> {
  const loaded = await selectApprovals(context, row);
  const user = { id: context.actor.id, mayUpdate: project.may('update_merge_requests') };
  const refusal = refuseApproval(row, loaded, user, request);
  if (refusal) throw refusal;
  return loaded;
}

/** Whether the password is right, where one is required: what is refused for another reason is no attempt to guess it. */
async function isProvedBy(
  context: WriteContext,
  project: AuthorizedProject,
  { iid, sha, password }: Approving,
): Promise<boolean> {
  if (password === undefined) return false;
  const row = await findMergeRequest(context.db, project, iid);
  const { settings } = await requireApprovable(context, project, row, { sha, isProved: true });
  return settings.require_reauthentication_to_approve && isOwnPassword(context, password);
}

const writeApproved = (
  tx: Db,
  actor: Actor,
  project: AuthorizedProject,
  row: MergeRequestRow,
): Promise<MergeRequestRow> =>
  writeApproval(tx, actor, project, row, {
    event: 'merge_request_approved',
    notes: [mergeRequestNotes.approved()],
    statements: [
      tx
        .insertInto('merge_request_approvals')
        .values({ merge_request_id: row.id, user_id: actor.id, created_at: now() }),
      tx
        .updateTable('merge_request_reviewers')
        .set({ state: 'approved' })
        .where('merge_request_id', '=', row.id)
        .where('user_id', '=', actor.id),
    ],
  });

/** Adds the caller's approval; refused as the rules say. */
export async function approve(
  context: WriteContext,
  project: AuthorizedProject,
  approving: Approving,
): Promise<MergeRequestRow> {
  const { db, actor } = context;
  const { iid, sha, publishesReview } = approving;
  const isProved = await isProvedBy(context, project, approving);
  return inTransaction(db, async (tx) => {
    const row = await lockNumbered(tx, project, iid);
    const within = { ...context, db: tx };
    await requireApprovable(within, project, row, { sha, isProved });
    if (!publishesReview) return writeApproved(tx, actor, project, row);
    await publishReview(within, mergeRequestNoteable(project, row), row);
    // Quick actions of the drafts may have approved it, or closed it.
    const reviewed = await findMergeRequest(tx, project, iid);
    if ((await selectApprovers(tx, row.id)).includes(actor.id)) return reviewed;
    await requireApprovable(within, project, reviewed, { sha, isProved });
    return writeApproved(tx, actor, project, reviewed);
  });
}

/** Whether the actor may approve it now, without a password. */
export async function mayApproveNow(
  context: ApprovalReading & { actor: Actor },
  project: AuthorizedProject,
  row: MergeRequestRow,
): Promise<boolean> {
  if (!project.may('create_merge_requests')) return false;
  const user = { id: context.actor.id, mayUpdate: project.may('update_merge_requests') };
  const loaded = await selectApprovals(context, row);
  return refuseApproval(row, loaded, user, { sha: undefined, isProved: false }) === undefined;
}

/** What is merged, or being merged, was approved by these. */
const isSettled = ({ state }: Pick<MergeRequestRow, 'state'>): boolean =>
  state === 'merged' || state === 'locked';

/** The same of taking an approval back. */
export const mayUnapproveNow = async (
  { db, actor }: { db: Db; actor: Actor },
  project: AuthorizedProject,
  row: MergeRequestRow,
): Promise<boolean> =>
  project.may('create_merge_requests') &&
  !isSettled(row) &&
  (await selectApprovers(db, row.id)).includes(actor.id);

/** Adds the approval that mayApproveNow() found to be right, in the caller's transaction; nothing where it is too late, or given. */
export async function approveAlong(
  { db: tx, actor }: Pick<ActorContext, 'db' | 'actor'>,
  project: AuthorizedProject,
  id: number,
): Promise<void> {
  const row = await lockMergeRequest(tx, id);
  if (row.state === 'opened' && !(await selectApprovers(tx, id)).includes(actor.id))
    await writeApproved(tx, actor, project, row);
}

/** Takes the actor's approval back in the caller's transaction; nothing where there is none. */
export async function unapproveAlong(
  { db: tx, actor }: Pick<ActorContext, 'db' | 'actor'>,
  project: AuthorizedProject,
  id: number,
): Promise<void> {
  const row = await lockMergeRequest(tx, id);
  if (await mayUnapproveNow({ db: tx, actor }, project, row)) await writeUnapproved(tx, actor, project, row);
}

/**
 * Has the actor, who reviews it, ask for changes in the caller's transaction, which takes the actor's approval back; nothing where
 * that is so already, or it is too late.
 */
export async function requestChangesAlong(
  { db: tx, actor }: Pick<ActorContext, 'db' | 'actor'>,
  project: AuthorizedProject,
  id: number,
): Promise<void> {
  const row = await lockMergeRequest(tx, id);
  if (isSettled(row)) return;
  const changed = await tx
    .updateTable('merge_request_reviewers')
    .set({ state: 'requested_changes' })
    .where('merge_request_id', '=', id)
    .where('user_id', '=', actor.id)
    .where('state', '<>', 'requested_changes')
    .returning('user_id')
    .executeTakeFirst();
  if (!changed) return;
  const hadApproved = (await selectApprovers(tx, id)).includes(actor.id);
  await writeApproval(tx, actor, project, row, {
    event: hadApproved ? 'merge_request_unapproved' : 'merge_request_updated',
    notes: [mergeRequestNotes.changesRequested()],
    statements: [
      tx
        .deleteFrom('merge_request_approvals')
        .where('merge_request_id', '=', id)
        .where('user_id', '=', actor.id),
    ],
  });
}

const selectApprovers = async (tx: Db, id: number): Promise<number[]> => {
  const rows = await tx
    .selectFrom('merge_request_approvals')
    .select('user_id')
    .where('merge_request_id', '=', id)
    .execute();
  return rows.map(({ user_id }) => user_id);
};

const writeUnapproved = (
  tx: Db,
  actor: Actor,
  project: AuthorizedProject,
  row: MergeRequestRow,
): Promise<MergeRequestRow> =>
  writeApproval(tx, actor, project, row, {
    event: 'merge_request_unapproved',
    notes: [mergeRequestNotes.unapproved()],
    statements: removeApprovals(tx, row.id, [actor.id]),
  });

/** Takes the caller's approval back; 404 where there is none, or it is too late. */
export const unapprove = (
  { db, actor }: Pick<WriteContext, 'db' | 'actor'>,
  project: AuthorizedProject,
  iid: number,
): Promise<MergeRequestRow> =>
  inTransaction(db, async (tx) => {
    const row = await lockNumbered(tx, project, iid);
    if (!(await mayUnapproveNow({ db: tx, actor }, project, row))) throw notFound();
    return writeUnapproved(tx, actor, project, row);
  });

/** Removes all approvals of a merge request that is not merged: only bots that push to the project may. */
export const resetApprovals = (
  { db, actor }: Pick<WriteContext, 'db' | 'actor'>,
  project: AuthorizedProject,
  iid: number,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const row = await lockNumbered(tx, project, iid);
    if (!isTokenBot(actor.kind) || !project.may('push_code') || isSettled(row)) throw unauthenticated();
    const approvers = await selectApprovers(tx, row.id);
    if (approvers.length === 0) return;
    await writeApproval(tx, actor, project, row, {
      event: 'merge_request_approvals_reset',
      details: { approver_ids: approvers },
      notes: [],
      statements: removeApprovals(tx, row.id, 'all'),
    });
  });
