/** Signing in and out: password, second step, session. */
import { announce } from '../../../kernel/activity/announce-actions.ts';
import {
  type Account,
  giveBackAttempt,
  provePassword,
  recordFailure,
  selectAccount,
  takeAttempt,
  userEntity,
  type Way,
} from '../../../kernel/identity/passwords/login-actions.ts';
import { refusal } from '../../../kernel/identity/passwords/login-rules.ts';
import { endSession, openSession, type SessionOrigin } from '../../../kernel/identity/session-actions.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { challengedUser, isChallengeOf, makeChallenge } from './challenge.ts';
import { isSecondFactor } from './second-factor-actions.ts';

export type SignIn =
  | { kind: 'signed_in'; token: string }
  | { kind: 'second_step'; challenge: string; wrong: boolean }
  | { kind: 'refused'; text: string };

/** One text for all failures: it tells neither whether an account exists nor whether it is locked. */
const INVALID: SignIn = { kind: 'refused', text: 'Invalid login or password.' };

type Attempt = {
  services: Needs<'database' | 'secretKey'>;
  settings: ApplicationSettings;
  /** The client's, for the audit log and the list of sessions. */
  origin: SessionOrigin;
  /** The session that the browser has now; it ends when another begins. */
  oldToken: string | undefined;
};

/** The first step. Unknown and locked accounts cost the same work as a wrong password. */
export async function signInWithPassword(attempt: Attempt, login: string, password: string): Promise<SignIn> {
  const { services, settings } = attempt;
  const { db } = services.database;
  const proof = await provePassword(db, settings, { login, password, address: attempt.origin.address });
  if (!proof.right) return INVALID;
  const { account, refused: reason } = proof;
  if (reason === undefined && account.otp_enabled_at === null) return enter(attempt, account, 'standard');
  await giveBackAttempt(db, account.id);
  if (reason !== undefined) return { kind: 'refused', text: reason };
  return { kind: 'second_step', challenge: makeChallenge(services.secretKey, account, now()), wrong: false };
}

/** The second step: a code of the app, or a recovery code. Codes are counted as passwords are. */
export async function signInWithCode(attempt: Attempt, challenge: string, code: string): Promise<SignIn> {
  const { services, settings } = attempt;
  const { db } = services.database;
  const id = challengedUser(challenge);
  const account = id === undefined ? undefined : await selectAccount(db, id);
  if (!account?.otp_enabled_at || !isChallengeOf(services.secretKey, account, challenge, now())) {
    return { kind: 'refused', text: 'That took too long. Sign in again.' };
  }
  if (!(await takeAttempt(db, account.id, settings))) return INVALID;
  if (!(await isSecondFactor(db, services.secretKey, account, code))) {
    await recordFailure(db, account, 'two_factor', attempt.origin.address);
    return { kind: 'second_step', challenge, wrong: true };
  }
  const reason = refusal(account, settings, now());
  return reason === undefined ? enter(attempt, account, 'two_factor') : { kind: 'refused', text: reason };
}

/** Begins the session, unless the account was blocked or got another password or a second factor since it was read. */
async function enter(attempt: Attempt, account: Account, way: Way): Promise<SignIn> {
  const { services, origin, oldToken } = attempt;
  const time = now();
  return inTransaction(services.database.db, async (tx): Promise<SignIn> => {
    const entered = await tx
      .updateTable('users')
      .set((eb) => ({
        failed_attempts: 0,
        locked_at: null,
        state: 'active',
        last_sign_in_at: eb.fn.coalesce('current_sign_in_at', eb.val(time)),
        current_sign_in_at: time,
        last_activity_on: time.toISOString().slice(0, 10),
      }))
      .where('id', '=', account.id)
      .where('deletion', 'is', null)
      .where('state', 'in', ['active', 'deactivated'])
      .where('password_hash', '=', account.password_hash)
      .$if(way === 'standard', (entering) => entering.where('otp_enabled_at', 'is', null))
      .returning('id')
      .executeTakeFirst();
    if (!entered) return INVALID;
    if (oldToken !== undefined) await endSession(tx, oldToken);
    const token = await openSession(tx, account.id, origin);
    const entity = userEntity(account);
    if (account.state === 'deactivated') {
      await announce(tx, { author: account, audit: { entity, event: 'user_activated' } });
    }
    const event = `user_authenticated_with_${way}_authentication`;
    await announce(tx, {
      author: account,
      audit: { entity, event, details: { ip_address: origin.address } },
    });
    return { kind: 'signed_in', token };
  });
}

/** Ends a session for good. */
export const signOut = (db: Db, token: string): Promise<void> => endSession(db, token);
