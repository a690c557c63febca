/** Accounts by login, their passwords, and counted attempts: for all sign-ins with a password. */
import { sql } from 'kysely';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { checkPassword, hashPassword } from '../../../platform/secret.ts';
import { announce } from '../../activity/announce-actions.ts';
import type { ApplicationSettings } from '../../settings/definitions.ts';
import { passwordDisabledByGroup } from './enterprise-queries.ts';
import { isBlocked, PASSWORD_OFF, refusal } from './login-rules.ts';

const accountColumns = [
  'users.id',
  'users.username',
  'users.name',
  'users.state',
  'users.admin',
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
 * Counts an attempt before its check; false when the account is locked. Each guess is counted by this one
 * statement, so that concurrent guesses get no more attempts than sequential ones.
 */
export async function takeAttempt(db: Db, userId: number, settings: LockoutSettings): Promise<boolean> {
  const most = settings.max_login_attempts;
  if (most === 0) return true;
  const time = now();
  const openAgain = new Date(
    time.getTime() - settings.failed_login_attempts_unlock_period_in_minutes * 60_000,
  );
  // An expired lock restarts the count.
  const count = sql`(case when locked_at is null then failed_attempts else 0 end + 1)`;
  const { rows } = await sql`
    update users set failed_attempts = ${count},
      locked_at = case when ${count} >= ${most}::integer then ${time}::timestamptz end
    where id = ${userId} and (locked_at is null or locked_at <= ${openAgain}::timestamptz)
    returning id`.execute(db);
  return rows.length === 1;
}

/** Uncounts an attempt that was right, where the sign-in has another step. */
export async function giveBackAttempt(db: Db, userId: number): Promise<void> {
  await sql`update users set failed_attempts = greatest(failed_attempts - 1, 0), locked_at = null
    where id = ${userId} and failed_attempts > 0`.execute(db);
}

/** The sign-in: a password alone, or with a second factor. */
export type Way = 'standard' | 'two_factor';

/** The user in the audit log. */
export const userEntity = (user: { id: number; username: string }) =>
  ({ type: 'User', id: user.id, path: user.username }) as const;

/** Writes the audit event of a wrong password or code. */
export async function recordFailure(db: Db, account: Account, way: Way, address: string): Promise<void> {
  const event = `login_failed_with_${way}_authentication`;
  const audit = { entity: userEntity(account), event, details: { ip_address: address } };
  await announce(db, { author: account, audit, ...refusedFact(account) });
}

/** The fact that a blocked user tries to sign in, whatever the password. */
const refusedFact = ({ id, state }: Account) =>
  isBlocked(state) && { fact: { name: 'blocked_user_refused', payload: { user_id: id, state } } };

/** Commits an empty record, which takes as long as an event. */
async function writeNothing(db: Db): Promise<void> {
  await sql`select pg_logical_emit_message(true, '', '')`.execute(db);
}

/** Rehashes the password at the present strength; returns the stored hash. */
async function replaceHash(db: Db, account: Account, password: string): Promise<string | null> {
  const password_hash = await hashPassword(password);
  const replaced = await db
    .updateTable('users')
    .set({ password_hash })
    .where('id', '=', account.id)
    .where('password_hash', '=', account.password_hash)
    .returning('id')
    .executeTakeFirst();
  return replaced ? password_hash : account.password_hash;
}

/** Whether the instance or a group of the user requires two-factor authentication, set up or not. */
export async function mustHaveTwoFactor(
  db: Db,
  settings: Pick<ApplicationSettings, 'require_two_factor_authentication'>,
  userId: number,
): Promise<boolean> {
  if (settings.require_two_factor_authentication) return true;
  const { rows } = await sql`
    select from members m join namespaces joined on joined.id = m.namespace_id
      join namespaces above on above.id = any(joined.ancestor_ids)
    where m.user_id = ${userId} and above.settings @> '{"require_two_factor_authentication": true}' limit 1`.execute(
    db,
  );
  return rows.length > 0;
}

export type PasswordProof =
  | { right: false }
  /** `refused` is the reason that still refuses the account. */
  | { right: true; account: Account; refused: string | undefined };

/**
 * Counts an attempt and checks the password. Unknown and locked accounts cost the same work as a wrong
 * password. The attempt stays counted: a caller that goes on without signing in gives it back.
 */
export async function provePassword(
  db: Db,
  settings: ApplicationSettings,
  given: { login: string; password: string; address: string },
): Promise<PasswordProof> {
  const account = await selectLogin(db, given.login);
  // Counted while the hash is made, so that timing does not reveal whether the account exists.
  const [counted, { right, rehash }] = await Promise.all([
    account !== undefined && takeAttempt(db, account.id, settings),
    checkPassword(given.password, account?.password_hash),
  ]);
  if (!account) {
    await writeNothing(db);
    return { right: false };
  }
  if (!counted || !right) {
    await recordFailure(db, account, 'standard', given.address);
    return { right: false };
  }
  if (rehash) account.password_hash = await replaceHash(db, account, given.password);
  await announce(db, { ...refusedFact(account) });
  const off = await passwordDisabledByGroup(db, account.id);
  return { right: true, account, refused: off ? PASSWORD_OFF : refusal(account, settings, now()) };
}
