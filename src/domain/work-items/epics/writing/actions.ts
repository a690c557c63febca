/** Creates, updates and deletes epics, with their notes, events and announcements. */

import type { AuthorizedGroup } from '../../../../kernel/access/find.ts';
import {
  type ActivityAction,
  type Announcement,
  announce,
  announcementParts,
} from '../../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import { now } from '../../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../../platform/db/database.ts';
import type { Json } from '../../../../platform/db/rows.ts';
import { runAsOne } from '../../../../platform/db/run-as-one.ts';
import { conflict, notFound } from '../../../../platform/failure.ts';
import { addMentionTodos, findMentionTodos, type WriteContext } from '../../../conversation/index.ts';
import { labelsOf, nextIid } from '../../../planning/index.ts';
import { followingChanges, labelStatements } from '../../changes/change-actions.ts';
import { resourceEvents, type WorkChange } from '../../changes/issue-changes.ts';
import { applyEffects } from '../../quick-actions/work-command-effects.ts';
import type { WorkEffect } from '../../quick-actions/work-command-terms.ts';
import { insertResourceEvents } from '../../resource-events/actions.ts';
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
import { changedLabels } from './label-actions.ts';
import { joinEpics, lockTrees, separateEpic } from './tree-actions.ts';

export type ActorContext = Pick<WriteContext, 'db' | 'services' | 'actor'>;

/** A new epic of the group, after the effects of its description's quick actions; 400 for a wrong title, description or colour. */
export const createEpic = (
  context: ActorContext,
  group: AuthorizedGroup,
  input: NewEpic,
  { parent, effects = [] }: { parent?: FoundEpic | undefined; effects?: readonly WorkEffect[] } = {},
): Promise<EpicRow> =>
  inTransaction(context.db, async (tx) =>
    withEffects(context, tx, group, await insertEpic(context, tx, group, input, parent), effects),
  );

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
  const target = { epic_id: epic.id };
  const added: WorkChange[] = [{ what: 'labels', added: labels, removed: [] }];
  await runAsOne(tx, {
    statements: [
      ...labelStatements(tx, target, added),
      insertResourceEvents(tx, target, actor.id, resourceEvents(added)),
    ],
    parts: announcementParts([announcementOf(actor, group, epic, 'epic_created', 'created')]),
  });
  await addTodosOfMentions(context, tx, group, epic, null);
  return parent ? moveEpic(tx, actor, { epic, group }, { from: null, to: parent }) : epic;
}

/** The old parent, if there is one that the actor sees, and the new one. */
export type Parentage = { from: FoundEpic | null; to: FoundEpic | null };

/**
 * The changed epic, after the effects of its description's quick actions; absent properties stay. 404 when it is gone,
 * 400 and 409 for wrong values.
 */
export const updateEpic = (
  context: ActorContext,
  group: AuthorizedGroup,
  { id }: Pick<EpicRow, 'id'>,
  changes: EpicChanges,
  { parentage, effects = [] }: { parentage?: Parentage | undefined; effects?: readonly WorkEffect[] } = {},
): Promise<EpicRow> =>
  inTransaction(context.db, async (tx) => {
    if (parentage || changes.confidential !== undefined) await lockTrees(tx);
    const changed = await writeChanges(context, tx, group, id, changes);
    const epic = parentage ? await moveEpic(tx, context.actor, { epic: changed, group }, parentage) : changed;
    return withEffects(context, tx, group, epic, effects);
  });

async function withEffects(
  context: ActorContext,
  tx: Db,
  group: AuthorizedGroup,
  epic: EpicRow,
  effects: readonly WorkEffect[],
): Promise<EpicRow> {
  if (effects.length === 0) return epic;
  await applyEffects({ ...context, db: tx }, epicNoteable(group, epic), effects);
  return tx.selectFrom('epics').selectAll().where('id', '=', epic.id).executeTakeFirstOrThrow();
}

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
  // One connection runs them one after the other: the labels are those of the locked epic.
  const [before, labelled] = await Promise.all([lockEpic(tx, id), labelsOf(tx, 'epic', [id])]);
  const time = changes.updated_at ?? now();
  const columns = changedColumns(before, changes, actor, time);
  if (columns.confidential !== undefined) await checkConfidentiality(tx, { ...before, ...columns });
  const labelsBefore = labelled.get(id) ?? [];
  const labels = await changedLabels(tx, actor, group, labelsBefore, changes);
  const told = epicDifferences(
    { epic: before, labels: labelsBefore },
    { epic: { ...before, ...columns }, labels },
  );
  if (told.length === 0 && Object.keys(columns).length === 0 && !changes.updated_at) return before;
  const update = tx
    .updateTable('epics')
    .set({ ...columns, updated_at: time })
    .where('id', '=', id)
    .returningAll();
  const state = told.find((change) => change.what === 'state');
  const details = { changes: [...new Set(told.map(({ what }) => what))] };
  const noted = { ...before, title: columns.title ?? before.title };
  const announcement = announcementOf(actor, group, noted, 'epic_updated', state?.to, details);
  const following = followingChanges(tx, actor, epicNoteable(group, before), told, announcement);
  const [epic] = await runAsOne(tx, following, update);
  if (!epic) throw notFound();
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
    await announce(tx, announcementOf(actor, group, epic, 'epic_destroyed'));
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

/** The audit event, the activity event, and the fact. */
const announcementOf = (
  author: Actor,
  group: AuthorizedGroup,
  epic: EpicRow,
  event: 'epic_created' | 'epic_updated' | 'epic_destroyed',
  action?: ActivityAction,
  details: Record<string, Json> = {},
): Announcement => ({
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
