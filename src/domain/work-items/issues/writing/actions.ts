/** Updates and deletes issues, with their relations, notes, events and announcements. */
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import { announce } from '../../../../kernel/activity/announce-actions.ts';
import { ahead, type Db, inTransaction } from '../../../../platform/db/database.ts';
import { runAsOne, type StatementParts } from '../../../../platform/db/run-as-one.ts';
import { invalid } from '../../../../platform/failure.ts';
import {
  type ActorContext,
  addTodos,
  type MentionTodo,
  type Noteable,
  type WriteContext,
} from '../../../conversation/index.ts';
import { followingChanges } from '../../changes/change-actions.ts';
import {
  type ClosingSource,
  checkDates,
  checkTexts,
  differences,
  type IssueChanges,
  type IssueState,
  permitted,
  type Referenced,
  type WorkChange,
} from '../../changes/issue-changes.ts';
import { withNewLabels } from '../../changes/named-references.ts';
import { systemNotes } from '../../changes/system-notes.ts';
import type { FoundEpic } from '../../epics/records/find-queries.ts';
import { applyEffects } from '../../quick-actions/work-command-effects.ts';
import type { WorkEffect } from '../../quick-actions/work-command-terms.ts';
import { issueNoteable } from '../records/issue-noteable.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { POSITION_GAP } from './insert-actions.ts';
import { parseQuickActions } from './issue-commands.ts';
import { issueFollowUps } from './issue-follow-ups.ts';
import { updateRights } from './issue-rights.ts';
import { checkIssueSpam } from './issue-spam.ts';
import { columnsOf, stateAfter } from './issue-state.ts';
import { lockIssue } from './lock-queries.ts';
import { holdEpic, lockCurrent } from './relation-queries.ts';
import {
  checkEpic,
  epicReference,
  findMentioned,
  type ResolvedReferences,
  resolveReferences,
} from './resolve-references.ts';
import { changesPayload, eventOf, issueAnnouncement } from './work-events.ts';

/** What an update will write: the changes that the caller may make, with the records that they name. */
export type IssueUpdate = { decided: Decided; effects: readonly WorkEffect[] };

/** Plans an update. 400 for a wrong title, description, date or milestone. The caller was checked before. */
export async function planUpdate(
  context: WriteContext,
  project: AuthorizedProject,
  issue: IssueRow,
  requested: IssueChanges,
): Promise<IssueUpdate> {
  const rights = updateRights(context.services, project);
  const said = await parseQuickActions(context, project, issue, requested);
  const asked = permitted(said.changes, rights);
  checkTexts(asked);
  const references = await resolveReferences(context, project, asked);
  if (references.original?.id === issue.id) throw invalid({ duplicated_to: ['cannot be the issue itself'] });
  const mentioned =
    asked.description === undefined || asked.description === issue.description
      ? []
      : await findMentioned(context, project, asked.description, issue, issue.description);
  const { title = issue.title, description = issue.description, confidential = issue.confidential } = asked;
  const opens = issue.confidential && !confidential;
  if (opens || title !== issue.title || description !== issue.description) {
    await checkIssueSpam(context, project, { write: 'update', title, description, confidential });
  }
  return { decided: { asked, references, mentioned }, effects: said.effects };
}

/** Writes a planned update; a requested value that the issue has already is no change. 404 when it is gone. */
export async function writeUpdate(
  context: ActorContext,
  tx: Db,
  project: AuthorizedProject,
  issueId: number,
  { decided, effects }: IssueUpdate,
): Promise<IssueRow> {
  const changed = await change(context, tx, project, issueId, decided);
  if (effects.length === 0) return changed;
  await applyEffects({ ...context, db: tx }, issueNoteable(project, changed), effects);
  return (await readIssue(tx, issueId)) ?? changed;
}

/** The issue with the requested changes, and the effects of its description's quick actions. */
export async function updateIssue(
  context: WriteContext,
  project: AuthorizedProject,
  issue: IssueRow,
  requested: IssueChanges,
): Promise<IssueRow> {
  const update = await planUpdate(context, project, issue, requested);
  return inTransaction(context.db, (tx) => writeUpdate(context, tx, project, issue.id, update));
}

type Decided = {
  asked: IssueChanges;
  references: ResolvedReferences;
  mentioned: readonly MentionTodo[];
  via?: ClosingSource | undefined;
};

/** Writes the requested values that differ from the locked row, with notes, events and announcement. */
async function change(
  context: ActorContext,
  tx: Db,
  project: AuthorizedProject,
  issueId: number,
  { asked: requested, references: found, mentioned, via }: Decided,
): Promise<IssueRow> {
  const { services, actor } = context;
  const { premium } = updateRights(services, project);
  const { issue: locked, relations } = await lockCurrent(tx, issueId);
  const references = await withNewLabels(tx, actor, project, requested, found);
  const before: IssueState = { ...locked, ...relations };
  const after = stateAfter(before, requested, references, premium);
  const changes = differences(before, after).map((each) =>
    via && each.what === 'state' ? { ...each, via } : each,
  );
  if (changes.length === 0 && !requested.created_at && !requested.updated_at) return locked;
  checkDates(after);
  if (after.epic && changes.some(({ what }) => what === 'epic' || what === 'confidential'))
    checkEpic(await holdEpic(tx, after.epic.id), after.confidential);
  const columns = columnsOf(after, changes, actor, requested);
  const update = tx.updateTable('issues').set(columns).where('id', '=', issueId);
  const row = { ...locked, ...columns };
  if (changes.length === 0) {
    await runAsOne(tx, { statements: [update] });
    return row;
  }
  const noteable = issueNoteable(project, locked);
  const announced = { ...locked, title: after.title, state: after.state };
  const payload = { changes: changesPayload(changes) };
  const announcement = issueAnnouncement(actor, project, announced, eventOf(changes), payload);
  const notes = changes.flatMap((each) => systemNotes(each));
  const following = followingChanges(tx, actor, noteable, { changes, notes }, announcement);
  const statements = [
    update,
    ...following.statements,
    ...assigneeStatements(tx, issueId, changes),
    ...epicStatements(tx, locked, changes),
  ];
  await runAsOne(tx, { ...following, statements });
  await followUp(context, tx, issueNoteable(project, row), row, changes, mentioned);
  return row;
}

