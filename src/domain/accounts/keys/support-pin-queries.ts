/** Reads support PINs. */
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { unseal } from '../../../platform/secret.ts';

export type PinRecord = { pin: string; expires_at: string };

/** The user's PIN, while it is valid. */
export async function readPin(
  { db, services }: { db: Db; services: Needs<'secretKey'> },
  userId: number,
): Promise<PinRecord | undefined> {
  const row = await db
    .selectFrom('support_pins')
    .select(['pin_sealed', 'expires_at'])
    .where('user_id', '=', userId)
    .where('expires_at', '>', now())
    .executeTakeFirst();
  return row && { pin: unseal(services.secretKey, row.pin_sealed), expires_at: row.expires_at.toISOString() };
}
