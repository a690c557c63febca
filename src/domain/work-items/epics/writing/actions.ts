/** Creates, updates and deletes epics, with their notes, events and announcements. */

import type { AuthorizedGroup } from '../../../../kernel/access/find.ts';
import { type ActivityAction, announce } from '../../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import { now } from '../../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../../platform/db/database.ts';
import type { Json } from '../../../../platform/db/rows.ts';
import { conflict, notFound } from '../../../../platform/failure.ts';
import {
  addMentionTodos,
  completeTodos,
  findMentionTodos,
  type WriteContext,
  writeSystemNotes,
} from '../../../conversation/index.ts';
import { labelsOf, nextIid } from '../../../planning/index.ts';
import { resourceEvents, type WorkChange, without } from '../../changes/issue-changes.ts';
import { systemNote } from '../../changes/system-notes.ts';
import { writeResourceEvents } from '../../resource-events/actions.ts';
import { epicNoteable } from '../records/epic-noteable.ts';
import type { EpicRow } from '../records/epic-rows.ts';
import type { FoundEpic } from '../records/find-queries.ts';
import {
  changedColumns,
  type EpicChanges,
  epicDifferences,
  type NewEpic,
  newColumns,
} from './epic-changes.ts';
import { addSystemNoteOfEpic } from './epic-notes.ts';
import { changedLabels, writeLabels } from './label-actions.ts';
import { joinEpics, lockTrees, separateEpic } from './tree-actions.ts';

export type ActorContext = Pick<WriteContext, 'db' | 'services' | 'actor'>;

/** A new epic of the group; 400 for a wrong title, description or colour. */
export const createEpic = (
  context: ActorContext,
  group: AuthorizedGroup,
  input: NewEpic,
  parent?: FoundEpic,
): Promise<EpicRow> => inTransaction(context.db, (tx) => insertEpic(context, tx, group, input, parent));

