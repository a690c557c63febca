/** Sessions start, are used, and end. */
import { now } from '../../platform/clock.ts';
import { ahead, type Db } from '../../platform/db/database.ts';
import type { Sql } from '../../platform/db/driver/sql.ts';
import { digest, randomText } from '../../platform/secret.ts';
import { revokeGrants } from './grant-actions.ts';

/** The origin that a user's list of sessions shows. */
export type SessionOrigin = { address: string; userAgent: string | null };

/** Starts a session; returns the cookie's value: always a new text, against session fixation. */
export async function openSession(tx: Db, userId: number, origin: SessionOrigin): Promise<string> {
  const token = randomText(32);
  const time = now();
  await ahead(tx)
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

/** Records that the session is in use. */
export async function recordSessionUse(sql: Sql, id: number, time: Date): Promise<void> {
  await sql`update sessions set last_used_at = ${time} where id = ${id}`;
}

/** Records since when the user must set up two factors: the grace period starts at the first request under it, and never restarts. */
export async function recordRequirement(sql: Sql, userId: number, since: Date | null): Promise<void> {
  await sql`update users set otp_required_since = ${since} where id = ${userId}`;
}

/** Records that the session enters admin mode, or leaves it. */
export async function recordAdminMode(tx: Db, sessionId: number, since: Date | null): Promise<void> {
  await ahead(tx).updateTable('sessions').set({ admin_mode_at: since }).where('id', '=', sessionId).execute();
}

/** Ends the session of a cookie, if there is one. */
export async function endSession(tx: Db, token: string): Promise<void> {
  await ahead(tx).deleteFrom('sessions').where('digest', '=', digest(token)).execute();
}

/**
 * Ends every session of the user. Call it after a change of the user's row in the same transaction: a sign-in
 * that has the row locked has inserted its session by then, and one that waits for it finds the password
 * changed.
 */
export async function endSessions(tx: Db, userId: number): Promise<void> {
  await ahead(tx).deleteFrom('sessions').where('user_id', '=', userId).execute();
}

/**
 * Ends every session and OAuth grant of the user, in every process with the commit: for accounts that are
 * blocked, removed, or get another password. Call it where endSessions() may be called.
 */
export async function endAccess(tx: Db, userId: number): Promise<void> {
  await endSessions(tx, userId);
  await revokeGrants(tx, { userId });
}
