/** Creates, updates and deletes epics, with their notes, events and announcements. */

import { sql } from 'kysely';
import type { AuthorizedGroup } from '../../../../kernel/access/find.ts';
import { announce } from '../../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../../kernel/actor.ts';
import { now } from '../../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../../platform/db/database.ts';
import { runAsOne } from '../../../../platform/db/run-as-one.ts';
import { conflict, notFound } from '../../../../platform/failure.ts';
import { addTodos, findMentionTodos, type WriteContext } from '../../../conversation/index.ts';
import { followingChanges } from '../../changes/change-actions.ts';
import type { Labelled } from '../../changes/issue-changes.ts';
import { systemNotes } from '../../changes/system-notes.ts';
import { applyEffects } from '../../quick-actions/work-command-effects.ts';
import type { WorkEffect } from '../../quick-actions/work-command-terms.ts';
import { epicNoteable, newEpicNoteable } from '../records/epic-noteable.ts';
import type { EpicRow } from '../records/epic-rows.ts';
import type { FoundEpic } from '../records/find-queries.ts';
import {
  changedColumns,
  type EpicChanges,
  epicDifferences,
  type NewEpic,
  newColumns,
} from './epic-changes.ts';
import { epicAnnouncement } from './epic-events.ts';
import { addSystemNoteOfEpic } from './epic-notes.ts';
import { insertPrepared } from './insert-actions.ts';
import { changedLabels } from './label-actions.ts';
import { joinEpics, lockTrees, placeBelow, separateEpic } from './tree-actions.ts';

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

/** The same within a transaction: what the epic will be is found first, and one statement inserts it. */
export async function insertEpic(
  { services, actor }: ActorContext,
  tx: Db,
  group: AuthorizedGroup,
  input: NewEpic,
  parent?: FoundEpic,
): Promise<EpicRow> {
  const columns = newColumns(input);
  const { title, description, confidential = false } = input;
  // Before the group's counter, in the lock order of other changes of trees.
  const place = parent
    ? await placeBelow(tx, parent.epic.id, { confidential })
    : { parent_id: null, relative_position: 0 };
  const labels = await changedLabels(tx, actor, group, [], input);
  const todos = await findMentionTodos(tx, services.database.points, {
    actor,
    target: newEpicNoteable(group, { confidential, authorId: actor.id }),
    text: description,
  });
  const labelIds = labels.map(({ id }) => id);
  const epic = await insertPrepared(tx, actor, group, {
    columns: { ...columns, ...place, title },
    labelIds,
    todos,
  });
  if (parent) await addKinshipNotes(tx, actor, 'added', parent, { epic, group });
  return epic;
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
  { services, actor }: ActorContext,
  tx: Db,
  group: AuthorizedGroup,
  id: number,
  changes: EpicChanges,
): Promise<EpicRow> {
  const { labels: labelsBefore, ...before } = await lockLabelled(tx, id);
  const time = changes.updated_at ?? now();
  const columns = changedColumns(before, changes, actor, time);
  if (columns.confidential !== undefined) await checkConfidentiality(tx, { ...before, ...columns });
  const labels = await changedLabels(tx, actor, group, labelsBefore, changes);
  const told = epicDifferences(
    { epic: before, labels: labelsBefore },
    { epic: { ...before, ...columns }, labels },
  );
  if (told.length === 0 && Object.keys(columns).length === 0 && !changes.updated_at) return before;
  const update = tx
    .updateTable('epics')
    .set({ ...columns, updated_at: time })
    .where('id', '=', id);
  const state = told.find((change) => change.what === 'state');
  const details = { changes: [...new Set(told.map(({ what }) => what))] };
  const epic: EpicRow = { ...before, ...columns, updated_at: time };
  const announcement = epicAnnouncement(actor, group, epic, 'epic_updated', state?.to, details);
  const notes = told.flatMap((change) => systemNotes(change, 'epic'));
  const noteable = epicNoteable(group, before);
  const following = followingChanges(tx, actor, noteable, { changes: told, notes }, announcement);
  await runAsOne(tx, { ...following, statements: [...following.statements, update] });
  if (columns.description !== undefined) {
    const target = epicNoteable(group, epic);
    const change = { actor, target, text: epic.description, before: before.description };
    const mentioned = await findMentionTodos(tx, services.database.points, change);
    await addTodos(tx, { author: actor, target }, mentioned);
  }
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
    const epic = await tx.selectFrom('epics').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
    if (!epic) throw notFound();
    check(epic.updated_at);
    await ahead(tx).deleteFrom('epics').where('id', '=', id).execute();
    await announce(tx, epicAnnouncement(actor, group, epic, 'epic_destroyed'));
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

/** The epic as it is now with its labels, locked until the transaction ends; 404 when it is gone. */
async function lockLabelled(tx: Db, id: number): Promise<EpicRow & { labels: Labelled[] }> {
  // By a statement of its own: the labels that the next one reads are those of the locked epic.
  await ahead(tx).selectFrom('epics').select('id').where('id', '=', id).forUpdate().execute();
  const found = await tx
    .selectFrom('epics')
    .selectAll()
    .select(
      sql<
        Labelled[]
      >`(select coalesce(jsonb_agg(jsonb_build_object('id', l.id, 'name', l.name) order by l.name, l.id), '[]')
        from label_links k join labels l on l.id = k.label_id where k.epic_id = epics.id)`.as('labels'),
    )
    .where('id', '=', id)
    .executeTakeFirst();
  if (!found) throw notFound();
  return found;
}

/** Fails with 409 where a public epic or issue would be below a confidential epic. */
async function checkConfidentiality(tx: Db, { id, parent_id, confidential }: EpicRow): Promise<void> {
  const { rows } = await sql<Record<'parent' | 'child' | 'issue', boolean>>`
    select exists (select from epics where id = ${parent_id} and confidential) as parent,
      exists (select from epics where parent_id = ${id} and not confidential) as child,
      exists (select from epic_issues l join issues i on i.id = l.issue_id where l.epic_id = ${id} and not i.confidential) as issue`.execute(
    tx,
  );
  const { parent, child, issue } = rows[0] ?? {};
  if (!confidential && parent)
    throw conflict('A non-confidential epic cannot be assigned to a confidential parent epic');
  if (confidential && child)
    throw conflict('Cannot make the epic confidential if it contains non-confidential child epics');
  if (confidential && issue)
    throw conflict('Cannot make the epic confidential if it contains non-confidential issues');
}

/** Makes the epics of a deleted user the ghost's. */
export async function reassignEpics(tx: Db, userId: number, ghostId: number): Promise<void> {
  await tx.updateTable('epics').set({ author_id: ghostId }).where('author_id', '=', userId).execute();
  await tx.updateTable('epics').set({ closed_by_id: ghostId }).where('closed_by_id', '=', userId).execute();
}