/** The same within a transaction. */
export async function insertEpic(
  context: ActorContext,
  tx: Db,
  group: AuthorizedGroup,
  input: NewEpic,
  parent?: FoundEpic,
): Promise<EpicRow> {
  const { actor } = context;
  const columns = newColumns(input);
  // Before the group's counter, in the lock order of other changes of trees.
  if (parent) await lockTrees(tx);
  const iid = await nextIid(tx, { groupId: group.id }, 'epics');
  const time = input.created_at ?? now();
  const epic = await tx
    .insertInto('epics')
    .values({
      ...columns,
      iid,
      namespace_id: group.id,
      author_id: actor.id,
      title: input.title,
      relative_position: 0,
      created_at: time,
      updated_at: time,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const labels = await changedLabels(tx, actor, group, [], input);
  await writeLabels(tx, epic.id, { added: labels, removed: [] });
  const events = resourceEvents([{ what: 'labels', added: labels, removed: [] }]);
  await writeResourceEvents(tx, { epicId: epic.id }, actor.id, events);
  await addTodosOfMentions(context, tx, group, epic, null);
  await addSystemNotes(tx, actor, group, epic, 'epic_created', 'created');
  return parent ? moveEpic(tx, actor, { epic, group }, { from: null, to: parent }) : epic;
}

/** The old parent, if there is one that the actor sees, and the new one. */
export type Parentage = { from: FoundEpic | null; to: FoundEpic | null };

/** The changed epic; absent properties stay. 404 when it is gone, 400 and 409 for wrong values. */
export const updateEpic = (
  context: ActorContext,
  group: AuthorizedGroup,
  { id }: Pick<EpicRow, 'id'>,
  changes: EpicChanges,
  parentage?: Parentage,
): Promise<EpicRow> =>
  inTransaction(context.db, async (tx) => {
    if (parentage || changes.confidential !== undefined) await lockTrees(tx);
    const epic = await writeChanges(context, tx, group, id, changes);
    return parentage ? moveEpic(tx, context.actor, { epic, group }, parentage) : epic;
  });

/** Sets or removes the parent of an epic; both get a system note. Fails as joinEpics(). */
export const setParent = (
  { db, actor }: Pick<ActorContext, 'db' | 'actor'>,
  child: FoundEpic,
  parentage: Parentage,
): Promise<EpicRow> => inTransaction(db, (tx) => moveEpic(tx, actor, child, parentage));

async function writeChanges(
  context: ActorContext,
  tx: Db,
  group: AuthorizedGroup,
  id: number,
  changes: EpicChanges,
): Promise<EpicRow> {
  const { actor } = context;
  const before = await lockEpic(tx, id);
  const time = changes.updated_at ?? now();
  const columns = changedColumns(before, changes, actor, time);
  if (columns.confidential !== undefined) await checkConfidentiality(tx, { ...before, ...columns });
  const labelsBefore = (await labelsOf(tx, 'epic', [id])).get(id) ?? [];
  const labels = await changedLabels(tx, actor, group, labelsBefore, changes);
  const told = epicDifferences(
    { epic: before, labels: labelsBefore },
    { epic: { ...before, ...columns }, labels },
  );
  if (told.length === 0 && Object.keys(columns).length === 0 && !changes.updated_at) return before;
  const epic = await tx
    .updateTable('epics')
    .set({ ...columns, updated_at: time })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await writeLabels(tx, id, {
    added: without(labels, labelsBefore),
    removed: without(labelsBefore, labels),
  });
  await addChangeNotes(tx, actor, group, epic, told);
  if (columns.description !== undefined)
    await addTodosOfMentions(context, tx, group, epic, before.description);
  return epic;
}

/** Deletes the epic; `check` sees its locked row first. Its children lose their parent. */
export const deleteEpic = (
  { db, actor }: ActorContext,
  group: AuthorizedGroup,
  { id }: Pick<EpicRow, 'id'>,
  check: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    await lockTrees(tx);
    const epic = await lockEpic(tx, id);
    check(epic.updated_at);
    await tx.deleteFrom('epics').where('id', '=', id).execute();
    await addSystemNotes(tx, actor, group, epic, 'epic_destroyed');
  });

async function moveEpic(tx: Db, actor: Actor, child: FoundEpic, { from, to }: Parentage): Promise<EpicRow> {
  const epic = to ? await joinEpics(tx, to.epic.id, child.epic.id) : await separateEpic(tx, child.epic);
  if (from) await addKinshipNotes(tx, actor, 'removed', from, child);
  if (to) await addKinshipNotes(tx, actor, 'added', to, child);
  return epic;
}

async function addKinshipNotes(
  tx: Db,
  actor: Actor,
  verb: 'added' | 'removed',
  parent: FoundEpic,
  child: FoundEpic,
): Promise<void> {
  const action = verb === 'added' ? 'relate_epic' : 'unrelate_epic';
  const tell = (told: FoundEpic, named: FoundEpic, role: string) =>
    addSystemNoteOfEpic(tx, actor, told, named, (reference) => ({
      action,
      body: `${verb} epic ${reference} as ${role}`,
    }));
  await tell(parent, child, 'child epic');
  await tell(child, parent, 'parent epic');
}

/** The epic as it is now, locked until the transaction ends; 404 when it is gone. */
async function lockEpic(tx: Db, id: number): Promise<EpicRow> {
  const epic = await tx.selectFrom('epics').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
  if (!epic) throw notFound();
  return epic;
}

/** Fails with 409 where a public epic or issue would be below a confidential epic. */
async function checkConfidentiality(tx: Db, epic: EpicRow): Promise<void> {
  if (!epic.confidential) {
    const parent = await tx
      .selectFrom('epics')
      .select('id')
      .where('id', '=', epic.parent_id ?? 0)
      .where('confidential', '=', true)
      .executeTakeFirst();
    if (parent) throw conflict('A non-confidential epic cannot be assigned to a confidential parent epic');
    return;
  }
  const child = await tx
    .selectFrom('epics')
    .select('id')
    .where('parent_id', '=', epic.id)
    .where('confidential', '=', false)
    .executeTakeFirst();
  if (child) throw conflict('Cannot make the epic confidential if it contains non-confidential child epics');
  const issue = await tx
    .selectFrom('epic_issues')
    .innerJoin('issues', 'issues.id', 'epic_issues.issue_id')
    .select('issues.id')
    .where('epic_issues.epic_id', '=', epic.id)
    .where('issues.confidential', '=', false)
    .executeTakeFirst();
  if (issue) throw conflict('Cannot make the epic confidential if it contains non-confidential issues');
}

/** The notes, events and announcement of an update. */
async function addChangeNotes(
  tx: Db,
  actor: Actor,
  group: AuthorizedGroup,
  epic: EpicRow,
  changes: readonly WorkChange[],
): Promise<void> {
  const notes = changes.map((change) => systemNote(change, 'epic'));
  const state = changes.find((change) => change.what === 'state');
  const noteable = epicNoteable(group, epic);
  await Promise.all([
    writeSystemNotes(tx, noteable, actor, notes),
    completeTodos(tx, actor.id, noteable),
    writeResourceEvents(tx, { epicId: epic.id }, actor.id, resourceEvents(changes)),
    addSystemNotes(tx, actor, group, epic, 'epic_updated', state?.to, {
      changes: [...new Set(changes.map(({ what }) => what))],
    }),
  ]);
}

/** The audit event, the activity event, and the announcement. */
async function addSystemNotes(
  tx: Db,
  author: Actor,
  group: AuthorizedGroup,
  epic: EpicRow,
  event: 'epic_created' | 'epic_updated' | 'epic_destroyed',
  action?: ActivityAction,
  details: Record<string, Json> = {},
): Promise<void> {
  await announce(tx, {
    author,
    audit: {
      entity: { type: 'Group', id: group.id, path: group.row.full_path },
      event,
      details: { target_id: epic.id, target_type: 'Epic', target_details: epic.title, ...details },
    },
    ...(action && {
      activity: { action, namespaceId: group.id, targetType: 'Epic', targetId: epic.id },
    }),
    fact: { name: event, payload: { group_id: group.id, user_id: author.id, epic_id: epic.id, ...details } },
  });
}

/** Adds to-dos for users whom the description mentions and did not mention before. */
async function addTodosOfMentions(
  { services, actor }: ActorContext,
  tx: Db,
  group: AuthorizedGroup,
  epic: EpicRow,
  before: string | null,
): Promise<void> {
  const change = { actor, target: epicNoteable(group, epic), text: epic.description, before };
  const mentioned = await findMentionTodos(tx, services.database.points, change);
  await addMentionTodos(tx, change, mentioned);
}

/** Makes the epics of a deleted user the ghost's. */
export async function reassignEpics(tx: Db, userId: number, ghostId: number): Promise<void> {
  await tx.updateTable('epics').set({ author_id: ghostId }).where('author_id', '=', userId).execute();
  await tx.updateTable('epics').set({ closed_by_id: ghostId }).where('closed_by_id', '=', userId).execute();
}
