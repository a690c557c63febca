/** Web sessions: a row with the digest of a random text, which is the browser's cookie. */
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import type { Sql } from '../../platform/db/driver/sql.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import { digest, randomText } from '../../platform/secret.ts';
import { type Actor, type ActorColumns, toActor } from '../actor.ts';
import { defaultGroupSettings } from '../namespaces/group-settings.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';
import { SESSION_COOKIE } from './credentials.ts';
import { revokeGrants } from './grant-actions.ts';
import {
  type TwoFactorColumns,
  type TwoFactorDuty,
  twoFactorDuty,
  twoFactorGrace,
} from './two-factor/two-factor.ts';

export type Session = {
  /** The cookie's value. */
  token: string;
  actor: Actor;
  /** Time of the sign-in. */
  authenticatedAt: Date;
  /** Whether two-factor authentication is set up, and whether it is still required. */
  twoFactor: boolean;
  duty: TwoFactorDuty;
};

type SessionRow = ActorColumns &
  TwoFactorColumns & { session_id: number; session_created_at: Date; last_used_at: Date; state: string };

/** Use is recorded at most this often, in milliseconds: not a write per request. */
const RECORD_USE_INTERVAL_MS = 60_000;

/** The session of a cookie, while it lasts and its user is active; undefined otherwise. */
export async function readSession(
  sql: Sql,
  token: string,
  settings: ApplicationSettings,
): Promise<Session | undefined> {
  const [row] = await sql<SessionRow[]>`
    select s.id as session_id, s.created_at as session_created_at, s.last_used_at,
      u.id, u.username, u.name, u.state, u.kind, u.admin, u.auditor, u.external, u.otp_enabled_at, u.otp_required_since,
      (select min(coalesce((above.settings ->> 'two_factor_grace_period')::integer,
          ${defaultGroupSettings.two_factor_grace_period}::integer))
        from members m
        join namespaces joined on joined.id = m.namespace_id
        join namespaces above on above.id = any(joined.ancestor_ids)
        where m.user_id = u.id and above.settings @> '{"require_two_factor_authentication": true}'
      ) as group_grace_hours
    from sessions s join users u on u.id = s.user_id
    where s.digest = ${digest(token)} and u.deletion is null`;
  if (row?.state !== 'active') return undefined;
  const time = now();
  const from = settings.session_expire_from_init ? row.session_created_at : row.last_used_at;
  if (time.getTime() - from.getTime() > settings.session_expire_delay * 60_000) return undefined;
  if (time.getTime() - row.last_used_at.getTime() > RECORD_USE_INTERVAL_MS) {
    await sql`update sessions set last_used_at = ${time} where id = ${row.session_id}`;
  }
  await recordRequirement(sql, row, settings);
  return {
    token,
    actor: toActor(row, { via: 'session', sessionId: row.session_id }),
    authenticatedAt: row.session_created_at,
    twoFactor: row.otp_enabled_at !== null,
    duty: twoFactorDuty(row, settings, time),
  };
}

/** The grace period starts at the first request under the requirement, and never restarts. */
async function recordRequirement(sql: Sql, row: SessionRow, settings: ApplicationSettings): Promise<void> {
  const required = twoFactorGrace(row, settings) !== undefined;
  if (required === (row.otp_required_since !== null)) return;
  await sql`update users set otp_required_since = ${required ? now() : null} where id = ${row.id}`;
}

/** The origin that a user's list of sessions shows. */
export type SessionOrigin = { address: string; userAgent: string | null };

const USER_AGENT_LENGTH = 500;

/** The browser that sent the request. */
export const sessionOrigin = ({
  address,
  headers,
}: Pick<HttpRequest, 'address' | 'headers'>): SessionOrigin => ({
  address,
  userAgent: headers['user-agent']?.toString().slice(0, USER_AGENT_LENGTH) ?? null,
});

/** Starts a session; returns the cookie's value: always a new text, against session fixation. */
export async function openSession(tx: Db, userId: number, origin: SessionOrigin): Promise<string> {
  const token = randomText(32);
  const time = now();
  await tx
    .insertInto('sessions')
    .values({
      digest: digest(token),
      user_id: userId,
      address: origin.address,
      user_agent: origin.userAgent,
      created_at: time,
      last_used_at: time,
    })
    .execute();
  return token;
}

/** Ends the session of a cookie, if there is one. */
export async function endSession(tx: Db, token: string): Promise<void> {
  await tx.deleteFrom('sessions').where('digest', '=', digest(token)).execute();
}

/**
 * Ends every session of the user. Call it after a change of the user's row in the same transaction: a sign-in
 * that has the row locked has inserted its session by then, and one that waits for it finds the password
 * changed.
 */
export async function endSessions(tx: Db, userId: number): Promise<void> {
  await tx.deleteFrom('sessions').where('user_id', '=', userId).execute();
}

/**
 * Ends every session and OAuth grant of the user, in every process with the commit: for accounts that are
 * blocked, removed, or get another password. Call it where endSessions() may be called.
 */
export async function endAccess(tx: Db, userId: number): Promise<void> {
  await endSessions(tx, userId);
  await revokeGrants(tx, { userId });
}

/** The Set-Cookie of a session, without an expiry: the database decides when it ends. */
export const sessionCookie = (token: string, baseUrl: string): string => cookie(token, baseUrl, '');

/** The Set-Cookie that removes the cookie. */
export const noSessionCookie = (baseUrl: string): string => cookie('', baseUrl, '; Max-Age=0');

const cookie = (value: string, baseUrl: string, end: string): string =>
  `${SESSION_COOKIE}=${value}; Path=/; HttpOnly; SameSite=Lax${baseUrl.startsWith('https:') ? '; Secure' : ''}${end}`;
