/**
 * Mail addresses of users: each has one user, and is valid once that user or an administrator confirmed it.
 */
import { releaseUnconfirmed } from '../../../kernel/access/unconfirmed-address-actions.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import {
  confirmationRequested,
  KNOWN_ADDRESS_ADDED,
  newConfirmation,
} from '../../../kernel/identity/addresses/confirmation.ts';
import { isMailAddress } from '../../../kernel/identity/addresses/rules.ts';
import { noReset } from '../../../kernel/identity/passwords/reset-actions.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { conflict, invalid } from '../../../platform/failure.ts';
import { userEntity } from './audits.ts';

/** 400 unless the text can be a mail address. */
export function requireMailAddress(email: string): void {
  if (!isMailAddress(email)) throw invalid({ email: ['is invalid'] });
}

/**
 * The other user who has the address. Administrators, who may see all addresses, get a 409; other callers'
 * responses must not depend on it. The unique index decides between concurrent requests.
 */
export async function releaseAddress(
  tx: Db,
  actor: Actor,
  email: string,
  userId = 0,
): Promise<number | undefined> {
  const holder = await releaseUnconfirmed(tx, actor, email, userId);
  if (holder !== undefined && actor.admin) throw conflict('Email has already been taken');
  return holder;
}

/** The fact of an unconfirmed address: a link is mailed to it, or a notice to the user who has it. */
export const confirmationFact = (userId: number, email: string, tokenSealed: string, holder?: number) =>
  holder === undefined
    ? confirmationRequested(userId, email, tokenSealed)
    : { name: KNOWN_ADDRESS_ADDED, payload: { user_id: holder, email } };

/**
 * Adds an address; unless it is confirmed at once, a mail asks for confirmation. An address of another user
 * looks the same but cannot be confirmed, and that user gets the mail; administrators, who may see all
 * addresses, are refused.
 */
export async function addEmail(
  db: Db,
  change: {
    actor: Actor;
    user: { id: number; username: string };
    email: string;
    confirmed: boolean;
    secretKey: string;
  },
) {
  const { actor, user, email, confirmed, secretKey } = change;
  requireMailAddress(email);
  const confirmation = newConfirmation(secretKey);
  return inTransaction(db, async (tx) => {
    const other = await releaseUnconfirmed(tx, actor, email, user.id);
    const holder = actor.admin ? undefined : other;
    const held_elsewhere = holder !== undefined;
    const row = await tx
      .insertInto('emails')
      .values({
        user_id: user.id,
        email,
        confirmed_at: confirmed ? now() : null,
        held_elsewhere,
        confirmation_digest: confirmed || held_elsewhere ? null : confirmation.confirmation_digest,
        created_at: now(),
        updated_at: now(),
      })
      .returning(['id', 'email', 'confirmed_at'])
      .executeTakeFirstOrThrow();
    await announce(tx, {
      author: actor,
      audit: { entity: userEntity(user), event: 'email_created', details: { add: 'email', to: email } },
      ...(!confirmed && { fact: confirmationFact(user.id, email, confirmation.token_sealed, holder) }),
    });
    return row;
  });
}

/** Deletes a secondary address, and clears settings that use it. */
export async function deleteEmail(
  db: Db,
  actor: Actor,
  user: { id: number; username: string },
  emailId: number,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const owner = await tx
      .selectFrom('users')
      .select(['email', 'public_email', 'commit_email', 'notification_email'])
      .where('id', '=', user.id)
      .forUpdate()
      .executeTakeFirstOrThrow();
    const removed = await tx
      .deleteFrom('emails')
      .where('id', '=', emailId)
      .where('user_id', '=', user.id)
      .returning('email')
      .executeTakeFirst();
    if (!removed) return;
    const same = (other: string | null) => other?.toLowerCase() === removed.email.toLowerCase();
    if (same(owner.email)) throw invalid({ email: ['is the primary address and cannot be removed'] });
    await ahead(tx)
      .updateTable('users')
      .set({
        public_email: same(owner.public_email) ? null : owner.public_email,
        commit_email: same(owner.commit_email) ? null : owner.commit_email,
        notification_email: same(owner.notification_email) ? null : owner.notification_email,
        ...noReset,
      })
      .where('id', '=', user.id)
      .execute();
    await announce(tx, {
      author: actor,
      audit: {
        entity: userEntity(user),
        event: 'email_destroyed',
        details: { remove: 'email', from: removed.email },
      },
    });
  });
}
