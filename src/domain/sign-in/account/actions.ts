/** Users' changes to their own sign-in: the password, and two-factor authentication. */
import { sql } from 'kysely';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { revokeGrants } from '../../../kernel/identity/grant-actions.ts';
import {
  type Account,
  giveBackAttempt,
  selectAccount,
  takeAttempt,
  userEntity,
} from '../../../kernel/identity/passwords/login-actions.ts';
import { noReset } from '../../../kernel/identity/passwords/reset-actions.ts';
import {
  endAccess,
  endSessions,
  openSession,
  recordAdminMode,
  type SessionOrigin,
} from '../../../kernel/identity/session-actions.ts';
import { matchingStep } from '../../../kernel/identity/two-factor/totp.ts';
import { noTwoFactor } from '../../../kernel/identity/two-factor/two-factor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { checkPassword, hashPassword, seal, unseal } from '../../../platform/secret.ts';
import { type Problem, problem } from '../forms/problems.ts';
import { newPasswordProblems } from '../mailed-links/reset-actions.ts';
import { keyOf, keyText, newRecoveryCodes, recoveryDigest } from '../sessions/second-factor.ts';
import { isSecondFactor } from '../sessions/second-factor-actions.ts';

/** Either the problems, or the result. */
export type Changed<T> = { problems: readonly Problem[] } | { done: T };

const refused = (text: string, ...fields: string[]): { problems: readonly Problem[] } => ({
  problems: problem(text, ...fields),
});

const TOO_MANY = 'Too many failed attempts. Try again later.';
const STALE = 'Your account was changed meanwhile. Reload the page and try again.';

type Own = {
  services: Needs<'database' | 'secretKey'>;
  settings: ApplicationSettings;
  actor: Actor;
  origin: SessionOrigin;
};

/** The account, once its owner proved their identity again; the proof is counted like a sign-in. */
async function confirmOwner(
  own: Own,
  isProved: (db: Db, account: Account) => Promise<boolean>,
  wrong: { text: string; field: string },
): Promise<Changed<Account>> {
  const { db } = own.services.database;
  const account = await selectAccount(db, own.actor.id);
  if (!account) return refused(STALE);
  if (!(await takeAttempt(db, account.id, own.settings))) return refused(TOO_MANY);
  if (!(await isProved(db, account))) return refused(wrong.text, wrong.field);
  await giveBackAttempt(db, account.id);
  return { done: account };
}

const WRONG_PASSWORD = { text: 'The current password is wrong.', field: 'current_password' };

const byPassword = (password: string) => async (_db: Db, account: Account) =>
  (await checkPassword(password, account.password_hash)).right;

/** Sets another password. Every session and every grant to an application ends; the result is the token of a new one. */
export async function changePassword(
  own: Own,
  input: { current: string; password: string; confirmation: string },
): Promise<Changed<string>> {
  const problems = newPasswordProblems(input, own.settings);
  if (problems.length > 0) return { problems };
  const confirmed = await confirmOwner(own, byPassword(input.current), WRONG_PASSWORD);
  if ('problems' in confirmed) return confirmed;
  const account = confirmed.done;
  const password_hash = await hashPassword(input.password);
  return inTransaction(own.services.database.db, async (tx): Promise<Changed<string>> => {
    const changed = await tx
      .updateTable('users')
      .set({ password_hash, password_changed_at: now(), ...noReset, updated_at: now() })
      .where('id', '=', account.id)
      .where('password_hash', '=', account.password_hash)
      .returning('id')
      .executeTakeFirst();
    if (!changed) return refused(STALE);
    await endAccess(tx, account.id);
    const audit = { entity: userEntity(account), event: 'user_password_updated' };
    await announce(tx, { author: own.actor, audit });
    return { done: await openSession(tx, account.id, own.origin) };
  });
}

/** Minutes that a new key in a form is valid for its first code. */
const SETUP_MINUTES = 60;

/** A new key as the form carries it: sealed, for one user and an hour, so that no key is stored before it is proved. */
export const sealSetup = (secretKey: string, userId: number, key: Buffer, time: Date): string =>
  seal(secretKey, JSON.stringify([userId, time.getTime() + SETUP_MINUTES * 60_000, keyText(key)]));

