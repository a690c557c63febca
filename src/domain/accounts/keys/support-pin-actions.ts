/** Gives users support PINs, and ends them. */
import type { AuthorizedUser } from '../../../kernel/access/users.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { randomFraction, seal } from '../../../platform/secret.ts';
import { userEntity } from '../users/audits.ts';
import type { PinRecord } from './support-pin-queries.ts';

type Context = { db: Db; services: Needs<'secretKey'>; actor: Actor };

const LIFETIME_MS = 7 * 86_400_000;
const DIGITS = 6;

const randomPin = (): string => String(Math.floor(randomFraction() * 10 ** DIGITS)).padStart(DIGITS, '0');

const audit = (tx: Db, { actor }: Context, { row }: AuthorizedUser, event: string): Promise<void> =>
  announce(tx, { author: actor, audit: { entity: userEntity(row), event } });

/** A new PIN in place of the one before. */
export const createPin = (context: Context, user: AuthorizedUser): Promise<PinRecord> =>
  inTransaction(context.db, async (tx) => {
    const pin = randomPin();
    const expires_at = new Date(now().getTime() + LIFETIME_MS);
    const values = { pin_sealed: seal(context.services.secretKey, pin), expires_at };
    await ahead(tx)
      .insertInto('support_pins')
      .values({ user_id: user.id, ...values })
      .onConflict((known) => known.column('user_id').doUpdateSet(values))
      .execute();
    await audit(tx, context, user, 'support_pin_created');
    return { pin, expires_at: expires_at.toISOString() };
  });

/** 404 without a valid one. */
export const revokePin = (context: Context, user: AuthorizedUser): Promise<void> =>
  inTransaction(context.db, async (tx) => {
    const row = await tx
      .deleteFrom('support_pins')
      .where('user_id', '=', user.id)
      .where('expires_at', '>', now())
      .returning('user_id')
      .executeTakeFirst();
    found(row, 'Support PIN');
    await audit(tx, context, user, 'support_pin_revoked');
  });
