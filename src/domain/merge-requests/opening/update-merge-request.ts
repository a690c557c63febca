/** Changes merge requests: finds what the request names, reads the version that it needs, and writes it. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { type ActorContext, findMentionTodos, type WriteContext } from '../../conversation/index.ts';
import { checkTexts, readersNamed, resolveNamed } from '../../work-items/index.ts';
import { changeRights } from '../changes/change-rights.ts';
import { permitted, type Requested } from '../changes/requested.ts';
import { closingFor, readMessagesOf } from '../closing/closing-issues.ts';
import { mayShare } from '../collaboration/collaboration.ts';
import { applyEffects } from '../quick-actions/command-effects.ts';
import type { MergeRequestEffect } from '../quick-actions/command-terms.ts';
import { subjectOf, withCommands } from '../quick-actions/read-commands.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { mergeRequestNoteable } from '../records/merge-request-noteable.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { releaseVersion, writeSourceRef } from '../versions/set-refs.ts';
import type { FindClosing } from '../writing/closing-actions.ts';
import { type MergeRequestUpdate, writeUpdate } from '../writing/update-actions.ts';
import type { OpenedVersion } from '../writing/version-actions.ts';
import { checkBranches, openVersion, requireReadableSource } from './branches.ts';
import { permittedApprovals, writeRequestedApprovals } from './requested-approvals.ts';
import { refuseTwins } from './twins.ts';

/** The version that a reopened one begins with, or one with another target; undefined where neither is asked. */
async function openedBy(
  { db, services, actor }: WriteContext,
  target: AuthorizedProject,
  row: MergeRequestRow,
  { state_event, target_branch = row.target_branch }: Requested,
): Promise<OpenedVersion | undefined> {
  const reopens = state_event === 'reopen' && row.state === 'closed';
  const moves = target_branch !== row.target_branch && (row.state === 'opened' || row.state === 'closed');
  if (!reopens && !moves) return undefined;
  if (reopens) await requireReadableSource(services.database, actor, row);
  const branches = {
    sourceProjectId: row.source_project_id,
    sourceBranch: row.source_branch,
    target,
    targetBranch: target_branch,
  };
  await checkBranches(db, branches);
  return reopens || row.state === 'opened' ? openVersion(services, branches) : undefined;
}

/** A merge request, and its commits where the request changes a text. */
export type MergeRequestToChange = { row: MergeRequestRow; commits: readonly string[] };

/** Undefined where the request changes nothing that may name issues. */
async function closingAfter(
  { services, actor }: WriteContext,
  target: AuthorizedProject,
  { commits }: MergeRequestToChange,
  { title, description }: Requested,
  opened: OpenedVersion | undefined,
): Promise<FindClosing | undefined> {
  if (!opened && title === undefined && description === undefined) return undefined;
  return closingFor(
    services,
    actor,
    target,
    opened?.messages ?? (await readMessagesOf(services, target, commits)),
  );
}

/** What an update will write, and what else the quick actions of its description do. */
export type PlannedUpdate = { update: MergeRequestUpdate; effects: readonly MergeRequestEffect[] };

/**
 * Plans an update of what the caller may change; 400 for a wrong title, description, milestone or branch. The caller was
 * checked to update it.
 */
export async function planUpdate(
  context: WriteContext,
  project: AuthorizedProject,
  found: MergeRequestToChange,
  asked: Requested,
): Promise<PlannedUpdate> {
  const { db, services, actor } = context;
  const { row } = found;
  const said = await withCommands(context, project, subjectOf(row), asked);
  const wanted = permitted(said.requested, changeRights(services, project));
  const requested = await permittedApprovals(context, project, wanted, row.state);
  const source = { projectId: row.source_project_id, branch: row.source_branch };
  if (requested.allow_collaboration !== undefined && !(await mayShare(context, project, source)))
    delete requested.allow_collaboration;
  checkTexts(requested);
  const noteable = mergeRequestNoteable(project, row);
  const people = (ids: readonly number[] | undefined) => ids && readersNamed(context, noteable, ids);
  const { description } = requested;
  const [assignees, reviewers, named, mentioned] = await Promise.all([
    people(requested.assignee_ids),
    people(requested.reviewer_ids),
    resolveNamed(context, project, requested),
    description === undefined || description === row.description
      ? []
      : findMentionTodos(db, services.database.points, {
          actor,
          target: noteable,
          text: description,
          before: row.description,
        }),
  ]);
  // Last: what it brings from a fork is let go where the write fails.
  const opened = await openedBy(context, project, row, requested);
  const findClosing = await closingAfter(context, project, found, requested, opened);
  const update = { requested, named: { ...named, assignees, reviewers }, mentioned, opened, findClosing };
  return { update, effects: said.effects };
}

/** Writes a planned update in the caller's transaction, which refusingTwins() is to surround. */
export async function writePlanned(
  context: ActorContext,
  tx: Db,
  project: AuthorizedProject,
  row: MergeRequestRow,
  { update, effects }: PlannedUpdate,
): Promise<MergeRequestRow> {
  const written = await writeUpdate(context, tx, project, row.id, update);
  await writeRequestedApprovals(tx, context, project, row, update.requested);
  if (effects.length === 0) return written;
  await applyEffects({ ...context, db: tx }, project, written, effects);
  return findMergeRequest(tx, project, row.iid);
}

/**
 * Runs the write; 409 where another merge request is open between the branches as the plan leaves them. What a version that is not
 * written brought is let go.
 */
export async function refusingTwins<T>(
  { services }: ActorContext,
  project: AuthorizedProject,
  row: MergeRequestRow,
  { update }: PlannedUpdate,
  write: () => Promise<T>,
): Promise<T> {
  const { source_project_id: sourceProjectId, source_branch: sourceBranch, target_branch } = row;
  const targetBranch = update.requested.target_branch ?? target_branch;
  const branches = { sourceProjectId, sourceBranch, target: project, targetBranch };
  try {
    return await refuseTwins(services.database.db, branches, write);
  } catch (error) {
    if (update.opened)
      await releaseVersion(services, project, { sourceProjectId, head: update.opened.version.head });
    throw error;
  }
}

/** Lets the source ref follow where the update has a version of its own. */
export async function followOpened(
  { services }: ActorContext,
  project: AuthorizedProject,
  { iid }: MergeRequestRow,
  { update: { opened } }: PlannedUpdate,
): Promise<void> {
  if (opened) await writeSourceRef(services, project, { iid, head_sha: opened.version.head });
}

/** The merge request as the update and the quick actions of its description leave it; fails as the plan and the write do. */
export async function updateMergeRequest(
  context: WriteContext,
  project: AuthorizedProject,
  found: MergeRequestToChange,
  asked: Requested,
): Promise<MergeRequestRow> {
  const { row } = found;
  const plan = await planUpdate(context, project, found, asked);
  const updated = await refusingTwins(context, project, row, plan, () =>
    inTransaction(context.db, (tx) => writePlanned(context, tx, project, row, plan)),
  );
  await followOpened(context, project, row, plan);
  return updated;
}
