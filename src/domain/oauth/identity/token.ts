/** The signed identity token: the user, the time, the application (OpenID Connect Core, section 2). */
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { digest, isSignedRs256, signRs256 } from '../../../platform/secret.ts';
import { OAuthError } from '../protocol/endpoint.ts';
import { personClaims } from './claims.ts';
import { type Person, selectPerson } from './queries.ts';
import { SIGNING_ALGORITHM, type SigningKey, signingKey, verifyingKey } from './signing-key-actions.ts';

/** Seconds that an identity token is valid: it is read once, when it arrives. */
const IDENTITY_SECONDS = 120;

const seconds = (time: Date): number => Math.floor(time.getTime() / 1_000);

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** Ties the identity to the access token that came with it (OpenID Connect Core, section 3.1.3.6). */
const accessTokenHash = (accessToken: string): string =>
  digest(accessToken).subarray(0, 16).toString('base64url');

/** The signed identity of a user for an application; invalid_grant when the user has been deleted meanwhile. */
export async function signIdentity(
  services: Needs<'database' | 'settings' | 'secretKey' | 'baseUrl'>,
  of: {
    clientUid: string;
    userId: number;
    scopes: readonly string[];
    nonce: string | null;
    authenticatedAt: Date | null;
    accessToken: string;
    /** The user, where it was read already. */
    person?: Person | null;
  },
): Promise<string> {
  const { points } = services.database;
  const [settings, person, key] = await Promise.all([
    services.settings.read(),
    of.person ?? selectPerson(points, of.userId),
    signingKey(services),
  ]);
  if (!person) throw new OAuthError('invalid_grant');
  const baseUrl = services.baseUrl();
  const issuedAt = seconds(now());
  const claims = {
    iss: baseUrl,
    aud: of.clientUid,
    exp: issuedAt + IDENTITY_SECONDS,
    iat: issuedAt,
    ...(of.nonce !== null && { nonce: of.nonce }),
    ...(of.authenticatedAt !== null && { auth_time: seconds(of.authenticatedAt) }),
    at_hash: accessTokenHash(of.accessToken),
    ...personClaims({ baseUrl, settings, secretKey: services.secretKey }, person, of.scopes),
    groups_direct: person.groups.map((group) => group.full_path),
  };
  return signWith(key, claims);
}

async function signWith(key: SigningKey, claims: object): Promise<string> {
  const header = { alg: SIGNING_ALGORITHM, typ: 'JWT', kid: key.kid };
  const content = `${encode(header)}.${encode(claims)}`;
  const signature = await signRs256(key.privateKey, content);
  return `${content}.${signature.toString('base64url')}`;
}

/** A signed token of other claims, such as a CI job's, by the keys that are published. */
export const signClaims = async (
  services: Needs<'database' | 'secretKey'>,
  claims: object,
): Promise<string> => signWith(await signingKey(services), claims);

const decode = (part: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
};

/** The claims of a token that signClaims() made; undefined for any other. Its time and audience are the caller's to look at. */
export async function readSignedClaims(
  services: Needs<'database' | 'secretKey'>,
  token: string,
): Promise<Record<string, unknown> | undefined> {
  const [header = '', claims = '', signature = '', ...others] = token.split('.');
  const { alg, kid } = decode(header) ?? {};
  if (others.length > 0 || alg !== SIGNING_ALGORITHM || typeof kid !== 'string') return undefined;
  const key = await verifyingKey(services, kid);
  if (!key || !isSignedRs256(key, `${header}.${claims}`, Buffer.from(signature, 'base64url')))
    return undefined;
  return decode(claims);
}
