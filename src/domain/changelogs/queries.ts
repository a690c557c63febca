/** Who the authors of commits are. */
import { sql } from 'kysely';
import { memberIds } from '../../kernel/access/membership-queries.ts';
import { type ResourceParent, reachOf } from '../../kernel/access/resource-parents.ts';
import type { Db } from '../../platform/db/database.ts';

export type Author = { id: number; username: string };

/** The accounts that have confirmed the addresses, by the addresses in lower case. */
export async function selectAuthors(db: Db, addresses: readonly string[]): Promise<Map<string, Author>> {
  if (addresses.length === 0) return new Map();
  const { rows } = await sql<Author & { address: string }>`
    select lower(e.email) as address, u.id, u.username from emails e join users u on u.id = e.user_id
    where lower(e.email) = any(${[...addresses]}::text[]) and e.confirmed_at is not null and not e.held_elsewhere
      and u.deletion is null`.execute(db);
  return new Map(rows.map(({ address, ...author }) => [address, author]));
}

/** Those of the users who are members. */
export async function selectMembers(
  db: Db,
  parent: ResourceParent,
  userIds: readonly number[],
): Promise<Set<number>> {
  if (userIds.length === 0) return new Set();
  const { projectId, ancestorIds } = reachOf(parent);
  const { rows } = await sql<{ user_id: number }>`
    select distinct m.user_id from (${memberIds({ projectId, ancestorIds })}) m
    where m.user_id = any(${[...userIds]}::bigint[])`.execute(db);
  return new Set(rows.map(({ user_id }) => user_id));
}
