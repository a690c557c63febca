/** Password reset links: their creation, lifetime and end. */
import { now } from '../../../platform/clock.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';
import { digest, randomText, seal } from '../../../platform/secret.ts';
import { announce } from '../../activity/announce-actions.ts';

/** Lifetime of a link, in hours. */
export const RESET_HOURS = 6;

/** The fact that requests the mail with a link; its payload is `user_id`, `email` and `token_sealed`. */
export const PASSWORD_RESET_REQUESTED = 'password_reset_requested';

/** The columns of a user without a link: set them when the password or the link's address changes. */
export const noReset = { reset_digest: null, reset_sent_at: null } as const;

/** Replaces the user's link, and announces the fact that its mail follows. */
export async function requestReset(
  tx: Db,
  secretKey: string,
  to: { userId: number; email: string },
): Promise<void> {
  const token = randomText(32);
  await ahead(tx)
    .updateTable('users')
    .set({ reset_digest: digest(token), reset_sent_at: now() })
    .where('id', '=', to.userId)
    .execute();
  const payload = { user_id: to.userId, email: to.email, token_sealed: seal(secretKey, token) };
  await announce(tx, { fact: { name: PASSWORD_RESET_REQUESTED, payload } });
}

/** Links sent before this time have expired. */
export const oldestReset = (): Date => new Date(now().getTime() - RESET_HOURS * 3_600_000);

/** Whether the secret belongs to the user's link: not used, replaced or expired. */
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
