/** Writing issues: creation, update and removal, with all that each leaves behind. */
import type { Updateable } from 'kysely';
import { now } from '../../platform/clock.ts';
import { type Db, inTransaction } from '../../platform/db/database.ts';
import type { IssuesTable } from '../../platform/db/rows.ts';
import { invalid } from '../../platform/failure.ts';
import type { AuthorizedProject } from '../access/find.ts';
import { announce } from '../activity/announce.ts';
import type { Actor } from '../identity/actor.ts';
import type { UserBasicRow } from '../identity/records.ts';
import { applyEffects } from './command-effects.ts';
import {
  checkDates,
  checkTexts,
  differences,
  type IssueChanges,
  type IssueState,
  type Labelled,
  labelsAfter,
  type NewIssue,
  permitted,
  resourceEvents,
  type WorkChange,
} from './issue-changes.ts';
import { understand } from './issue-commands.ts';
import { type BornIssue, bearIssue, PLACE_GAP } from './issue-insert.ts';
import { lockIssue } from './issue-lock.ts';
import {
  checkEpic,
  currentSides,
  findMentioned,
  findSides,
  holdEpic,
  type Reminder,
  type Sides,
} from './issue-named.ts';
import { creationRights, updateRights } from './issue-rights.ts';
import type { IssueRow } from './issue-rows.ts';
import type { IssueSides } from './issue-sides.ts';
import { checkIssueSpam } from './issue-spam.ts';
import { withoutScopedSiblings } from './label-names.ts';
import type { LabelRow } from './label-records.ts';
import { writeSystemNotes } from './notes.ts';
import { atCreation } from './read-commands.ts';
import { writeResourceEvents } from './resource-events.ts';
import { systemNote } from './system-notes.ts';
import { issueTarget } from './targets.ts';
import { addTodos, completeTodos } from './todo-writes.ts';
import { changesPayload, eventOf, issueAnnouncement } from './work-events.ts';
import type { WriteContext } from './write-context.ts';

export type { IssueChanges, NewIssue };

/** Labels of one scope exclude each other, from premium up: the last one stays. */
const scoped = <T extends Labelled>(premium: boolean, labels: T[]): T[] =>
  premium ? withoutScopedSiblings(labels) : labels;

/**
 * A new issue of the project. What the caller may not set is passed over; 400 for a wrong title, description, date or
 * milestone, 409 for a number that is taken. All is found beforehand, and written by one statement.
 */
export async function createIssue(
  context: WriteContext,
  project: AuthorizedProject,
  input: NewIssue,
): Promise<CreatedIssue> {
  const { db, services, actor, request } = context;
  const rights = creationRights(services, project);
  const said = await understand(context, project, atCreation, input);
  const asked = { ...permitted(said.changes, rights), title: said.changes.title ?? input.title };
  const { description = null, confidential = false, start_date = null, due_date = null } = asked;
  checkTexts(asked);
  checkDates({ start_date, due_date });
  const [sides, mentioned] = await Promise.all([
    findSides(context, project, asked),
    findMentioned(context, project, description, { confidential, author_id: actor.id }),
  ]);
  checkEpic(sides.epic, confidential);
  await checkIssueSpam(context, project, { write: 'create', title: asked.title, description, confidential });
  const wanted = { labels: sides.labels, add: sides.addLabels, remove: sides.removeLabels };
  const labels = scoped(rights.premium, labelsAfter<LabelRow>([], wanted));
  const assigneeIds = (sides.assignees ?? []).map(({ id }) => id);
  const assigned = assigneeIds.map((userId): Reminder => ({ userId, action: 'assigned' }));
  const userAgent = request.headers['user-agent'];
  const newborn: BornIssue = {
    iid: asked.iid ?? null,
    authorId: actor.id,
    title: asked.title,
    description,
    issueType: asked.issue_type ?? 'issue',
    severity: asked.severity ?? 'UNKNOWN',
    confidential,
    discussionLocked: asked.discussion_locked ?? null,
    milestoneId: sides.milestone?.id ?? null,
    startDate: start_date,
    dueDate: due_date,
    weight: asked.weight ?? null,
    healthStatus: asked.health_status ?? null,
    timeEstimate: asked.time_estimate ?? 0,
    userAgent: typeof userAgent === 'string' ? userAgent : null,
    address: request.address,
    createdAt: asked.created_at ?? now(),
    assigneeIds,
    labelIds: labels.map(({ id }) => id),
    epicId: sides.epic?.id ?? null,
    reminders: [...assigned, ...mentioned],
  };
  const { issue, author } = await bearIssue(db, { actor, project, issue: newborn });
  await applyEffects(context, issueTarget(project, issue), said.effects);
  const { state_event, duplicated_to_id } = said.changes;
  if (state_event)
    return { issue: await updateIssue(context, project, issue, { state_event, duplicated_to_id }) };
  const isBare = said.effects.length + assigneeIds.length === 0 && !sides.milestone && !sides.epic;
  return { issue, ...(isBare && { sides: sidesOfNew(project, issue, author, labels) }) };
}

