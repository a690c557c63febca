/** Changes the state of accounts; removes second factors and identities. */
import { isLastAdministrator, lastAdministrator } from '../../../kernel/access/remaining-queries.ts';
import type { AuthorizedUser } from '../../../kernel/access/users.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { endAccess } from '../../../kernel/identity/session-actions.ts';
import { noTwoFactor } from '../../../kernel/identity/two-factor/two-factor.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { badRequest, conflict, forbidden, notFound } from '../../../platform/failure.ts';
import { userEntity } from '../users/audits.ts';
import { type StateChange, stateRefusal, stateRules } from '../users/rules.ts';

const lockUser = (tx: Db, id: number) =>
  tx
    .selectFrom('users')
    .selectAll()
    .where('id', '=', id)
    .where('deletion', 'is', null)
    .forUpdate()
    .executeTakeFirst();

/** Changes that would lock the caller out. */
const notOnOneself: ReadonlySet<StateChange> = new Set(['block', 'ban', 'deactivate']);

/**
 * Changes the state; false when the account is in it already, 403 in a state where it is not permitted. A
 * blocked user's next request is refused.
 */
export async function changeState(
  db: Db,
  actor: Actor,
  user: AuthorizedUser,
  change: StateChange,
): Promise<boolean> {
  if (user.id === actor.id && notOnOneself.has(change)) {
    throw forbidden(`The API initiating user cannot be changed by the API (${change})`);
  }
  return inTransaction(db, async (tx) => {
    if (stateRules[change].to !== 'active' && (await isLastAdministrator(tx, user.id)))
      throw lastAdministrator();
    const row = await lockUser(tx, user.id);
    if (!row) throw notFound('User');
    const refusal = stateRefusal(change, row, now().toISOString().slice(0, 10));
    if (refusal !== undefined) throw forbidden(refusal);
    const { to, event } = stateRules[change];
    if (row.state === to) return false;
    await ahead(tx)
      .updateTable('users')
      .set({ state: to, updated_at: now() })
      .where('id', '=', user.id)
      .execute();
    if (to !== 'active') await endAccess(tx, user.id);
    const details = { change: 'state', from: row.state, to };
    await announce(tx, { author: actor, audit: { entity: userEntity(row), event, details } });
    return true;
  });
}

/** Approves a registered user; 409 for others. */
export async function approveUser(db: Db, actor: Actor, user: AuthorizedUser): Promise<void> {
  await inTransaction(db, async (tx) => {
    const row = await lockUser(tx, user.id);
    if (row?.state !== 'blocked_pending_approval') {
      throw conflict('The user you are trying to approve is not pending approval');
    }
    await ahead(tx)
      .updateTable('users')
      .set({ state: 'active', updated_at: now() })
      .where('id', '=', user.id)
      .execute();
    await announce(tx, {
      author: actor,
      audit: { entity: userEntity(row), event: 'user_approved' },
      fact: { name: 'user_approved', payload: { user_id: user.id } },
    });
  });
}

/** Removes the second factor; 400 without one. */
export async function disableTwoFactor(db: Db, actor: Actor, user: AuthorizedUser): Promise<void> {
  await inTransaction(db, async (tx) => {
    const row = await lockUser(tx, user.id);
    if (!row?.otp_enabled_at) throw badRequest('Two-factor authentication is not enabled for this user');
    await ahead(tx)
      .updateTable('users')
      .set({ ...noTwoFactor, updated_at: now() })
      .where('id', '=', user.id)
      .execute();
    await announce(tx, {
      author: actor,
      audit: { entity: userEntity(row), event: 'user_disable_two_factor' },
    });
  });
}

/** Deletes the user's identity at a provider; false without one. */
export async function deleteIdentity(
  db: Db,
  actor: Actor,
  user: AuthorizedUser,
  provider: string,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const removed = await tx
      .deleteFrom('identities')
      .where('user_id', '=', user.id)
      .where('provider', '=', provider)
      .executeTakeFirst();
    if (removed.numDeletedRows === 0n) return false;
    const details = { remove: 'identity', from: provider };
    await announce(tx, {
      author: actor,
      audit: { entity: userEntity(user.row), event: 'identity_destroyed', details },
    });
    return true;
  });
}
