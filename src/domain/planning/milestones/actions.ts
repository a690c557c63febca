/** Makes milestones, changes, closes and deletes them. */
import { lockNamespace } from '../../../kernel/access/resource-parent-queries.ts';
import {
  auditedParent,
  isProject,
  parentColumns,
  type ResourceParent,
} from '../../../kernel/access/resource-parents.ts';
import { type ActivityAction, announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { invalid } from '../../../platform/failure.ts';
import { nextIid } from '../counter-actions.ts';
import { attributesOf } from './hook-events.ts';
import type { MilestoneRow } from './milestone-records.ts';
import { isTitleTaken, lockMilestone } from './queries.ts';
import { milestoneTitle, nextState, refuseDates } from './rules.ts';
import type { CreateInput, MilestoneChanges } from './schema.ts';

type MilestoneEvent =
  | 'milestone_created'
  | 'milestone_updated'
  | 'milestone_closed'
  | 'milestone_reopened'
  | 'milestone_deleted'
  | 'milestone_promoted';

const activities: Partial<Record<MilestoneEvent, ActivityAction>> = {
  milestone_created: 'created',
  milestone_closed: 'closed',
  milestone_reopened: 'reopened',
  milestone_deleted: 'destroyed',
};

/** Announces a change; the activity has the actions on projects' milestones only. */
export function announceMilestone(
  tx: Db,
  actor: Actor,
  parent: ResourceParent,
  event: MilestoneEvent,
  milestone: MilestoneRow,
  details: Record<string, Json> = {},
): Promise<void> {
  const { id, title } = milestone;
  const action = isProject(parent) ? activities[event] : undefined;
  return announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(parent),
      event,
      details: { ...details, target_id: id, target_type: 'Milestone', target_details: title },
    },
    ...(action && {
      activity: {
        action,
        projectId: parent.id,
        targetType: 'Milestone',
        targetId: id,
        ...(action === 'destroyed' && { details: { title } }),
      },
    }),
    fact: {
      name: event,
      payload: {
        ...parentColumns(parent),
        milestone_id: id,
        ...(event === 'milestone_deleted' && { gone: attributesOf(milestone) }),
      },
    },
  });
}

/**
 * One title for one milestone across a group and its projects: a second change with a title waits for the
 * first.
 */
async function requireFreeTitle(
  tx: Db,
  parent: ResourceParent,
  title: string,
  exceptId?: number,
): Promise<void> {
  await lockNamespace(tx, isProject(parent) ? parent.row.namespace_id : parent.id);
  if (await isTitleTaken(tx, parent, title, exceptId))
    throw invalid({ title: ['already being used for another group or project milestone.'] });
}

/** The parent in the shape of its counter. */
const countedParent = (parent: ResourceParent): { projectId: number } | { groupId: number } =>
  isProject(parent) ? { projectId: parent.id } : { groupId: parent.id };

/** Makes a milestone; 400 for a title that the project, its group or a project of the group has given to one. */
export async function createMilestone(
  db: Db,
  actor: Actor,
  parent: ResourceParent,
  input: CreateInput,
): Promise<MilestoneRow> {
  const title = milestoneTitle(input.title);
  const { description = null, start_date = null, due_date = null } = input;
  refuseDates({ start_date, due_date });
  return inTransaction(db, async (tx) => {
    await requireFreeTitle(tx, parent, title);
    const iid = await nextIid(tx, countedParent(parent));
    const time = now();
    const milestone = await tx
      .insertInto('milestones')
      .values({
        ...parentColumns(parent),
        iid,
        title,
        description,
        start_date,
        due_date,
        created_at: time,
        updated_at: time,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await announceMilestone(tx, actor, parent, 'milestone_created', milestone);
    return milestone;
  });
}

/** Changes the properties of the parent's own milestone that the request names; 404 without it. */
export const updateMilestone = (
  db: Db,
  actor: Actor,
  parent: ResourceParent,
  id: number,
  { state_event, ...changes }: MilestoneChanges,
): Promise<MilestoneRow> =>
  inTransaction(db, async (tx) => {
    const title = changes.title === undefined ? undefined : milestoneTitle(changes.title);
    if (title !== undefined) await requireFreeTitle(tx, parent, title, id);
    const before = found(await lockMilestone(tx, parent, id));
    refuseDates({ ...before, ...changes });
    const state = nextState(before.state, state_event);
    const milestone = await tx
      .updateTable('milestones')
      .set({ ...changes, ...(title !== undefined && { title }), ...(state && { state }), updated_at: now() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    const event = state === undefined ? 'updated' : state === 'closed' ? 'closed' : 'reopened';
    await announceMilestone(tx, actor, parent, `milestone_${event}`, milestone);
    return milestone;
  });

/** Deletes the parent's own milestone; 404 without it. Its issues have none then. */
export const deleteMilestone = (
  db: Db,
  actor: Actor,
  parent: ResourceParent,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const milestone = found(await lockMilestone(tx, parent, id));
    unmodified(milestone.updated_at);
    await ahead(tx).deleteFrom('milestones').where('id', '=', id).execute();
    await announceMilestone(tx, actor, parent, 'milestone_deleted', milestone);
  });
