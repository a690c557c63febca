/** Updates and deletes issues, with their relations, notes, events and announcements. */
import type { Updateable } from 'kysely';
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import { announce } from '../../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import { now } from '../../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../../platform/db/database.ts';
import type { IssuesTable } from '../../../../platform/db/rows.ts';
import { invalid } from '../../../../platform/failure.ts';
import {
  type ActorContext,
  addTodos,
  completeTodos,
  type MentionTodo,
  type WriteContext,
  writeSystemNotes,
} from '../../../conversation/index.ts';
import { withoutScopedSiblings } from '../../../planning/index.ts';
import {
  checkDates,
  checkTexts,
  differences,
  type IssueChanges,
  type IssueState,
  type Labelled,
  labelsAfter,
  permitted,
  resourceEvents,
  type WorkChange,
} from '../../changes/issue-changes.ts';
import { systemNote } from '../../changes/system-notes.ts';
import { applyEffects } from '../../quick-actions/work-command-effects.ts';
import { writeResourceEvents } from '../../resource-events/actions.ts';
import { issueNoteable } from '../records/issue-noteable.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { POSITION_GAP } from './insert-actions.ts';
import { parseQuickActions } from './issue-commands.ts';
import { issueFollowUps } from './issue-follow-ups.ts';
import { updateRights } from './issue-rights.ts';
import { checkIssueSpam } from './issue-spam.ts';
import { lockIssue } from './lock-queries.ts';
import { currentRelations, holdEpic } from './relation-queries.ts';
import {
  checkEpic,
  findMentioned,
  type ResolvedReferences,
  resolveReferences,
  withNewLabels,
} from './resolve-references.ts';
import { changesPayload, eventOf, issueAnnouncement } from './work-events.ts';

/** Labels of one scope exclude each other, from premium up: the last one stays. */
export const scoped = <T extends Labelled>(premium: boolean, labels: T[]): T[] =>
  premium ? withoutScopedSiblings(labels) : labels;

const given = <T>(value: T | undefined, otherwise: T): T => (value === undefined ? otherwise : value);

function stateAfter(
  before: IssueState,
  requested: IssueChanges,
  references: ResolvedReferences,
  premium: boolean,
): IssueState {
  const event = requested.state_event;
  const asksLabels =
    references.labels !== undefined || references.addLabels.length + references.removeLabels.length > 0;
  const labels = labelsAfter(before.labels, {
    labels: references.labels,
    add: references.addLabels,
    remove: references.removeLabels,
  });
  return {
    title: given(requested.title, before.title),
    description: given(requested.description, before.description),
    state: event === undefined ? before.state : event === 'close' ? 'closed' : 'opened',
    confidential: given(requested.confidential, before.confidential),
    discussion_locked: given(requested.discussion_locked, before.discussion_locked),
    issue_type: given(requested.issue_type, before.issue_type),
    severity: given(requested.severity, before.severity),
    start_date: given(requested.start_date, before.start_date),
    due_date: given(requested.due_date, before.due_date),
    weight: given(requested.weight, before.weight),
    health_status: given(requested.health_status, before.health_status),
    time_estimate: given(requested.time_estimate, before.time_estimate),
    assignees: given(references.assignees, before.assignees),
    labels: asksLabels ? scoped(premium, labels) : before.labels,
    milestone: given(references.milestone, before.milestone),
    epic: given(references.epic, before.epic),
    original: given(references.original, before.original),
  };
}

/** The columns to write, with the times of the changes. */
function columnsOf(
  after: IssueState,
  changes: readonly WorkChange[],
  actor: Actor,
  requested: Pick<IssueChanges, 'created_at' | 'updated_at'>,
): Updateable<IssuesTable> {
  const time = requested.updated_at ?? now();
  const state = changes.find((change) => change.what === 'state');
  const edited = changes.some(({ what }) => what === 'title' || what === 'description');
  const { assignees: _, labels: __, milestone, epic: ___, original, ...columns } = after;
  return {
    ...columns,
    milestone_id: milestone?.id ?? null,
    duplicated_to_id: original?.id ?? null,
    ...(state?.to === 'closed' && { closed_at: time, closed_by_id: actor.id }),
    ...(state?.to === 'reopened' && { closed_at: null, closed_by_id: null }),
    ...(edited && { last_edited_at: time }),
    ...(requested.created_at && { created_at: requested.created_at }),
    updated_at: time,
  };
}

/**
 * The issue with the changes that the caller may make; a requested value that it has already is no change.
 * 400 for a wrong title, description, date or milestone. The caller was checked before.
 */
export async function updateIssue(
  context: WriteContext,
  project: AuthorizedProject,
  issue: IssueRow,
  requested: IssueChanges,
): Promise<IssueRow> {
  const { db, services } = context;
  const rights = updateRights(services, project);
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
  const changed = await inTransaction(db, (tx) =>
    change(context, tx, project, issue.id, { asked, sides: references, mentioned }),
  );
  if (said.effects.length === 0) return changed;
  await applyEffects(context, issueNoteable(project, changed), said.effects);
  return (await readIssue(db, issue.id)) ?? changed;
}

