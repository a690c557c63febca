/** Finds the labels of a project or group and those that a request names. */

import {
  auditedParent,
  parentColumns,
  type Reach,
  type ResourceParent,
  reachOf,
} from '../../../kernel/access/resource-parents.ts';
import { announceAll } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { isLabelName } from './label-names.ts';
import type { LabelRow } from './label-records.ts';
import { availableLabels } from './queries.ts';

/** One label for each name: that of the project or of the nearest group. */
function nearest(labels: readonly LabelRow[], reach: Reach): Map<string, LabelRow> {
  const distance = (label: LabelRow): number =>
    label.namespace_id === null
      ? -1
      : reach.ancestorIds.length - reach.ancestorIds.indexOf(label.namespace_id);
  const byName = new Map<string, LabelRow>();
  for (const label of labels) {
    const known = byName.get(label.name);
    if (!known || distance(label) < distance(known)) byName.set(label.name, label);
  }
  return byName;
}

/** The colour of a label that was made without one. */
const DEFAULT_COLOR = '#6699cc';

/**
 * The labels that a request names, in its order, each once. With `create`, and where the actor may manage
 * labels, an unknown name becomes a label of the project or group; else it is left out. Those of `known` were found before.
 */
export async function resolveLabels(
  tx: Db,
  parent: ResourceParent,
  names: readonly string[],
  options: { create: boolean; actor: Actor; known?: readonly LabelRow[] },
): Promise<LabelRow[]> {
  const wanted = [...new Set(names.map((name) => name.trim()).filter(isLabelName))];
  const reach = reachOf(parent);
  const known = nearest(options.known ?? (await availableLabels(tx, reach, wanted)), reach);
  const missing = wanted.filter((name) => !known.has(name));
  if (missing.length > 0 && options.create && parent.may('manage_labels')) {
    const made = await createLabels(tx, parent, missing, options.actor);
    for (const label of made) known.set(label.name, label);
    const others = missing.filter((name) => !known.has(name));
    for (const label of await availableLabels(tx, reach, others)) known.set(label.name, label);
  }
  return wanted.flatMap((name) => known.get(name) ?? []);
}

/** Creates missing labels, but for those that other requests have made meanwhile. */
async function createLabels(
  tx: Db,
  parent: ResourceParent,
  names: readonly string[],
  actor: Actor,
): Promise<LabelRow[]> {
  const time = now();
  const made = await tx
    .insertInto('labels')
    .values(
      // Sorted, so that two requests that create the same labels do not deadlock.
      names.toSorted().map((name) => ({
        ...parentColumns(parent),
        name,
        color: DEFAULT_COLOR,
        created_at: time,
        updated_at: time,
      })),
    )
    .onConflict((taken) => taken.doNothing())
    .returningAll()
    .execute();
  await announceAll(
    tx,
    made.map(({ id, name }) => ({
      author: actor,
      audit: {
        entity: auditedParent(parent),
        event: 'label_created',
        details: { target_id: id, target_type: 'Label', target_details: name },
      },
    })),
  );
  return made;
}
