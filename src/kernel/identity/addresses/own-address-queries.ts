/** Confirmed mail addresses of a user. */
import type { Db } from '../../../platform/db/database.ts';

/**
 * The confirmed addresses, with the primary one of an account that counts as confirmed without proof: by
 * lower case, as they were written.
 */
export async function ownAddresses(
  db: Db,
  user: { id: number; email: string; confirmed_at: Date | null },
): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('emails')
    .select('email')
    .where('user_id', '=', user.id)
    .where('confirmed_at', 'is not', null)
    .orderBy('id')
    .execute();
  const own = new Map(rows.map(({ email }) => [email.toLowerCase(), email]));
  return user.confirmed_at === null ? own : own.set(user.email.toLowerCase(), user.email);
}
