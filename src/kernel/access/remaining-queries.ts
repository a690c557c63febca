/**
 * Keeps an active administrator in the instance, and for each group an active owner, direct or inherited,
 * without expiry. Every change that may remove or limit one checks here, under one lock, so that the second
 * of two concurrent ones sees the first. Blocking an owner stays possible: administrators can add a new one.
 */
import { sql } from 'kysely';
import { ahead, type Db } from '../../platform/db/database.ts';
import { conflict, type Failure } from '../../platform/failure.ts';
import { OWNER } from '../policy/roles.ts';

/**
 * The advisory lock, until the transaction ends. Its order everywhere: after locks of memberships, before
 * those of users.
 */
const lock = (tx: Db) =>
  sql`select pg_advisory_xact_lock(hashtextextended('somebody is left', 0))`.execute(ahead(tx));

/** Whether a user `u` counts. */
const counts = sql<boolean>`(u.kind = 'human' and u.state = 'active' and u.deletion is null)`;

/** The user if nobody else administers the instance. */
const lastAdmin = (userId: number) => sql`
  select from users where id = ${userId} and admin and not exists (
    select from users u where u.admin and u.id <> ${userId} and ${counts})`;

/** The groups that the user alone owns; all of them, or only `groupId`. */
const ownedAlone = (userId: number, groupId?: number) => sql`
  select n.id, n.full_path as path from members m join namespaces n on n.id = m.namespace_id
  where m.user_id = ${userId} and m.access_level = ${OWNER}
    and ${groupId === undefined ? sql`true` : sql`n.id = ${groupId}`}
    and n.kind = 'group' and not n.deleting and not exists (
      select from members o join users u on u.id = o.user_id
      where o.namespace_id = any(n.ancestor_ids) and o.access_level = ${OWNER} and o.expires_at is null
        and u.id <> ${userId} and ${counts})`;

/** Whether the user is the only active administrator. */
export async function isLastAdministrator(tx: Db, userId: number): Promise<boolean> {
  await lock(tx);
  const { rows } = await lastAdmin(userId).execute(tx);
  return rows.length > 0;
}

/** The refusal to remove the last administrator. */
export const lastAdministrator = (): Failure =>
  conflict('The user is the only active administrator: make another one first');

/** Whether the user alone owns the group. */
export async function ownsAlone(tx: Db, userId: number, groupId: number): Promise<boolean> {
  await lock(tx);
  const { rows } = await ownedAlone(userId, groupId).execute(tx);
  return rows.length > 0;
}

/** Whether the user is the only active administrator, and the groups that the user alone owns. */
export async function selectIndispensable(
  tx: Db,
  userId: number,
): Promise<{ isLastAdmin: boolean; alone: { id: number; path: string }[] }> {
  await lock(tx);
  const { rows } = await sql<{ isLastAdmin: boolean; alone: { id: number; path: string }[] }>`
    select exists (${lastAdmin(userId)}) as "isLastAdmin",
      (select coalesce(jsonb_agg(o), '[]') from (${ownedAlone(userId)}) o) as alone`.execute(tx);
  return rows[0] ?? { isLastAdmin: false, alone: [] };
}

/** Whether the group has an active direct owner without expiry; ancestors do not count. */
export async function hasOwnOwner(tx: Db, groupId: number): Promise<boolean> {
  await lock(tx);
  const { rows } = await sql`
    select from members o join users u on u.id = o.user_id
    where o.namespace_id = ${groupId} and o.access_level = ${OWNER} and o.expires_at is null and ${counts}
    limit 1`.execute(tx);
  return rows.length > 0;
}
