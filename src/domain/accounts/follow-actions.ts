/** Follows and unfollows users. */

import { sql } from 'kysely';
import type { AuthorizedUser } from '../../kernel/access/users.ts';
import type { Actor } from '../../kernel/actor.ts';
import { now } from '../../platform/clock.ts';
import { type Db, inTransaction } from '../../platform/db/database.ts';
import { badRequest } from '../../platform/failure.ts';

/** Returns whether the follow is new. 400 for oneself, and beyond the limit. */
export async function follow(db: Db, actor: Actor, user: AuthorizedUser): Promise<boolean> {
  if (actor.id === user.id) throw badRequest("You can't follow yourself.");
  return inTransaction(db, async (tx) => {
    // Concurrent follows of one user are counted in turn.
    await tx.selectFrom('users').select('id').where('id', '=', actor.id).forNoKeyUpdate().execute();
    const { followed } = await tx
      .selectFrom('follows')
      .select(sql<number>`count(*)::integer`.as('followed'))
      .where('follower_id', '=', actor.id)
      .executeTakeFirstOrThrow();
    const added = await tx
      .insertInto('follows')
      .values({ follower_id: actor.id, followee_id: user.id, created_at: now() })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (added.numInsertedOrUpdatedRows === 0n) return false;
    if (followed < MAX_FOLLOWED) return true;
    throw badRequest(
      `You can't follow more than ${MAX_FOLLOWED} users. To follow more users, unfollow some others.`,
    );
  });
}

/** Returns whether there was a follow. */
export async function unfollow(db: Db, actor: Actor, user: AuthorizedUser): Promise<boolean> {
  const removed = await db
    .deleteFrom('follows')
    .where('follower_id', '=', actor.id)
    .where('followee_id', '=', user.id)
    .executeTakeFirst();
  return removed.numDeletedRows > 0n;
}

/** Follows of one user (facts §9). */
const MAX_FOLLOWED = 300;