/** The new row; and what stands beside it, where that is known without looking. */
export type CreatedIssue = { issue: IssueRow; sides?: IssueSides };

/** Of an issue that only has labels: nobody said or did anything yet, and its author, who made it, hears of it. */
const sidesOfNew = (
  project: AuthorizedProject,
  issue: IssueRow,
  author: UserBasicRow,
  labels: readonly LabelRow[],
): IssueSides => ({
  people: new Map([[author.id, author]]),
  assignees: new Map(),
  paths: new Map([[project.id, project.fullPath]]),
  labels: new Map([[issue.id, labels.toSorted((a, b) => (a.name < b.name ? -1 : 1))]]),
  milestones: new Map(),
  counts: new Map(),
  epics: new Map(),
  originals: new Map(),
  subscribed: true,
});

const given = <T>(value: T | undefined, otherwise: T): T => (value === undefined ? otherwise : value);

function stateAfter(before: IssueState, asked: IssueChanges, sides: Sides, premium: boolean): IssueState {
  const event = asked.state_event;
  const asksLabels = sides.labels !== undefined || sides.addLabels.length + sides.removeLabels.length > 0;
  const labels = labelsAfter(before.labels, {
    labels: sides.labels,
    add: sides.addLabels,
    remove: sides.removeLabels,
  });
  return {
    title: given(asked.title, before.title),
    description: given(asked.description, before.description),
    state: event === undefined ? before.state : event === 'close' ? 'closed' : 'opened',
    confidential: given(asked.confidential, before.confidential),
    discussion_locked: given(asked.discussion_locked, before.discussion_locked),
    issue_type: given(asked.issue_type, before.issue_type),
    severity: given(asked.severity, before.severity),
    start_date: given(asked.start_date, before.start_date),
    due_date: given(asked.due_date, before.due_date),
    weight: given(asked.weight, before.weight),
    health_status: given(asked.health_status, before.health_status),
    time_estimate: given(asked.time_estimate, before.time_estimate),
    assignees: given(sides.assignees, before.assignees),
    labels: asksLabels ? scoped(premium, labels) : before.labels,
    milestone: given(sides.milestone, before.milestone),
    epic: given(sides.epic, before.epic),
    original: given(sides.original, before.original),
  };
}

/** The columns that are written, and when they say it happened. */
function columnsOf(
  after: IssueState,
  changes: readonly WorkChange[],
  actor: Actor,
  asked: Pick<IssueChanges, 'created_at' | 'updated_at'>,
): Updateable<IssuesTable> {
  const time = asked.updated_at ?? now();
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
    ...(asked.created_at && { created_at: asked.created_at }),
    updated_at: time,
  };
}

/**
 * The issue with the changes that the caller may make; what is asked for and already so is no change and leaves nothing
 * behind. 400 for a wrong title, description, date or milestone. Whoever calls decided that the caller may change it.
 */