type Decided = { asked: IssueChanges; sides: ResolvedReferences; mentioned: readonly MentionTodo[] };

/** Writes the requested values that differ from the locked row, with notes, events and announcement. */
async function change(
  context: ActorContext,
  tx: Db,
  project: AuthorizedProject,
  issueId: number,
  { asked: requested, sides: found, mentioned }: Decided,
): Promise<IssueRow> {
  const { services, actor } = context;
  const { premium } = updateRights(services, project);
  const locked = await lockIssue(tx, issueId);
  const references = await withNewLabels(tx, actor, project, requested, found);
  const before: IssueState = { ...locked, ...(await currentRelations(tx, issueId)) };
  const after = stateAfter(before, requested, references, premium);
  const changes = differences(before, after);
  if (changes.length === 0 && !requested.created_at && !requested.updated_at) return locked;
  checkDates(after);
  if (after.epic && changes.some(({ what }) => what === 'epic' || what === 'confidential'))
    checkEpic(await holdEpic(tx, after.epic.id), after.confidential);
  const row = await tx
    .updateTable('issues')
    .set(columnsOf(after, changes, actor, requested))
    .where('id', '=', issueId)
    .returningAll()
    .executeTakeFirstOrThrow();
  await writeRelations(tx, row, changes);
  await addSystemNotes(context, tx, project, row, changes, mentioned);
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
): Promise<IssueRow> =>
  change(context, tx, project, issueId, {
    asked: { state_event: 'close' },
    sides: noRelations,
    mentioned: [],
  });

const readIssue = (db: Db, id: number): Promise<IssueRow | undefined> =>
  db.selectFrom('issues').selectAll().where('id', '=', id).executeTakeFirst();

/** Writes the changed rows of relations. */
async function writeRelations(tx: Db, issue: IssueRow, changes: readonly WorkChange[]): Promise<void> {
  for (const change of changes) {
    if (change.what === 'assignees') {
      const link = (user: { id: number }) => ({ issue_id: issue.id, user_id: user.id });
      await remove(tx, 'issue_assignees', 'user_id', issue.id, change.removed);
      if (change.added.length > 0)
        await tx.insertInto('issue_assignees').values(change.added.map(link)).execute();
    }
    if (change.what === 'labels') {
      const link = (label: { id: number }) => ({ issue_id: issue.id, label_id: label.id });
      await remove(tx, 'label_links', 'label_id', issue.id, change.removed);
      if (change.added.length > 0)
        await tx.insertInto('label_links').values(change.added.map(link)).execute();
    }
    if (change.what === 'epic') await setEpic(tx, issue, change.to?.id);
  }
}

async function remove(
  tx: Db,
  table: 'issue_assignees' | 'label_links',
  column: 'user_id' | 'label_id',
  issueId: number,
  gone: readonly { id: number }[],
): Promise<void> {
  if (gone.length === 0) return;
  const ids = gone.map(({ id }) => id);
  await tx.deleteFrom(table).where('issue_id', '=', issueId).where(column, 'in', ids).execute();
}

async function setEpic(tx: Db, issue: IssueRow, epicId: number | undefined): Promise<void> {
  if (epicId === undefined) {
    await tx.deleteFrom('epic_issues').where('issue_id', '=', issue.id).execute();
    return;
  }
  await tx
    .insertInto('epic_issues')
    .values({ epic_id: epicId, issue_id: issue.id, relative_position: issue.iid * POSITION_GAP })
    .onConflict((conflict) => conflict.column('issue_id').doUpdateSet({ epic_id: epicId }))
    .execute();
}

/** Writes the notes, events, to-dos and announcements of the changes. */
async function addSystemNotes(
  { services, actor }: ActorContext,
  tx: Db,
  project: AuthorizedProject,
  issue: IssueRow,
  changes: readonly WorkChange[],
  mentioned: readonly MentionTodo[],
): Promise<void> {
  if (changes.length === 0) return;
  const noteable = issueNoteable(project, issue);
  const notes = changes.map((change) => systemNote(change));
  await writeSystemNotes(tx, noteable, actor, notes);
  await writeResourceEvents(tx, { issueId: issue.id }, actor.id, resourceEvents(changes));
  for (const followUp of issueFollowUps.all(services)) {
    await followUp.changed(tx, actor, issue, changes);
    if (eventOf(changes) === 'issue_closed') await followUp.closed(tx, actor, issue);
  }
  await completeTodos(tx, actor.id, noteable);
  const assigned = changes.flatMap((change) => (change.what === 'assignees' ? change.added : []));
  const todos = [
    ...assigned.map(({ id }): MentionTodo => ({ userId: id, action: 'assigned' })),
    ...mentioned,
  ];
  for (const action of ['assigned', 'mentioned', 'directly_addressed'] as const) {
    const users = todos.filter((each) => each.action === action).map(({ userId }) => userId);
    await addTodos(tx, { users, author: actor, target: noteable, action });
  }
  const payload = { changes: changesPayload(changes) };
  await announce(tx, issueAnnouncement(actor, project, issue, eventOf(changes), payload));
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
    await tx.deleteFrom('issues').where('id', '=', issue.id).execute();
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
