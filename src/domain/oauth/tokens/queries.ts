/** Finds access and refresh tokens, with the applications that they were given to. */
import type { Db } from '../../../platform/db/database.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { digest } from '../../../platform/secret.ts';

export type StoredAccess = {
  user_id: number | null;
  scopes: string[];
  grant_id: number;
  application_id: number | null;
  client_uid: string | null;
  revoked_at: Date | null;
  expires_at: Date;
  created_at: Date;
};

type GrantClient = Pick<StoredAccess, 'application_id' | 'client_uid'>;

/** The application of a grant, for each database: it never changes, and goes with its tokens. */
const grantClients = new WeakMap<Sql, Map<number, GrantClient>>();

const MAX_KNOWN = 10_000;

async function clientOf(sql: Sql, grantId: number): Promise<GrantClient | undefined> {
  const known = grantClients.get(sql) ?? new Map<number, GrantClient>();
  grantClients.set(sql, known);
  const before = known.get(grantId);
  if (before) return before;
  const [client] = await sql<GrantClient[]>`
    select g.application_id, a.uid as client_uid
    from oauth_grants g left join oauth_applications a on a.id = g.application_id where g.id = ${grantId}`;
  if (known.size >= MAX_KNOWN) known.clear();
  if (client) known.set(grantId, client);
  return client;
}

/** An access token of an application by its value; undefined for any other token. */
export async function selectAccess(sql: Sql, token: string): Promise<StoredAccess | undefined> {
  const [row] = await sql<Omit<StoredAccess, keyof GrantClient>[]>`
    select user_id, scopes, grant_id, revoked_at, expires_at, created_at
    from access_tokens where digest = ${digest(token)} and kind = 'oauth'`;
  const client = row && (await clientOf(sql, row.grant_id));
  return client && { ...row, ...client };
}

/** The grant of a refresh token, whatever became of it. */
export async function selectRefreshGrant(sql: Sql, token: string) {
  const [row] = await sql<
    {
      grant_id: number;
      application_id: number | null;
      live: boolean;
      scopes: string[];
      client_uid: string | null;
    }[]
  >`
    select g.id as grant_id, g.application_id, g.scopes, a.uid as client_uid,
      r.used_at is null and g.revoked_at is null and (u.id is null or (u.state = 'active' and u.deletion is null)) as live
    from oauth_refresh_tokens r join oauth_grants g on g.id = r.grant_id
    left join oauth_applications a on a.id = g.application_id left join users u on u.id = g.user_id
    where r.digest = ${digest(token)}`;
  return row;
}

/** The active user, locked, while they have this password and no second factor. */
export const lockSignedIn = (tx: Db, account: { id: number; password_hash: string | null }) =>
  tx
    .selectFrom('users')
    .select('id')
    .where('id', '=', account.id)
    .where('state', '=', 'active')
    .where('password_hash', '=', account.password_hash)
    .where('otp_enabled_at', 'is', null)
    .forShare()
    .executeTakeFirst();
