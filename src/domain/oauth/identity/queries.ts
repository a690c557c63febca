/** The person behind a grant, and their groups. */

import { MINIMAL } from '../../../kernel/policy/roles.ts';
import { now } from '../../../platform/clock.ts';
import type { PendingQuery, Sql } from '../../../platform/db/driver/sql.ts';

export type Person = {
  id: number;
  username: string;
  name: string;
  email: string;
  /** Whether the user has confirmed the address. */
  email_verified: boolean;
  website_url: string;
  avatar: string | null;
  /** The groups with a direct membership. */
  groups: DirectGroup[];
};

export type DirectGroup = { full_path: string; access_level: number };

/** No token and no response names more groups than this; those whose paths come first. */
const MAX_DIRECT_GROUPS = 1_000;

const MAX_GROUPS = 5_000;

/** An id, or the column of an outer statement. */
type UserId = number | PendingQuery<unknown>;

/** Memberships `m` of the user that count: not expired, and above minimal access. */
const memberships = (sql: Sql, userId: UserId) => sql`
  m.user_id = ${userId} and m.access_level > ${MINIMAL}
  and (m.expires_at is null or m.expires_at > ${now().toISOString().slice(0, 10)}::date)`;

/**
 * The select of a Person, whole or as a part of another statement: no row for a user who is deleted or being
 * deleted.
 */
export const personOf = (sql: Sql, userId: UserId) => sql`
    select u.id, u.username, u.name, u.email, u.website_url, u.avatar,
      exists (select from emails e where e.user_id = u.id and e.email = u.email and e.confirmed_at is not null)
        as email_verified,
      coalesce((
      select jsonb_agg(g) from (
        select n.full_path, m.access_level from members m join namespaces n on n.id = m.namespace_id
        where ${memberships(sql, userId)} and n.kind = 'group' and not n.deleting
        order by n.full_path limit ${MAX_DIRECT_GROUPS}) g), '[]') as groups
    from users u where u.id = ${userId} and u.deletion is null`;

/** The user with their groups; undefined for one who is deleted or being deleted. */
export async function selectPerson(points: Sql, userId: number): Promise<Person | undefined> {
  const [row] = await points<Person[]>`${personOf(points, userId)}`;
  return row;
}

/** The paths of those groups and of all groups inside them. */
export async function selectGroupPaths(sql: Sql, userId: number): Promise<string[]> {
  const rows = await sql<{ full_path: string }[]>`
    select distinct n.full_path from members m join namespaces n on n.ancestor_ids @> array[m.namespace_id]
    where ${memberships(sql, userId)} and n.kind = 'group' and not n.deleting
    order by n.full_path limit ${MAX_GROUPS}`;
  return rows.map((row) => row.full_path);
}
