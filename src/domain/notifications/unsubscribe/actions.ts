/** Unsubscribes by a link. */
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Unsubscribing } from './links.ts';

/** Ends the mails; idempotent. Without the user there is none to end. */
export const unsubscribe = (db: Db, { userId, id, subscription }: Unsubscribing): Promise<void> =>
  inTransaction(db, async (tx) => {
    const user = await tx
      .selectFrom('users')
      .select('id')
      .where('id', '=', userId)
      .forKeyShare()
      .executeTakeFirst();
    if (user) await subscription.end(tx, userId, id);
  });
