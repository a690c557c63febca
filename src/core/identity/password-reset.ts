/** Links that set a new password: who may have one, how long it is good, and what ends it early. */
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { digest, randomText, seal } from '../../platform/secret.ts';
import { announce } from '../activity/announce.ts';

/** Hours that a link is good for. */
export const RESET_HOURS = 6;

/** The fact that somebody is to be sent a link; its payload is `user_id`, `email` and `token_sealed`. */
export const PASSWORD_RESET_REQUESTED = 'password_reset_requested';

/** The columns of a user without a link: to be set wherever the password or the address that a link went to changes. */
export const noReset = { reset_digest: null, reset_sent_at: null } as const;

/** Makes the user's link, in place of an earlier one, and asks whoever sends mail to send it to the address. */
export async function requestReset(
  tx: Db,
  secretKey: string,
  to: { userId: number; email: string },
): Promise<void> {
  const token = randomText(32);
  await tx
    .updateTable('users')
    .set({ reset_digest: digest(token), reset_sent_at: now() })
    .where('id', '=', to.userId)
    .execute();
  const payload = { user_id: to.userId, email: to.email, token_sealed: seal(secretKey, token) };
  await announce(tx, { author: undefined, fact: { name: PASSWORD_RESET_REQUESTED, payload } });
}

/** The time before which links were sent that are good no longer. */
export const oldestReset = (): Date => new Date(now().getTime() - RESET_HOURS * 3_600_000);

/** Whether the secret is still the one of the user's link: neither used, replaced nor too old. */
export async function isResetOf(db: Db, userId: number, token: string): Promise<boolean> {
  const found = await db
    .selectFrom('users')
    .select('id')
    .where('id', '=', userId)
    .where('reset_digest', '=', digest(token))
    .where('reset_sent_at', '>', oldestReset())
    .executeTakeFirst();
  return found !== undefined;
}
