/** Grants and their tokens: inserted, found and renewed. */
import { now } from '../../../platform/clock.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { digest, randomHex } from '../../../platform/secret.ts';
import type { Person } from '../identity/queries.ts';
import { OAuthError } from '../protocol/endpoint.ts';
import type { Client } from '../protocol/queries.ts';
import type { CodeGrant, RefreshGrant } from './rules.ts';

/** Seconds that an access token lives (spec: Limits). */
export const ACCESS_SECONDS = 7_200;
/** Seconds that an authorization code lives. */
export const CODE_SECONDS = 600;

/** A new secret value of 64 hexadecimal digits: codes, access and refresh tokens. */
export const newSecret = (): string => randomHex(32);

export type GrantKind = 'authorization_code' | 'device_code' | 'password' | 'client_credentials';

export type NewGrant = {
  kind: GrantKind;
  application_id: number | null;
  user_id: number | null;
  scopes: readonly string[];
  authenticated_at?: Date | null;
  /** The authorization request's, with the code of its response. */
  code?: { value: string; redirect_uri: string; code_challenge: string | null; nonce: string | null };
};

/**
 * Inserts a grant; returns its id. Its application is locked against changes, so that no scope that it has
 * lost is granted. 401 invalid_client when it is gone, 400 invalid_scope when it has been narrowed.
 */
export async function insertGrant(tx: Db, grant: NewGrant): Promise<number> {
  const time = now();
  if (grant.application_id !== null) {
    const application = await tx
      .selectFrom('oauth_applications')
      .select('scopes')
      .where('id', '=', grant.application_id)
      .forShare()
      .executeTakeFirst();
    if (!application) throw new OAuthError('invalid_client');
    if (!grant.scopes.every((scope) => application.scopes.includes(scope)))
      throw new OAuthError('invalid_scope');
  }
  const { code } = grant;
  const { id } = await tx
    .insertInto('oauth_grants')
    .values({
      kind: grant.kind,
      application_id: grant.application_id,
      user_id: grant.user_id,
      scopes: [...grant.scopes],
      authenticated_at: grant.authenticated_at ?? null,
      created_at: time,
      ...(code && {
        code_digest: digest(code.value),
        code_expires_at: new Date(time.getTime() + CODE_SECONDS * 1_000),
        redirect_uri: code.redirect_uri,
        code_challenge: code.code_challenge,
        nonce: code.nonce,
      }),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Values of tokens just issued: the only time that they are known. */
export type Issued = {
  accessToken: string;
  refreshToken: string | undefined;
  createdAt: Date;
  /** The user, where a statement has read it already. */
  person?: Person | null;
};

const expiryOf = (time: Date): Date => new Date(time.getTime() + ACCESS_SECONDS * 1_000);

/** Issues an access token, and where the grant can be renewed a refresh token, for a grant of this transaction. */
export async function issueTokens(
  tx: Db,
  grant: { id: number; user_id: number | null; scopes: readonly string[]; name: string; renewable: boolean },
): Promise<Issued> {
  const createdAt = now();
  const accessToken = newSecret();
  await ahead(tx)
    .insertInto('access_tokens')
    .values({
      kind: 'oauth',
      digest: digest(accessToken),
      user_id: grant.user_id,
      grant_id: grant.id,
      name: grant.name,
      scopes: [...grant.scopes],
      expires_at: expiryOf(createdAt),
      created_at: createdAt,
      updated_at: createdAt,
    })
    .execute();
  if (!grant.renewable) return { accessToken, refreshToken: undefined, createdAt };
  const refreshToken = newSecret();
  await ahead(tx)
    .insertInto('oauth_refresh_tokens')
    .values({ digest: digest(refreshToken), grant_id: grant.id, created_at: createdAt })
    .execute();
  return { accessToken, refreshToken, createdAt };
}

export type StoredCode = CodeGrant & {
  id: number;
  scopes: string[];
  nonce: string | null;
  authenticated_at: Date | null;
};

/** The grant of a code, with whether its user is active; undefined without one. */
export async function selectCode(sql: Sql, code: string): Promise<StoredCode | undefined> {
  const [row] = await sql<StoredCode[]>`
    select g.id, g.application_id, g.user_id, g.scopes, g.revoked_at, g.redirect_uri, g.code_challenge, g.nonce,
      g.authenticated_at, g.code_expires_at, g.code_used_at,
      case when u.deletion is null then u.state end as user_state
    from oauth_grants g left join users u on u.id = g.user_id
    where g.code_digest = ${digest(code)}`;
  return row;
}

/** Uses the code up; false when another request has, or the grant was revoked meanwhile. */
export async function redeemCode(tx: Db, grantId: number): Promise<boolean> {
  const redeemed = await tx
    .updateTable('oauth_grants')
    .set({ code_used_at: now() })
    .where('id', '=', grantId)
    .where('code_used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return redeemed !== undefined;
}

export type StoredRefresh = RefreshGrant & {
  refresh_id: number;
  grant_id: number;
  scopes: string[];
  nonce: string | null;
  authenticated_at: Date | null;
  /** The application that the grant was given to, as selectClient() gives it; null where there was none. */
  client: Client | null;
};

type RefreshRow = Omit<StoredRefresh, 'client'> & Omit<Client, 'id' | 'scopes'> & { client_scopes: string[] };

/** The grant of a refresh token with its client, read at once; undefined without one. */
export async function selectRefresh(sql: Sql, token: string): Promise<StoredRefresh | undefined> {
  const [row] = await sql<RefreshRow[]>`
    select r.id as refresh_id, r.used_at, g.id as grant_id, g.application_id, g.user_id, g.scopes, g.revoked_at,
      g.redirect_uri, g.code_challenge, g.nonce, g.authenticated_at, a.uid, a.name, a.secret_digest, a.redirect_uris,
      a.scopes as client_scopes, a.confidential, a.trusted, a.dynamic,
      case when u.deletion is null then u.state end as user_state
    from oauth_refresh_tokens r join oauth_grants g on g.id = r.grant_id
    left join users u on u.id = g.user_id left join oauth_applications a on a.id = g.application_id
    where r.digest = ${digest(token)}`;
  if (!row) return undefined;
  const { uid, name, secret_digest, redirect_uris, client_scopes, confidential, trusted, dynamic, ...rest } =
    row;
  const id = row.application_id;
  const client =
    id === null
      ? null
      : {
          id,
          uid,
          name,
          secret_digest,
          redirect_uris,
          scopes: client_scopes,
          confidential,
          trusted,
          dynamic,
        };
  return { ...rest, client };
}
