/** Access requests and invitations: made, decided and withdrawn, each in one transaction. */
import { sql } from 'kysely';
import { sourceColumns } from '../../../kernel/access/membership-actions.ts';
import { type Announcement, announce, announceAll } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { forbidden, invalid } from '../../../platform/failure.ts';
import { digest, randomText, seal } from '../../../platform/secret.ts';
import { addMembers, check, failureOf, messageOf, requireRole, requireUnlocked } from './actions.ts';
import { accessRequest, lockInvitation } from './invitation-queries.ts';
import { inheritedBy, isMember, isMembershipLocked, type Newcomer, today } from './queries.ts';
import { type Grant, grantProblem, isMailAddress, prolongationProblem } from './rules.ts';
import type { Source } from './source.ts';

const announcement = (actor: Actor, source: Source, event: string, target: string): Announcement => ({
  author: actor,
  audit: { entity: source.entity, event, details: { target_details: target } },
});

const record = (tx: Db, actor: Actor, source: Source, event: string, target: string): Promise<void> =>
  announce(tx, announcement(actor, source, event, target));

/** The fact that somebody asks to be a member, or does so no more. */
const requestAnnouncement = (
  actor: Actor,
  source: Source,
  change: 'created' | 'destroyed',
  user: { id: number; name: string },
  requested_at: Date,
): Announcement => {
  const time = requested_at.toISOString();
  return {
    ...announcement(actor, source, `access_request_${change}`, user.name),
    fact: {
      name: `access_request_${change}`,
      payload: { [source.column]: source.id, user_id: user.id, created_at: time, updated_at: time },
    },
  };
};

/**
 * Requests access for the caller; 403 where requests are turned off, 400 for members and for a second
 * request. Returns the time.
 */
export async function requestAccess(db: Db, source: Source, actor: Actor): Promise<Date> {
  if (!source.takesAccessRequests || actor.kind !== 'human') throw forbidden();
  return inTransaction(db, async (tx) => {
    const exists = invalid({ user_id: ['already exists in source'] });
    if (await isMember(tx, source, actor.id)) throw exists;
    const requested_at = now();
    const [row] = await tx
      .insertInto('access_requests')
      .values({ ...sourceColumns(source), user_id: actor.id, requested_at })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .execute();
    if (!row) throw exists;
    await announce(tx, requestAnnouncement(actor, source, 'created', actor, requested_at));
    return requested_at;
  });
}

/**
 * Makes a member of a user who requested access; returns the request's time. 400, 403 or 405 for a grant that the caller
 * may not give.
 */
export const approveAccessRequest = (
  db: Db,
  source: Source,
  actor: Actor,
  userId: number,
  grant: Grant,
  tier: string,
): Promise<Date> =>
  inTransaction(db, async (tx) => {
    check(grantProblem(source, grant, { tier, today: today() }));
    const locking = accessRequest(tx, source, userId)
      .select(inheritedBy(source, 'users.id').as('inherited'))
      .select(isMembershipLocked(source, tier).as('locked'));
    const requester = found(await locking.executeTakeFirst());
    requireUnlocked(requester.locked);
    const problems = await addMembers(tx, source, actor, [{ ...requester, ...grant }]);
    const problem = problems.get(requester.id);
    if (problem) throw failureOf(problem);
    return requester.requested_at;
  });