/** The key of a form; undefined when it is another user's, too old, or was not sealed here. */
export function openSetup(secretKey: string, userId: number, sealed: string, time: Date): Buffer | undefined {
  try {
    const [id, expires, key] = JSON.parse(unseal(secretKey, sealed));
    return id === userId && expires > time.getTime() ? keyOf(key) : undefined;
  } catch {
    return undefined;
  }
}

/** Turns two-factor authentication on; returns the recovery codes, which are shown this once, and a new session's token. */
export async function enableTwoFactor(
  own: Own,
  input: { key: Buffer; code: string; password: string },
): Promise<Changed<{ codes: readonly string[]; token: string }>> {
  const step = matchingStep(input.key, input.code, now(), null);
  if (step === undefined)
    return refused('That is not the present code of this key. Enter the one the app shows now.', 'code');
  const confirmed = await confirmOwner(own, byPassword(input.password), WRONG_PASSWORD);
  if ('problems' in confirmed) return confirmed;
  const account = confirmed.done;
  const codes = newRecoveryCodes();
  const { services, actor } = own;
  return inTransaction(services.database.db, async (tx) => {
    const enabled = await tx
      .updateTable('users')
      .set({
        otp_secret_sealed: seal(services.secretKey, keyText(input.key)),
        otp_enabled_at: now(),
        otp_last_step: step,
        // Spelled out: the driver takes an array of buffers for one.
        otp_recovery_digests: sql<Buffer[]>`array[${sql.join(codes.map(recoveryDigest))}]::bytea[]`,
        updated_at: now(),
      })
      .where('id', '=', account.id)
      .where('otp_enabled_at', 'is', null)
      .returning('id')
      .executeTakeFirst();
    if (!enabled) return refused(STALE);
    // Other sessions and grants by password began without the second factor.
    await endSessions(tx, account.id);
    await revokeGrants(tx, { passwordOf: account.id });
    await announce(tx, {
      author: actor,
      audit: { entity: userEntity(account), event: 'user_enable_two_factor' },
    });
    return { done: { codes, token: await openSession(tx, account.id, own.origin) } };
  });
}

/** Turns two-factor authentication off, with a code of the app or a recovery code. */
export async function disableTwoFactor(own: Own, code: string): Promise<Changed<true>> {
  const { services, actor } = own;
  const isProved = (db: Db, account: Account) => isSecondFactor(db, services.secretKey, account, code);
  const confirmed = await confirmOwner(own, isProved, {
    text: 'That code is not right, or was used before.',
    field: 'code',
  });
  if ('problems' in confirmed) return confirmed;
  const account = confirmed.done;
  await inTransaction(services.database.db, async (tx) => {
    await ahead(tx)
      .updateTable('users')
      .set({ ...noTwoFactor, updated_at: now() })
      .where('id', '=', account.id)
      .execute();
    await announce(tx, {
      author: actor,
      audit: { entity: userEntity(account), event: 'user_disable_two_factor' },
    });
  });
  return { done: true };
}

/**
 * Has the session enter admin mode for some hours, by the password and, where two-factor authentication is on, a code. A session that
 * somebody else holds is not enough.
 */
export async function enterAdminMode(
  own: Own,
  session: { id: number; twoFactor: boolean },
  input: { password: string; code: string },
): Promise<Changed<true>> {
  const { services, actor } = own;
  const isRight = byPassword(input.password);
  const isProved = async (db: Db, account: Account) =>
    (await isRight(db, account)) &&
    (!session.twoFactor || (await isSecondFactor(db, services.secretKey, account, input.code)));
  const wrong = session.twoFactor
    ? { text: 'The current password or the code is wrong.', field: 'current_password' }
    : WRONG_PASSWORD;
  const confirmed = await confirmOwner(own, isProved, wrong);
  if ('problems' in confirmed) return confirmed;
  await inTransaction(services.database.db, async (tx) => {
    await recordAdminMode(tx, session.id, now());
    await announce(tx, {
      author: actor,
      audit: { entity: userEntity(confirmed.done), event: 'user_enter_admin_mode' },
    });
  });
  return { done: true };
}

/** Has the session leave it. */
export const leaveAdminMode = (own: Own, sessionId: number): Promise<void> =>
  inTransaction(own.services.database.db, (tx) => recordAdminMode(tx, sessionId, null));
