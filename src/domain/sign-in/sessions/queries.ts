/** Statements over sessions: those of one user, and expired ones. */
import { sql } from 'kysely';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import type { Db } from '../../../platform/db/database.ts';
import { digest } from '../../../platform/secret.ts';

type Expiry = Pick<ApplicationSettings, 'session_expire_delay' | 'session_expire_from_init'>;

/** The column and the time that decide which sessions have expired. */
const expiry = (settings: Expiry, time: Date) => ({
  column: settings.session_expire_from_init ? ('created_at' as const) : ('last_used_at' as const),
  oldest: new Date(time.getTime() - settings.session_expire_delay * 60_000),
});

/** Whether the address is a redirect URI of the application with this public id. */
export async function isRedirectUri(db: Db, uid: string, redirectUri: string): Promise<boolean> {
  const found = await db
    .selectFrom('oauth_applications')
    .select('id')
    .where('uid', '=', uid)
    .where(sql<boolean>`${redirectUri} = any(redirect_uris)`)
    .executeTakeFirst();
  return found !== undefined;
}

/** Deletes expired sessions. */
export async function forgetSessions(db: Db, settings: Expiry, time: Date): Promise<void> {
  const { column, oldest } = expiry(settings, time);
  await db.deleteFrom('sessions').where(column, '<', oldest).execute();
}

/** Sessions on the page, at most; ending all others ends those that are not shown, too. */
const MAX_SHOWN = 100;

export type SessionRow = Awaited<ReturnType<typeof selectSessions>>[number];

/** The user's sessions that have not expired, the one used last first. */
export function selectSessions(db: Db, userId: number, settings: Expiry, time: Date) {
  const { column, oldest } = expiry(settings, time);
  return db
    .selectFrom('sessions')
    .select(['id', 'address', 'user_agent', 'created_at', 'last_used_at'])
    .where('user_id', '=', userId)
    .where(column, '>=', oldest)
    .orderBy('last_used_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MAX_SHOWN)
    .execute();
}

/** Ends one session, if it is the user's. */
export async function endOwnSession(db: Db, userId: number, id: number): Promise<void> {
  await db.deleteFrom('sessions').where('user_id', '=', userId).where('id', '=', id).execute();
}

/** Ends all of the user's sessions but the one of the cookie. */
export async function endOtherSessions(db: Db, userId: number, token: string): Promise<void> {
  await db
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .where('digest', '<>', digest(token))
    .execute();
}