const noRelations: ResolvedReferences = {
  assignees: undefined,
  labels: undefined,
  addLabels: [],
  removeLabels: [],
  lacksLabels: false,
  milestone: undefined,
  epic: undefined,
  original: undefined,
};

/** Closes the issue, unless it is closed, in the caller's transaction. 404 when it is gone. */
export const closeIssue = (
  context: ActorContext,
  tx: Db,
  project: AuthorizedProject,
  issueId: number,
  why: {
    /** The issue that it duplicates. */
    original?: Referenced | null | undefined;
    via?: ClosingSource;
  } = {},
): Promise<IssueRow> =>
  change(context, tx, project, issueId, {
    asked: { state_event: 'close' },
    references: { ...noRelations, original: why.original },
    mentioned: [],
    via: why.via,
  });

/** Puts the issue into an epic, or takes it out, in the caller's transaction. 404 when it is gone. */
export const changeEpic = (
  context: ActorContext,
  tx: Db,
  project: AuthorizedProject,
  issueId: number,
  to: FoundEpic | null,
): Promise<IssueRow> =>
  change(context, tx, project, issueId, {
    asked: {},
    references: { ...noRelations, epic: to && epicReference(to) },
    mentioned: [],
  });

/** The row as it is now. */
export const readIssue = (db: Db, id: number): Promise<IssueRow | undefined> =>
  db.selectFrom('issues').selectAll().where('id', '=', id).executeTakeFirst();

/** Statements that write added and removed assignees. */
const assigneeStatements = (tx: Db, issueId: number, changes: readonly WorkChange[]) =>
  changes.flatMap((change) => {
    if (change.what !== 'assignees') return [];
    const removed = change.removed.map(({ id }) => id);
    return [
      removed.length > 0
        ? tx.deleteFrom('issue_assignees').where('issue_id', '=', issueId).where('user_id', 'in', removed)
        : undefined,
      change.added.length > 0
        ? tx
            .insertInto('issue_assignees')
            .values(change.added.map(({ id }) => ({ issue_id: issueId, user_id: id })))
        : undefined,
    ];
  });

/** The statement that puts the issue into its epic, or takes it out. */
const epicStatements = (
  tx: Db,
  { id, iid }: IssueRow,
  changes: readonly WorkChange[],
): StatementParts['statements'] =>
  changes.flatMap((change): StatementParts['statements'] => {
    if (change.what !== 'epic') return [];
    const epic_id = change.to?.id;
    if (epic_id === undefined) return [tx.deleteFrom('epic_issues').where('issue_id', '=', id)];
    return [
      tx
        .insertInto('epic_issues')
        .values({ epic_id, issue_id: id, relative_position: iid * POSITION_GAP })
        .onConflict((taken) => taken.column('issue_id').doUpdateSet({ epic_id })),
    ];
  });

/** Writes what others registered to follow, and the to-dos of those who are assigned or mentioned. */
async function followUp(
  { services, actor }: ActorContext,
  tx: Db,
  noteable: Noteable,
  issue: IssueRow,
  changes: readonly WorkChange[],
  mentioned: readonly MentionTodo[],
): Promise<void> {
  for (const followUp of issueFollowUps.all(services)) {
    await followUp.changed(tx, actor, issue, changes);
    if (eventOf(changes) === 'issue_closed') await followUp.closed(tx, actor, issue);
  }
  const assigned = changes.flatMap((change) => (change.what === 'assignees' ? change.added : []));
  const todos = assigned.map(({ id }): MentionTodo => ({ userId: id, action: 'assigned' }));
  await addTodos(tx, { author: actor, target: noteable }, [...todos, ...mentioned]);
}

/** Deletes the issue with all its rows. `check` sees the locked row first. */
export async function deleteIssue(
  { db, actor }: WriteContext,
  project: AuthorizedProject,
  issue: IssueRow,
  check: (issue: IssueRow) => void = () => {},
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const locked = await lockIssue(tx, issue.id);
    check(locked);
    await ahead(tx).deleteFrom('issues').where('id', '=', issue.id).execute();
    await announce(tx, issueAnnouncement(actor, project, locked, 'issue_deleted', { iid: issue.iid }));
  });
}

/** Makes the issues of a deleted user the ghost's, and what they did on others; nobody is assigned instead. */
export async function reassignIssues(tx: Db, userId: number, ghostId: number): Promise<void> {
  await tx.updateTable('issues').set({ author_id: ghostId }).where('author_id', '=', userId).execute();
  await tx.updateTable('issues').set({ closed_by_id: ghostId }).where('closed_by_id', '=', userId).execute();
  await tx.deleteFrom('issue_assignees').where('user_id', '=', userId).execute();
  await tx.updateTable('timelogs').set({ user_id: ghostId }).where('user_id', '=', userId).execute();
  await tx.updateTable('resource_events').set({ user_id: ghostId }).where('user_id', '=', userId).execute();
}
