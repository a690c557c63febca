/** Approves merge requests, takes an approval back, and removes all (facts: merge requests §6.1). */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { announcementParts } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { giveBackAttempt, provePassword } from '../../../kernel/identity/passwords/login-actions.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { runAsOne, type StatementParts } from '../../../platform/db/run-as-one.ts';
import { notFound, unauthenticated } from '../../../platform/failure.ts';
import { completionOfTodos, insertSystemNotes, type WriteContext } from '../../conversation/index.ts';
import type { LoadedApprovals } from '../approvals/loaded.ts';
import { publishReview } from '../draft-notes/publish-actions.ts';
import { mergeRequestNotes } from '../note-texts/system-notes.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { type MergeRequestEvent, mergeRequestAnnouncement } from '../writing/announcements.ts';
import { removeApprovals } from '../writing/approval-actions.ts';
import { lockNumbered, selectApprovals } from './queries.ts';
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
  notes: Parameters<typeof insertSystemNotes>[3];
  statements: StatementParts['statements'];
};

/** Writes the change with its note and announcement; the actor's to-dos on the merge request are done. */
async function writeApproval(
  tx: Db,
  actor: Actor,
  project: AuthorizedProject,
  row: MergeRequestRow,
  { event, notes, statements }: Writing,
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
    parts: announcementParts([mergeRequestAnnouncement(actor, project, row, event)]),
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
    if (publishesReview) await publishReview(within, mergeRequestNoteable(project, row), row);
    return writeApproval(tx, actor, project, row, {
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

/** Takes the caller's approval back; 404 where there is none, or it is too late. */
export const unapprove = (
  { db, actor }: Pick<WriteContext, 'db' | 'actor'>,
  project: AuthorizedProject,
  iid: number,
): Promise<MergeRequestRow> =>
  inTransaction(db, async (tx) => {
    const row = await lockNumbered(tx, project, iid);
    const approvers = await selectApprovers(tx, row.id);
    if (row.state !== 'opened' || !approvers.includes(actor.id)) throw notFound();
    return writeApproval(tx, actor, project, row, {
      event: 'merge_request_unapproved',
      notes: [mergeRequestNotes.unapproved()],
      statements: removeApprovals(tx, row.id, [actor.id]),
    });
  });

/** Removes all approvals of an open merge request: only bots that push to the project may. */
export const resetApprovals = (
  { db, actor }: Pick<WriteContext, 'db' | 'actor'>,
  project: AuthorizedProject,
  iid: number,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const row = await lockNumbered(tx, project, iid);
    const isBot = actor.kind === 'project_bot' || actor.kind === 'group_bot';
    if (!isBot || !project.may('push_code') || row.state !== 'opened') throw unauthenticated();
    const approvers = await selectApprovers(tx, row.id);
    if (approvers.length === 0) return;
    await writeApproval(tx, actor, project, row, {
      event: 'merge_request_approvals_reset',
      notes: [],
      statements: removeApprovals(tx, row.id, 'all'),
    });
  });
