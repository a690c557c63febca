/** Whether an address still waits for its confirmation. */
import type { Db } from '../../../platform/db/database.ts';
import { digest } from '../../../platform/secret.ts';

/** Whether the secret belongs to an address of the user's: not used and not replaced. */
export async function isConfirmationOf(db: Db, userId: number, token: string): Promise<boolean> {
  const confirmation_digest = digest(token);
  const found = await db
    .selectFrom('users')
    .select('users.id')
    .where('users.id', '=', userId)
    .where((eb) =>
      eb.or([
        eb('users.confirmation_digest', '=', confirmation_digest),
        eb.exists(
          eb
            .selectFrom('emails')
            .select('emails.id')
            .whereRef('emails.user_id', '=', 'users.id')
            .where('emails.confirmation_digest', '=', confirmation_digest),
        ),
      ]),
    )
    .executeTakeFirst();
  return found !== undefined;
}
