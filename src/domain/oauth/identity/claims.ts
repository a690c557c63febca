/** The claims about a user for an application that signs them in (facts: OAuth 2.0 / OIDC), and the rows behind them. */
import { DEVELOPER, MAINTAINER, OWNER } from '../../../kernel/policy/roles.ts';
import { type Surroundings, userAvatarUrl } from '../../../kernel/users/records.ts';
import { authenticate, deriveKey } from '../../../platform/secret.ts';
import type { DirectGroup, Person } from './queries.ts';

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

/** A cache, as programs renew the tokens of the same users: the latest. */
const legacySubjects = new Map<string, string>();
const SUBJECTS_KEPT = 1_000;

/** The subject of old installations: 64 hexadecimal digits that only this instance can make of the id. */
function legacySubject(secretKey: string, userId: number): string {
  const name = `${userId} ${secretKey}`;
  const known = legacySubjects.get(name);
  if (known !== undefined) return known;
  const code = authenticate(deriveKey(secretKey, 'legacy subject'), String(userId));
  const subject = Buffer.from(code, 'base64url').toString('hex');
  if (legacySubjects.size >= SUBJECTS_KEPT) legacySubjects.clear();
  legacySubjects.set(name, subject);
  return subject;
}

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
