/** Subscriptions to labels: one to a group's label is for one project, or, without one, for the group. */
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';

/** The labels to which the user is subscribed in the project, or in their group; by one statement. */
export async function subscribedLabels(
  db: Db,
  userId: number,
  ids: readonly number[],
  projectId: number | null,
): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .selectFrom('subscriptions')
    .select('label_id')
    .where('user_id', '=', userId)
    .where('label_id', 'in', [...ids])
    .where('project_id', 'is not distinct from', projectId)
    .where('subscribed', '=', true)
    .execute();
  return new Set(rows.flatMap(({ label_id }) => label_id ?? []));
}

/** Sets or clears the user's subscription to the label, whatever it was. */
export async function setLabelSubscription(
  db: Db,
  userId: number,
  label: { id: number; projectId: number | null },
  subscribed: boolean,
): Promise<void> {
  const time = now();
  await db
    .insertInto('subscriptions')
    .values({
      user_id: userId,
      label_id: label.id,
      project_id: label.projectId,
      subscribed,
      created_at: time,
      updated_at: time,
    })
    .onConflict((known) =>
      known
        .columns(['user_id', 'issue_id', 'epic_id', 'label_id', 'project_id', 'merge_request_id'])
        .doUpdateSet({ subscribed, updated_at: time }),
    )
    .execute();
}