export async function updateIssue(
  context: WriteContext,
  project: AuthorizedProject,
  issue: IssueRow,
  requested: IssueChanges,
): Promise<IssueRow> {
  const { db, services, actor } = context;
  const rights = updateRights(services, project);
  const said = await understand(context, project, issue, requested);
  const asked = permitted(said.changes, rights);
  checkTexts(asked);
  const sides = await findSides(context, project, asked);
  if (sides.original?.id === issue.id) throw invalid({ duplicated_to: ['cannot be the issue itself'] });
  const mentioned =
    asked.description === undefined || asked.description === issue.description
      ? []
      : await findMentioned(context, project, asked.description, issue, issue.description);
  const { title = issue.title, description = issue.description, confidential = issue.confidential } = asked;
  const opens = issue.confidential && !confidential;
  if (opens || title !== issue.title || description !== issue.description) {
    await checkIssueSpam(context, project, { write: 'update', title, description, confidential });
  }
  const changed = await inTransaction(db, async (tx) => {
    const locked = await lockIssue(tx, issue.id);
    const before: IssueState = { ...locked, ...(await currentSides(tx, issue.id)) };
    const after = stateAfter(before, asked, sides, rights.premium);
    const changes = differences(before, after);
    if (changes.length === 0 && !asked.created_at && !asked.updated_at) return locked;
    checkDates(after);
    if (after.epic && changes.some(({ what }) => what === 'epic' || what === 'confidential'))
      checkEpic(await holdEpic(tx, after.epic.id), after.confidential);
    const row = await tx
      .updateTable('issues')
      .set(columnsOf(after, changes, actor, asked))
      .where('id', '=', issue.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await writeSides(tx, row, changes);
    await tell(context, tx, project, row, changes, mentioned);
    return row;
  });
  if (said.effects.length === 0) return changed;
  await applyEffects(context, issueTarget(project, changed), said.effects);
  return (await readIssue(db, issue.id)) ?? changed;
}

const readIssue = (db: Db, id: number): Promise<IssueRow | undefined> =>
  db.selectFrom('issues').selectAll().where('id', '=', id).executeTakeFirst();

/** The rows of other tables that say what the issue has. */
async function writeSides(tx: Db, issue: IssueRow, changes: readonly WorkChange[]): Promise<void> {
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
    .values({ epic_id: epicId, issue_id: issue.id, relative_position: issue.iid * PLACE_GAP })
    .onConflict((conflict) => conflict.column('issue_id').doUpdateSet({ epic_id: epicId }))
    .execute();
}

/** Notes, events, reminders and announcements of the changes. */
async function tell(
  { actor }: WriteContext,
  tx: Db,
  project: AuthorizedProject,
  issue: IssueRow,
  changes: readonly WorkChange[],
  mentioned: readonly Reminder[],
): Promise<void> {
  if (changes.length === 0) return;
  const target = issueTarget(project, issue);
  const notes = changes.map((change) => systemNote(change));
  await writeSystemNotes(tx, target, actor, notes);
  await writeResourceEvents(tx, { issueId: issue.id }, actor.id, resourceEvents(changes));
  await completeTodos(tx, actor.id, target);
  const assigned = changes.flatMap((change) => (change.what === 'assignees' ? change.added : []));
  const reminders = [
    ...assigned.map(({ id }): Reminder => ({ userId: id, action: 'assigned' })),
    ...mentioned,
  ];
  for (const action of ['assigned', 'mentioned', 'directly_addressed'] as const) {
    const users = reminders.filter((each) => each.action === action).map(({ userId }) => userId);
    await addTodos(tx, { users, author: actor, target, action });
  }
  const payload = { changes: changesPayload(changes) };
  await announce(tx, issueAnnouncement(actor, project, issue, eventOf(changes), payload));
}

/** Removes the issue with all that hangs on it. `check` sees the row as it is when nobody else can change it any more. */
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
