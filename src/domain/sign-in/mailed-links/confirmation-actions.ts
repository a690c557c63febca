/** Confirming a mail address, and sending the link for it again. */
import { sql } from 'kysely';
import { acceptInvitations } from '../../../kernel/access/invitation-actions.ts';
import { releaseUnconfirmed } from '../../../kernel/access/unconfirmed-address-actions.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import { confirmationRequested, newConfirmation } from '../../../kernel/identity/addresses/confirmation.ts';
import { userEntity } from '../../../kernel/identity/passwords/login-actions.ts';
import { noReset } from '../../../kernel/identity/passwords/reset-actions.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { digest } from '../../../platform/secret.ts';

/** The fact that an address was given for another link: whether it waits for one is checked in the background. */
export const CONFIRMATION_REQUESTED = 'email_confirmation_asked';

/** Users whose request for one address gets a link; only one of them can have it. */
const MAX_LINKS = 10;

const isAddress = (column: 'email' | 'unconfirmed_email', email: string) =>
  sql<boolean>`lower(${sql.ref(column)}) collate "C" = ${email.toLowerCase()}`;

/** Sends a new link for the address where it waits to be confirmed: as primary, to become it, or as another. */
export async function sendConfirmation(
  services: Needs<'database' | 'secretKey'>,
  email: string,
): Promise<void> {
  await inTransaction(services.database.background, async (tx) => {
    const users = await tx
      .selectFrom('users')
      .select(['id', 'email', 'unconfirmed_email'])
      .where((eb) =>
        eb.or([
          eb.and([
            isAddress('email', email),
            eb('confirmed_at', 'is', null),
            eb('unconfirmed_email', 'is', null),
          ]),
          // Without a digest the address was another user's when it was requested, and is confirmed by no
          // link.
          eb.and([isAddress('unconfirmed_email', email), eb('confirmation_digest', 'is not', null)]),
        ]),
      )
      .where('kind', '=', 'human')
      .where('deletion', 'is', null)
      .orderBy('id')
      .limit(MAX_LINKS)
      .forUpdate()
      .execute();
    for (const user of users) {
      const { confirmation_digest, token_sealed } = newConfirmation(services.secretKey);
      await ahead(tx).updateTable('users').set({ confirmation_digest }).where('id', '=', user.id).execute();
      const address = user.unconfirmed_email ?? user.email;
      await announce(tx, { fact: confirmationRequested(user.id, address, token_sealed) });
    }
    if (users.length > 0) return;
    const { confirmation_digest, token_sealed } = newConfirmation(services.secretKey);
    const other = await tx
      .updateTable('emails')
      .set({ confirmation_digest })
      .where(isAddress('email', email))
      .where('confirmed_at', 'is', null)
      .where('held_elsewhere', '=', false)
      .where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom('users')
              .select('users.id')
              .whereRef('users.id', '=', 'emails.user_id')
              .whereRef('users.email', '=', 'emails.email')
              .where('users.confirmed_at', 'is', null),
          ),
        ),
      )
      .returning(['user_id', 'email'])
      .executeTakeFirst();
    if (!other) return;
    const fact = confirmationRequested(other.user_id, other.email, token_sealed);
    await announce(tx, { fact });
  });
}

const selectUser = (db: Db, confirmation_digest: Buffer) =>
  db
    .selectFrom('users')
    .select(['id', 'username', 'name', 'email', 'unconfirmed_email'])
    .where('confirmation_digest', '=', confirmation_digest)
    .where('deletion', 'is', null);

/** The address that the link's secret was sent to, while it waits; undefined when the secret is unknown or used. */
export async function addressToConfirm(db: Db, secret: string): Promise<string | undefined> {
  const confirmation_digest = digest(secret);
  const user = await selectUser(db, confirmation_digest).executeTakeFirst();
  if (user) return user.unconfirmed_email ?? user.email;
  const other = await db
    .selectFrom('emails')
    .select('email')
    .where('confirmation_digest', '=', confirmation_digest)
    .executeTakeFirst();
  return other?.email;
}

/**
 * Confirms the address that the link's secret was sent to, primary, to become primary or another of the
 * user's, and accepts the address's invitations for its owner. False when the secret is unknown or used.
 */
export async function confirmAddress(db: Db, secret: string): Promise<boolean> {
  const confirmation_digest = digest(secret);
  const confirmed = { confirmed_at: now(), confirmation_digest: null };
  return inTransaction(db, async (tx) => {
    const user = await selectUser(tx, confirmation_digest).forUpdate().executeTakeFirst();
    const other = user
      ? undefined
      : await tx
          .updateTable('emails')
          .set({ ...confirmed, updated_at: now() })
          .where('confirmation_digest', '=', confirmation_digest)
          .returning(['user_id', 'email'])
          .executeTakeFirst();
    const owner = user ? { user_id: user.id, email: user.unconfirmed_email ?? user.email } : other;
    if (!owner) return false;
    if (user) {
      const { email } = owner;
      await ahead(tx)
        .updateTable('users')
        .set({ ...confirmed, email, unconfirmed_email: null, ...noReset, updated_at: now() })
        .where('id', '=', user.id)
        .execute();
      await releaseUnconfirmed(tx, user, email, user.id);
      await ownAddress(tx, user.id, email);
      const details = { change: 'email', to: email };
      await announce(tx, {
        author: user,
        audit: { entity: userEntity(user), event: 'email_confirmed', details },
      });
    }
    await acceptInvitations(tx, owner.user_id, owner.email);
    return true;
  });
}

/** Adds the address to the user's, confirmed. The unique index refuses one that another user got meanwhile. */
async function ownAddress(tx: Db, userId: number, email: string): Promise<void> {
  const confirmed_at = now();
  const known = await tx
    .updateTable('emails')
    .set({ confirmed_at, confirmation_digest: null, held_elsewhere: false, updated_at: confirmed_at })
    .where('user_id', '=', userId)
    .where((eb) => eb(eb.fn('lower', ['email']), '=', email.toLowerCase()))
    .returning('id')
    .executeTakeFirst();
  if (known) return;
  await ahead(tx)
    .insertInto('emails')
    .values({ user_id: userId, email, confirmed_at, created_at: confirmed_at, updated_at: confirmed_at })
    .execute();
}