/** Denies a request, or withdraws the caller's own. */
export async function removeAccessRequest(
  db: Db,
  source: Source,
  actor: Actor,
  userId: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> {
  if (userId !== actor.id && !source.mayManage) throw forbidden();
  await inTransaction(db, async (tx) => {
    const requester = found(await accessRequest(tx, source, userId).executeTakeFirst());
    unmodified(requester.requested_at);
    await ahead(tx).deleteFrom('access_requests').where('id', '=', requester.request_id).execute();
    await announce(tx, requestAnnouncement(actor, source, 'destroyed', requester, requester.requested_at));
  });
}

/**
 * Adds the users, and those who are known to have one of the addresses; the other addresses get an
 * invitation, alike whether an account has confirmed them or not: its owner decides, or the user who confirms
 * the address. Returns the problem of each of the others, by the address or username in the request.
 */
export async function invite(
  db: Db,
  source: Source,
  actor: Actor,
  { secretKey, tier }: { secretKey: string; tier: string },
  people: { users: readonly (Newcomer & { address: string | null })[]; addresses: readonly string[] },
  grant: Grant,
): Promise<Record<string, string>> {
  const addresses = new Map(people.addresses.map((each) => [each.toLowerCase(), each]));
  const problems: Record<string, string> = {};
  await inTransaction(db, async (tx) => {
    await requireRole(tx, source, grant, tier);
    const known = new Set(people.users.map(({ address }) => address));
    const users = new Map(people.users.map((user) => [user.id, user]));
    const newcomers = [...users.values()].map((user) => ({ ...user, ...grant }));
    for (const [id, problem] of await addMembers(tx, source, actor, newcomers)) {
      const { username = String(id), address = null } = users.get(id) ?? {};
      const name = address === null ? username : (addresses.get(address) ?? address);
      problems[name] = messageOf(problem);
    }
    const strangers = [...addresses].filter(([address]) => !known.has(address)).map(([, given]) => given);
    for (const address of strangers.filter((each) => !isMailAddress(each))) {
      problems[address] = 'Invite email is invalid';
    }
    const invitable = strangers.filter(isMailAddress);
    const invited = await insertInvitations(tx, source, actor, secretKey, invitable, grant);
    await announceAll(
      tx,
      [...invited].map((address) => announcement(actor, source, 'invitation_created', address)),
    );
    for (const address of invitable.filter((each) => !invited.has(each))) {
      problems[address] = 'Invite email has already been taken';
    }
  });
  return problems;
}

/** Writes a row for each address that has none here; returns the addresses written. */
async function insertInvitations(
  tx: Db,
  source: Source,
  actor: Actor,
  secretKey: string,
  addresses: readonly string[],
  grant: Grant,
): Promise<Set<string>> {
  if (addresses.length === 0) return new Set();
  const time = now();
  const rows = await tx
    .insertInto('invitations')
    .values(
      addresses.map((email) => {
        const token = randomText(24);
        return {
          ...sourceColumns(source),
          ...grant,
          email,
          token_sealed: seal(secretKey, token),
          token_digest: digest(token),
          created_by_id: actor.id,
          created_at: time,
          updated_at: time,
        };
      }),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning('email')
    .execute();
  return new Set(rows.map((row) => row.email));
}

/** Changes the grant of an invitation; 404 when there is none, 403 for one above the caller's level. */
export async function updateInvitation(
  db: Db,
  source: Source,
  actor: Actor,
  email: string,
  change: { access_level?: number; expires_at?: string | null; member_role_id?: number | null },
  tier: string,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const invitation = found(await lockInvitation(tx, source, email));
    if (invitation.access_level > source.role) throw forbidden();
    const { access_level = invitation.access_level, expires_at = invitation.expires_at } = change;
    const kept = access_level === invitation.access_level ? invitation.member_role_id : null;
    const { member_role_id = kept } = change;
    const grant = { access_level, expires_at, member_role_id };
    check(grantProblem(source, grant, { tier, today: today() }));
    check(prolongationProblem(source.role, invitation, grant));
    if (member_role_id !== invitation.member_role_id) await requireRole(tx, source, grant, tier);
    await ahead(tx)
      .updateTable('invitations')
      .set({ ...grant, updated_at: now() })
      .where('id', '=', invitation.id)
      .execute();
    await record(tx, actor, source, 'invitation_updated', invitation.email);
  });
}

/** Withdraws an invitation. */
export async function removeInvitation(
  db: Db,
  source: Source,
  actor: Actor,
  email: string,
  unmodified: (updatedAt: Date) => void,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const invitation = found(await lockInvitation(tx, source, email));
    if (invitation.access_level > source.role) throw forbidden();
    unmodified(invitation.updated_at);
    await ahead(tx).deleteFrom('invitations').where('id', '=', invitation.id).execute();
    await record(tx, actor, source, 'invitation_destroyed', invitation.email);
  });
}

/** Makes the ghost user the inviter of a user's invitations, without a name. */
export async function reassignInvitations(tx: Db, userId: number, ghostId: number): Promise<void> {
  await sql`update invitations set created_by_id = ${ghostId} where created_by_id = ${userId}`.execute(
    ahead(tx),
  );
}
