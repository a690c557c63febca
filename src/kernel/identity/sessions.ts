/** Web sessions: a row with the digest of a random text, which is the browser's cookie. */
import { now } from '../../platform/clock.ts';
import type { Sql } from '../../platform/db/driver/sql.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import { type Actor, toActor } from '../actor.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';
import { adminRights } from './admin-mode.ts';
import { findSession } from './credential-queries.ts';
import { SESSION_COOKIE } from './credentials.ts';
import { recordRequirement, recordSessionUse, type SessionOrigin } from './session-actions.ts';
import { type TwoFactorDuty, twoFactorDuty, twoFactorGrace } from './two-factor/two-factor.ts';

export type Session = {
  /** The cookie's value. */
  token: string;
  actor: Actor;
  /** Whether an administrator has entered admin mode; undefined for other users, and where it is not demanded. */
  adminMode: boolean | undefined;
  /** Time of the sign-in. */
  authenticatedAt: Date;
  /** Whether two-factor authentication is set up, and whether it is still required. */
  twoFactor: boolean;
  duty: TwoFactorDuty;
};

/** Use is recorded at most this often, in milliseconds: not a write per request. */
const RECORD_USE_INTERVAL_MS = 60_000;

/** The session of a cookie, while it lasts and its user is active; undefined otherwise. */
export async function readSession(
  sql: Sql,
  token: string,
  settings: ApplicationSettings,
): Promise<Session | undefined> {
  const row = await findSession(sql, token);
  if (row?.state !== 'active') return undefined;
  const time = now();
  const from = settings.session_expire_from_init ? row.session_created_at : row.last_used_at;
  if (time.getTime() - from.getTime() > settings.session_expire_delay * 60_000) return undefined;
  if (time.getTime() - row.last_used_at.getTime() > RECORD_USE_INTERVAL_MS) {
    await recordSessionUse(sql, row.session_id, time);
  }
  const required = twoFactorGrace(row, settings) !== undefined;
  if (required !== (row.otp_required_since !== null)) {
    await recordRequirement(sql, row.id, required ? time : null);
  }
  const rights = adminRights(row, settings, { via: 'session', enteredAt: row.admin_mode_at }, time);
  return {
    token,
    actor: toActor({ ...row, ...rights }, { via: 'session', sessionId: row.session_id }),
    adminMode: row.admin && settings.admin_mode ? rights.admin : undefined,
    authenticatedAt: row.session_created_at,
    twoFactor: row.otp_enabled_at !== null,
    duty: twoFactorDuty(row, settings, time),
  };
}

const USER_AGENT_LENGTH = 500;

/** The browser that sent the request. */
export const sessionOrigin = ({
  address,
  headers,
}: Pick<HttpRequest, 'address' | 'headers'>): SessionOrigin => ({
  address,
  userAgent: headers['user-agent']?.toString().slice(0, USER_AGENT_LENGTH) ?? null,
});

/** The Set-Cookie of a session, without an expiry: the database decides when it ends. */
export const sessionCookie = (token: string, baseUrl: string): string => cookie(token, baseUrl, '');

/** The Set-Cookie that removes the cookie. */
export const noSessionCookie = (baseUrl: string): string => cookie('', baseUrl, '; Max-Age=0');

const cookie = (value: string, baseUrl: string, end: string): string =>
  `${SESSION_COOKIE}=${value}; Path=/; HttpOnly; SameSite=Lax${baseUrl.startsWith('https:') ? '; Secure' : ''}${end}`;
