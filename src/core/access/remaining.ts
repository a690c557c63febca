/**
 * Somebody is left: an active administrator for the instance, and for each group an active person who owns it, there or
 * from above, for good. Whatever ends or limits either asks here, under one lock, so that of two who go at once the
 * second sees the first gone. A blocked owner is no reason against the block: administrators can give a group a new one.
 */
import { sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';
import { conflict, type Failure } from '../../platform/failure.ts';
import { OWNER } from './roles.ts';

/**
 * Held until the transaction ends. It comes after the locks of memberships and before those of users: in one order
 * everywhere.
 */
const lock = (tx: Db) =>
  sql`select pg_advisory_xact_lock(hashtextextended('somebody is left', 0))`.execute(tx);

/** Of a user `u`. */
const counts = sql<boolean>`(u.kind = 'human' and u.state = 'active' and u.deletion is null)`;

/** Whether the user is the only active administrator. */
export async function isLastAdministrator(tx: Db, userId: number): Promise<boolean> {
  await lock(tx);
  const { rows } = await sql`
    select from users where id = ${userId} and admin and not exists (
      select from users u where u.admin and u.id <> ${userId} and ${counts})`.execute(tx);
  return rows.length > 0;
}

/** What is said where the last administrator would go. */
export const lastAdministrator = (): Failure =>
  conflict('The user is the only active administrator: make another one first');

/** The groups that the user owns directly and nobody else does; all of the user's, or of them the one asked about. */
export async function groupsOwnedAlone(
  tx: Db,
  userId: number,
  groupId?: number,
): Promise<{ id: number; path: string }[]> {
  await lock(tx);
  const requested = groupId === undefined ? sql`true` : sql`n.id = ${groupId}`;
  const { rows } = await sql<{ id: number; path: string }>`
    select n.id, n.full_path as path from members m join namespaces n on n.id = m.namespace_id
    where m.user_id = ${userId} and m.access_level = ${OWNER} and ${requested}
      and n.kind = 'group' and not n.deleting and not exists (
        select from members o join users u on u.id = o.user_id
        where o.namespace_id = any(n.ancestor_ids) and o.access_level = ${OWNER} and o.expires_at is null
          and u.id <> ${userId} and ${counts})`.execute(tx);
  return rows;
}

/** Whether an active person owns the group itself for good; what is above it does not count. */
export async function hasOwnOwner(tx: Db, groupId: number): Promise<boolean> {
  await lock(tx);
  const { rows } = await sql`
    select from members o join users u on u.id = o.user_id
    where o.namespace_id = ${groupId} and o.access_level = ${OWNER} and o.expires_at is null and ${counts}
    limit 1`.execute(tx);
  return rows.length > 0;
}
