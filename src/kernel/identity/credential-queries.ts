/** The rows that credentials stand for: a token's or a session's, each with its user, and the user of a sudo. */
import type { Sql } from '../../platform/db/driver/sql.ts';
import { pointRead } from '../../platform/db/point-read.ts';
import { digest } from '../../platform/secret.ts';
import { type ActorColumns, actorColumns, type TokenKind } from '../actor.ts';
import { defaultGroupSettings } from '../namespaces/group-settings.ts';
import type { TwoFactorColumns } from './two-factor/two-factor.ts';

export type UserColumns = ActorColumns & { state: string };

export type TokenRow = UserColumns & {
  token_id: number;
  token_kind: TokenKind;
  scopes: string[];
  family_id: number | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
  created_by_id: number | null;
  project_id: number | null;
};

const userColumns = [...actorColumns, 'state'].map((column) => `u.${column}`).join(', ');

const tokenByDigest = pointRead<TokenRow>(
  ['text'],
  `select t.id as token_id, t.kind as token_kind, t.scopes, t.family_id, t.expires_at, t.revoked_at, t.last_used_at,
     t.created_by_id, t.project_id, ${userColumns}
   from access_tokens t join users u on u.id = t.user_id and u.deletion is null where t.digest = decode(k.v1, 'hex')`,
);

/** By the token, or by its digest. */
export const findToken = (sql: Sql, token: string | Buffer): Promise<TokenRow | undefined> =>
  tokenByDigest(sql, [(typeof token === 'string' ? digest(token) : token).toString('hex')]);

/** The user of an id or a username. */
export async function findSudoUser(sql: Sql, target: string): Promise<UserColumns | undefined> {
  const [user] = /^\d{1,15}$/.test(target)
    ? await sql<
        UserColumns[]
      >`select ${sql.unsafe(userColumns)} from users u where u.id = ${Number(target)} and u.deletion is null`
    : await sql<UserColumns[]>`
        select ${sql.unsafe(userColumns)} from users u
        where lower(u.username) collate "C" = ${target.toLowerCase()} and u.deletion is null`;
  return user;
}

export type SessionRow = UserColumns &
  TwoFactorColumns & {
    session_id: number;
    session_created_at: Date;
    last_used_at: Date;
    admin_mode_at: Date | null;
  };

export async function findSession(sql: Sql, token: string): Promise<SessionRow | undefined> {
  const [row] = await sql<SessionRow[]>`
    select s.id as session_id, s.created_at as session_created_at, s.last_used_at, s.admin_mode_at,
      ${sql.unsafe(userColumns)}, u.otp_enabled_at, u.otp_required_since,
      (select min(coalesce((above.settings ->> 'two_factor_grace_period')::integer,
          ${defaultGroupSettings.two_factor_grace_period}::integer))
        from members m
        join namespaces joined on joined.id = m.namespace_id
        join namespaces above on above.id = any(joined.ancestor_ids)
        where m.user_id = u.id and above.settings @> '{"require_two_factor_authentication": true}'
      ) as group_grace_hours
    from sessions s join users u on u.id = s.user_id
    where s.digest = ${digest(token)} and u.deletion is null`;
  return row;
}
