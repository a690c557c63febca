/** Explicit subscriptions to issues and epics. */
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';

/** A noteable, by its column. */
type Subscribable = { column: 'issue_id' | 'epic_id' | 'merge_request_id'; id: number };

/** Sets or clears the user's subscription, whatever it was. */
export async function setSubscription(
  tx: Db,
  userId: number,
  { column, id }: Subscribable,
  subscribed: boolean,
): Promise<void> {
  const time = now();
  await tx
    .insertInto('subscriptions')
    .values({ user_id: userId, [column]: id, subscribed, created_at: time, updated_at: time })
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'issue_id', 'epic_id', 'label_id', 'project_id', 'merge_request_id'])
        .doUpdateSet({ subscribed, updated_at: time }),
    )
    .execute();
}

/** Removes all subscriptions of a user who is being deleted. */
export async function removeSubscriptionsOf(tx: Db, userId: number): Promise<void> {
  await tx.deleteFrom('subscriptions').where('user_id', '=', userId).execute();
}
