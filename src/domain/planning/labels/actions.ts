/** Makes labels, changes and deletes them, and records subscriptions to them. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import {
  auditedParent,
  isProject,
  parentColumns,
  type ResourceParent,
  reachOf,
} from '../../../kernel/access/resource-parents.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { conflict, type Failure, invalid } from '../../../platform/failure.ts';
import { colorCode, type LabelRow } from './label-records.ts';
import { availableLabels, lockLabel, lockRenamed, writePriority } from './queries.ts';
import { labelName } from './rules.ts';
import type { CreateInput, LabelChanges } from './schema.ts';
import { setLabelSubscription, subscribedLabels } from './subscription-actions.ts';

const taken = () => conflict('Label already exists');

/** The audit event of a change to a label. */
export const auditLabel = (
  tx: Db,
  actor: Actor,
  parent: ResourceParent,
  event: string,
  label: { id: number; name: string },
  details: Record<string, Json> = {},
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(parent),
      event,
      details: { ...details, target_id: label.id, target_type: 'Label', target_details: label.name },
    },
  });

/** Makes a label; 409 where the project or group, or a group around it, has one of this name. */
export async function createLabel(
  db: Db,
  actor: Actor,
  parent: ResourceParent,
  input: CreateInput,
): Promise<LabelRow> {
  const name = labelName(input.name);
  const color = colorCode(input.color);
  return inTransaction(db, async (tx) => {
    if ((await availableLabels(tx, reachOf(parent), [name])).length > 0) throw taken();
    const time = now();
    const label = await tx
      .insertInto('labels')
      .values({
        ...parentColumns(parent),
        name,
        color,
        description: input.description ?? null,
        archived: input.archived ?? false,
        created_at: time,
        updated_at: time,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returningAll()
      .executeTakeFirst();
    if (!label) throw taken();
    if (isProject(parent) && input.priority != null)
      await writePriority(tx, parent.id, label.id, input.priority);
    await auditLabel(tx, actor, parent, 'label_created', label);
    return label;
  });
}

const isOfGroup = ({ row }: AuthorizedProject): Failure =>
  invalid({
    title: [`already exists at group level for ${row.namespace_name}. Please choose another one.`],
  });

/** Changes the properties of the parent's own label that the request names; 404 without it. */
export async function updateLabel(
  db: Db,
  actor: Actor,
  parent: ResourceParent,
  name: string,
  changes: LabelChanges,
): Promise<LabelRow> {
  const newName = changes.new_name === undefined ? undefined : labelName(changes.new_name);
  const color = changes.color === undefined ? undefined : colorCode(changes.color);
  return inTransaction(db, async (tx) => {
    const before = found(await lockRenamed(tx, parent, name, newName), 'Label');
    const renamed = newName !== undefined && newName !== before.name;
    if (renamed && before.is_of_group && isProject(parent)) throw isOfGroup(parent);
    const { description, archived, priority } = changes;
    const label = await tx
      .updateTable('labels')
      .set({
        ...(newName !== undefined && { name: newName }),
        ...(color !== undefined && { color }),
        ...(description !== undefined && { description }),
        ...(archived !== undefined && { archived }),
        updated_at: now(),
      })
      .where('id', '=', before.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    if (isProject(parent) && priority !== undefined) await writePriority(tx, parent.id, label.id, priority);
    const details = renamed ? { change: 'name', from: before.name, to: label.name } : {};
    await auditLabel(tx, actor, parent, 'label_updated', label, details);
    return label;
  });
}

/** Deletes the parent's own label; 404 without it. */
export const deleteLabel = (
  db: Db,
  actor: Actor,
  parent: ResourceParent,
  name: string,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const label = found(await lockLabel(tx, parent, name), 'Label');
    unmodified(label.updated_at);
    await ahead(tx).deleteFrom('labels').where('id', '=', label.id).execute();
    await auditLabel(tx, actor, parent, 'label_deleted', label);
  });

/** Subscribes the actor to the label, or unsubscribes; whether that changed anything. */
export async function subscribe(
  db: Db,
  actor: Actor,
  parent: ResourceParent,
  label: LabelRow,
  subscribed: boolean,
): Promise<boolean> {
  const projectId = isProject(parent) ? parent.id : null;
  const known = await subscribedLabels(db, actor.id, [label.id], projectId);
  if (known.has(label.id) === subscribed) return false;
  await setLabelSubscription(db, actor.id, { id: label.id, projectId }, subscribed);
  return true;
}
