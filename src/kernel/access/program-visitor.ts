/** Authenticates programs that send a name and a password: by a token, a deploy token, or a password where those are taken. */
import { Failure, forbidden } from '../../platform/failure.ts';
import { nameCaller } from '../../platform/fair-share.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import { addressKey } from '../../platform/http/rate-limit.ts';
import { type Caller, type TokenKind, toActor } from '../actor.ts';
import { type BasicCredential, readAuthorization } from '../identity/credentials.ts';
import { giveBackAttempt, mustHaveTwoFactor, provePassword } from '../identity/passwords/login-actions.ts';
import { JOB_USER, type Visitor, visitorOf } from '../identity/token-visitor.ts';
import type { Needs } from '../services.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';
import { selectUser } from './users.ts';

const WRONG =
  'HTTP Basic: Access denied. The provided password or token is incorrect or your account has 2FA enabled and you must use a personal access token instead of a password.';
const wrong = (): Failure => new Failure('unauthenticated', WRONG);

/** The request's visitor, by a token of these kinds, a job's or a deploy token, or by a password; 401 for a wrong credential, 429 for too many guesses. */
export async function identifyProgram(
  services: Needs<'database' | 'authenticator' | 'limiter'>,
  settings: ApplicationSettings,
  request: Pick<HttpRequest, 'headers' | 'address'>,
  kinds: readonly Exclude<TokenKind, 'job'>[],
): Promise<Visitor> {
  const presented = readAuthorization(request.headers.authorization?.toString());
  if (!presented) return { caller: undefined };
  const { username, password } = presented;
  // Neither is a guess; PostgreSQL refuses a zero byte, and no name has one.
  if (password === '' || username.includes('\0')) throw wrong();
  // git and programs for images know of no admin mode: an administrator's rights count (facts: Container registry).
  const visitor = await byToken(services, { ...settings, admin_mode: false }, presented, kinds);
  if (visitor) return visitor;
  return { caller: await byPassword(services, settings, presented, request.address) };
}

/** By the token that the password is; undefined when it is none. A token that was one, and ended, is 401. */
function byToken(
  services: Needs<'authenticator' | 'database'>,
  settings: ApplicationSettings,
  { username, password }: BasicCredential,
  given: readonly TokenKind[],
): Promise<Visitor | undefined> {
  const kinds: readonly TokenKind[] = username === JOB_USER ? [...given, 'job'] : given;
  return visitorOf(services, settings, { username, token: password }, kinds).catch((error: unknown) => {
    throw error instanceof Failure && error.kind === 'unauthenticated' ? wrong() : error;
  });
}

/**
 * Guesses of one address, over all accounts, against that of the sign-in page: one clone proves its password up to four
 * times, and a whole office may have one address.
 */
const GUESSES_PER_SIGN_IN = 10;

async function limitGuesses(
  services: Needs<'limiter'>,
  settings: ApplicationSettings,
  address: string,
): Promise<void> {
  const { throttle_protected_paths_enabled: enabled } = settings;
  const limit = settings.throttle_protected_paths_requests_per_period * GUESSES_PER_SIGN_IN;
  const periodSeconds = settings.throttle_protected_paths_period_in_seconds;
  if (!enabled || limit === 0 || periodSeconds === 0) return;
  const taken = await services.limiter.take(`git_password:${addressKey(address)}`, { limit, periodSeconds });
  if (taken.allowed) return;
  throw new Failure('too_many_requests', settings.rate_limiting_response_text || 'Retry later', {
    headers: { 'retry-after': String(taken.retryAfter) },
  });
}

/**
 * The account whose password it is; none with a second factor, or that must have one, since a password alone
 * is not enough.
 */
async function byPassword(
  services: Needs<'database' | 'limiter'>,
  settings: ApplicationSettings,
  { username, password }: BasicCredential,
  address: string,
): Promise<Caller> {
  if (!settings.password_authentication_enabled_for_git || username === '') throw wrong();
  await limitGuesses(services, settings, address);
  const { db, points } = services.database;
  const proof = await provePassword(db, settings, { login: username, password, address });
  if (!proof.right) throw wrong();
  const { account } = proof;
  await giveBackAttempt(db, account.id);
  if (account.otp_enabled_at !== null || (await mustHaveTwoFactor(db, settings, account.id))) throw wrong();
  if (proof.refused !== undefined || account.state !== 'active')
    throw forbidden(proof.refused ?? 'Your account is not active.');
  const user = await selectUser(points, account.id);
  if (!user) throw wrong();
  nameCaller(`user:${account.id}`);
  // Only people have passwords.
  return toActor({ ...user.row, kind: 'human' }, { via: 'password' });
}
