/** Statements of signing in: the account that a login names, and the counting of attempts. */
import { sql } from 'kysely';
import type { ApplicationSettings } from '../../core/settings/definitions.ts';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';

const accountColumns = [
  'users.id',
  'users.username',
  'users.name',
  'users.state',
  'users.password_hash',
  'users.confirmed_at',
  'users.created_at',
  'users.otp_enabled_at',
  'users.otp_secret_sealed',
  'users.otp_last_step',
] as const;

const selectPeople = (db: Db) =>
  db.selectFrom('users').select(accountColumns).where('kind', '=', 'human').where('deletion', 'is', null);

export type Account = NonNullable<Awaited<ReturnType<typeof selectAccount>>>;

/** The account with the id, or undefined: bots and users who are being deleted have none. */
export const selectAccount = (db: Db, id: number) =>
  selectPeople(db).where('users.id', '=', id).executeTakeFirst();

/** The account of a username, or of a mail address that is its primary or a confirmed one; undefined without one. */
export function selectLogin(db: Db, login: string): Promise<Account | undefined> {
  const name = login.trim().toLowerCase();
  // No username has an @.
  if (!name.includes('@')) {
    return selectPeople(db)
      .where(sql<boolean>`lower(users.username) collate "C" = ${name}`)
      .executeTakeFirst();
  }
  return selectPeople(db)
    .innerJoin('emails', 'emails.user_id', 'users.id')
    .where(sql<boolean>`lower(emails.email) collate "C" = ${name}`)
    .where((eb) =>
      eb.or([eb('emails.confirmed_at', 'is not', null), eb('emails.email', '=', eb.ref('users.email'))]),
    )
    .executeTakeFirst();
}

type LockoutSettings = Pick<
  ApplicationSettings,
  'max_login_attempts' | 'failed_login_attempts_unlock_period_in_minutes'
>;

/**
 * Counts an attempt before it is looked at; false when the account is locked. Each guess takes its number in the one
 * statement, so that guesses sent at once are no more than guesses sent one by one.
 */
export async function takeAttempt(db: Db, userId: number, settings: LockoutSettings): Promise<boolean> {
  const most = settings.max_login_attempts;
  if (most === 0) return true;
  const time = now();
  const openAgain = new Date(
    time.getTime() - settings.failed_login_attempts_unlock_period_in_minutes * 60_000,
  );
  // A lock that has run out starts the count anew.
  const count = sql`(case when locked_at is null then failed_attempts else 0 end + 1)`;
  const { rows } = await sql`
    update users set failed_attempts = ${count},
      locked_at = case when ${count} >= ${most}::integer then ${time}::timestamptz end
    where id = ${userId} and (locked_at is null or locked_at <= ${openAgain}::timestamptz)
    returning id`.execute(db);
  return rows.length === 1;
}

/** Takes back an attempt that was no failure, where the sign-in goes on with another step. */
export async function giveBackAttempt(db: Db, userId: number): Promise<void> {
  await sql`update users set failed_attempts = greatest(failed_attempts - 1, 0), locked_at = null
    where id = ${userId} and failed_attempts > 0`.execute(db);
}

/** Deletes the sessions that have run out. */
export async function forgetSessions(
  db: Db,
  settings: Pick<ApplicationSettings, 'session_expire_delay' | 'session_expire_from_init'>,
  time: Date,
): Promise<void> {
  const oldest = new Date(time.getTime() - settings.session_expire_delay * 60_000);
  const from = settings.session_expire_from_init ? 'created_at' : 'last_used_at';
  await db.deleteFrom('sessions').where(from, '<', oldest).execute();
}
