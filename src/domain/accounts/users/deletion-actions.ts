/**
 * Deletes users. The request disables and hides the account in one transaction; repeatable background steps
 * reassign what it made to the ghost user, and delete the row.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { endMemberships } from '../../../kernel/access/membership-actions.ts';
import { lastAdministrator, selectIndispensable } from '../../../kernel/access/remaining-queries.ts';
import type { AuthorizedUser } from '../../../kernel/access/users.ts';
import { announce, announceAll } from '../../../kernel/activity/announce-actions.ts';
import { type Actor, isInternal } from '../../../kernel/actor.ts';
import type { Capability } from '../../../kernel/capability.ts';
import { endAccess } from '../../../kernel/identity/session-actions.ts';
import { deleteTokens } from '../../../kernel/identity/token-actions.ts';
import { eraseNamespace, markNamespaceDeleting } from '../../../kernel/namespaces/erasure-actions.ts';
import { personalNamespace } from '../../../kernel/namespaces/path-actions.ts';
import { ghostUserId } from '../../../kernel/users/new-user-actions.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { conflict, forbidden, notFound } from '../../../platform/failure.ts';
import { userSnapshotColumns } from '../hook-queries.ts';
import { userEntity } from './audits.ts';

/** The fact that a user is to be deleted; also used for bots whose tokens were deleted. */
export const USER_DELETED = 'user_deleted';

/**
 * Ends the account: deletes sessions, tokens and memberships, hides the personal namespace, and announces the
 * deletion. 409 for the last administrator, and for the sole owner of a group, unless `hard`, which deletes
 * the group too; 403 for oneself and the ghost. `waiting`: only a user who is not approved yet.
 */
export async function requestDeletion(
  db: Db,
  actor: Actor,
  user: AuthorizedUser,
  how: { hard: boolean; event: string; waiting?: boolean },
): Promise<void> {
  if (user.id === actor.id) throw forbidden('The API initiating user cannot be removed by the API');
  if (isInternal(user.row.kind)) throw forbidden();
  await inTransaction(db, async (tx) => {
    await ahead(tx)
      .selectFrom('members')
      .select('id')
      .where('user_id', '=', user.id)
      .orderBy('id')
      .forUpdate()
      .execute();
    const { isLastAdmin, alone } = await selectIndispensable(tx, user.id);
    if (isLastAdmin) throw lastAdministrator();
    const marked = await tx
      .updateTable('users')
      .set({ deletion: how.hard ? 'hard' : 'reassign', state: 'blocked', updated_at: now() })
      .where('id', '=', user.id)
      .where('deletion', 'is', null)
      .$if(how.waiting === true, (query) => query.where('state', '=', 'blocked_pending_approval'))
      .returning('id')
      .executeTakeFirst();
    if (!marked) throw how.waiting ? conflict('User does not have a pending request') : notFound('User');
    if (alone.length > 0 && !how.hard) {
      throw conflict('User cannot be removed while is the sole-owner of a group');
    }
    for (const { id, path } of alone) {
      await markNamespaceDeleting(tx, id);
      const entity = { type: 'Group', id, path } as const;
      await announce(tx, { author: actor, audit: { entity, event: 'group_destroyed' } });
    }
    await markNamespaceDeleting(tx, personalNamespace(user.id));
    await endAccess(tx, user.id);
    await deleteTokens(tx, user.id);
    await endMemberships(tx, user.id);
    await ahead(tx)
      .deleteFrom('follows')
      .where((eb) => eb.or([eb('follower_id', '=', user.id), eb('followee_id', '=', user.id)]))
      .execute();
    await announce(tx, {
      author: actor,
      audit: {
        entity: userEntity(user.row),
        event: how.event,
        details: {
          remove: 'user',
          target_id: user.id,
          target_type: 'User',
          target_details: user.row.name,
        },
      },
      fact: { name: USER_DELETED, payload: { user_id: user.id } },
    });
  });
}

const selectPersonalNamespace = (db: Db, userId: number) =>
  db.selectFrom('namespaces').select('id').where('owner_id', '=', userId).executeTakeFirst();

const isGoing = (db: Db, userId: number) =>
  db
    .selectFrom('users')
    .select('id')
    .where('id', '=', userId)
    .where('deletion', 'is not', null)
    .executeTakeFirst();

const WAITS = 50;
const WAIT_MS = 200;

/** Erases the user's personal projects, or waits for the task that does; false when that takes too long. */
async function erasePersonal(db: Db, userId: number, all: readonly Capability[]): Promise<boolean> {
  const erasers = all.flatMap((capability) => capability.erase ?? []);
  for (let waited = 0; waited < WAITS; waited++) {
    const namespace = await selectPersonalNamespace(db, userId);
    if (!namespace) return true;
    await eraseNamespace(db, erasers, namespace.id);
    if (!(await selectPersonalNamespace(db, userId))) return true;
    await sleep(WAIT_MS);
  }
  return false;
}

/**
 * Deletes a user whose deletion was requested, personal projects first; no other user. resumeDeletions()
 * continues interrupted ones. `all` are the capabilities, which erase their parts of the projects and
 * reassign the user's rows to the ghost.
 */
export async function finishDeletion(db: Db, userId: number, all: readonly Capability[]): Promise<void> {
  if (!(await isGoing(db, userId)) || !(await erasePersonal(db, userId, all))) return;
  await inTransaction(db, async (tx) => {
    const user = await tx
      .selectFrom('users')
      .select(['deletion', ...userSnapshotColumns])
      .where('id', '=', userId)
      .where('deletion', 'is not', null)
      .forUpdate()
      .executeTakeFirst();
    if (!user) return;
    const ghostId = await ghostUserId(tx);
    const hard = user.deletion === 'hard';
    for (const capability of all) await capability.reassign?.(tx, userId, ghostId, hard);
    await ahead(tx).deleteFrom('users').where('id', '=', userId).execute();
    const { deletion: _, created_at, updated_at, ...gone } = user;
    const times = { created_at: created_at.toISOString(), updated_at: updated_at.toISOString() };
    await announce(tx, {
      fact: { name: 'user_destroyed', payload: { user_id: userId, gone: { ...gone, ...times } } },
    });
  });
}

/** Milliseconds after which an unfinished deletion is resumed. */
const TAKEN_UP_AFTER_MS = 60_000;

/** Announces unfinished deletions again: after a crash, or when projects delayed them. */
export async function resumeDeletions(db: Db): Promise<void> {
  const before = new Date(now().getTime() - TAKEN_UP_AFTER_MS);
  await inTransaction(db, async (tx) => {
    const rows = await tx
      .updateTable('users')
      .set({ updated_at: now() })
      .where('deletion', 'is not', null)
      .where('updated_at', '<', before)
      .returning('id')
      .execute();
    await announceAll(
      tx,
      rows.map(({ id }) => ({ fact: { name: USER_DELETED, payload: { user_id: id } } })),
    );
  });
}
