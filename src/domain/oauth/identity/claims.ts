/** The claims about a user for an application that signs them in (facts: OAuth 2.0 / OIDC), and the rows behind them. */
import { DEVELOPER, MAINTAINER, MINIMAL, OWNER } from '../../../kernel/policy/roles.ts';
import { type Surroundings, userAvatarUrl } from '../../../kernel/users/records.ts';
import { now } from '../../../platform/clock.ts';
import type { PendingQuery, Sql } from '../../../platform/db/driver/sql.ts';
import { authenticate, deriveKey } from '../../../platform/secret.ts';

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

/** Names of claims, as discovery lists them. */
export const claimNames: readonly string[] = [
  'iss',
  'sub',
  'aud',
  'exp',
  'iat',
  'auth_time',
  'nonce',
  'at_hash',
  'sub_legacy',
  'name',
  'nickname',
  'preferred_username',
  'email',
  'email_verified',
  'website',
  'profile',
  'picture',
  'groups',
  'groups_direct',
  'https://gitlab.org/claims/groups/owner',
  'https://gitlab.org/claims/groups/maintainer',
  'https://gitlab.org/claims/groups/developer',
];

/** The subject of old installations: 64 hexadecimal digits that only this instance can make of the id. */
const legacySubject = (secretKey: string, userId: number): string =>
  Buffer.from(authenticate(deriveKey(secretKey, 'legacy subject'), String(userId)), 'base64url').toString(
    'hex',
  );

const withScheme = (website: string): string =>
  /^https?:\/\//i.test(website) ? website : `http://${website}`;

/** The claims of both the identity token and the response of userinfo, as far as the scopes go. */
export function personClaims(
  around: Surroundings & { secretKey: string },
  person: Person,
  scopes: readonly string[],
): { sub: string } & Record<string, unknown> {
  const picture = userAvatarUrl(around, person);
  return {
    sub: String(person.id),
    sub_legacy: legacySubject(around.secretKey, person.id),
    ...(scopes.includes('profile') && {
      name: person.name,
      nickname: person.username,
      preferred_username: person.username,
      profile: `${around.baseUrl}/${person.username}`,
      ...(picture !== null && { picture }),
      ...(person.website_url !== '' && { website: withScheme(person.website_url) }),
    }),
    ...(scopes.includes('email') && {
      email: person.email,
      email_verified: person.email_verified,
    }),
  };
}

/**
 * Userinfo's claims about groups: all paths, and of the direct memberships those of three roles, where there
 * are any.
 */
export function groupClaims(
  paths: readonly string[],
  direct: readonly DirectGroup[],
): Record<string, string[]> {
  const roles = [
    ['owner', OWNER],
    ['maintainer', MAINTAINER],
    ['developer', DEVELOPER],
  ] as const;
  const byRole = roles.flatMap(([role, level]) => {
    const held = direct.filter((group) => group.access_level === level).map((group) => group.full_path);
    return held.length === 0 ? [] : [[`https://gitlab.org/claims/groups/${role}`, held] as const];
  });
  return { groups: [...paths], ...Object.fromEntries(byRole) };
}
