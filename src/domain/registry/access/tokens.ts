/** Tokens of the registry: signed by the token service, read with each request. */
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { randomId } from '../../../platform/secret.ts';
import { readSignedClaims, signClaims } from '../../oauth/index.ts';
import type { Action } from '../names/rules.ts';
import type { Grant } from './grants.ts';
import { type TokenService, tokenServices } from './rules.ts';

/** Another one than that of identities, which the same keys sign. */
const ISSUER = 'ashlar-registry';
/** Seconds by which clocks of clients may be behind. */
const EARLY = 5;

/** Whose token it is, as fair shares and uploads name them: `user:5`, `deploy_token:7`, or of nobody. */
export type Holder = { key: string; username: string };

export type RegistryToken = { holder: Holder; grants: readonly Grant[] };

export async function signRegistryToken(
  services: Needs<'database' | 'secretKey'>,
  { holder, grants }: RegistryToken,
  { service, kind, seconds }: { service: TokenService; kind: string; seconds: number },
): Promise<{ token: string; issuedAt: Date }> {
  const issuedAt = now();
  const iat = Math.floor(issuedAt.getTime() / 1_000);
  const token = await signClaims(services, {
    iss: ISSUER,
    aud: service,
    sub: holder.username,
    jti: randomId(),
    iat,
    nbf: iat - EARLY,
    exp: iat + seconds,
    auth_type: kind,
    holder: holder.key,
    access: grants,
  });
  return { token, issuedAt };
}

/** Undefined for one that this service did not sign, or that is over. */
export async function readRegistryToken(
  services: Needs<'database' | 'secretKey'>,
  token: string,
): Promise<RegistryToken | undefined> {
  const claims = await readSignedClaims(services, token);
  if (!claims || claims.iss !== ISSUER || !tokenServices.some((service) => service === claims.aud))
    return undefined;
  if (Number(claims.exp) * 1_000 <= now().getTime()) return undefined;
  return {
    holder: { key: String(claims.holder), username: String(claims.sub) },
    // The issuer wrote nothing else.
    grants: claims.access as Grant[],
  };
}

/** An image's place, where the token grants the action there. */
export type ImagePlace = {
  path: string;
  projectId: number;
  name: string;
  /** The caller's in protection rules. */
  level: number;
};

export function placeIn(token: RegistryToken, path: string, action: Action): ImagePlace | undefined {
  const grant = token.grants.find(
    ({ type, name, actions }) =>
      type === 'repository' && name === path && (actions.includes(action) || actions.includes('*')),
  );
  if (!grant?.meta || !('project_id' in grant.meta)) return undefined;
  // Of a token that an older version signed, no level is known.
  const { project_id: projectId, project_path: projectPath, level = 0 } = grant.meta;
  return { path, projectId, name: path.slice(projectPath.length + 1), level };
}

/** The group by whose proxy the token pulls the image. */
export function placeOfProxied(token: RegistryToken, path: string): number | undefined {
  const grant = token.grants.find(({ name, meta }) => name === path && meta && 'group_id' in meta);
  return grant?.meta && 'group_id' in grant.meta ? grant.meta.group_id : undefined;
}

export const mayListAll = (token: RegistryToken): boolean =>
  token.grants.some(({ type, name }) => type === 'registry' && name === 'catalog');
