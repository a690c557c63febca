/** Authenticates git clients: by a token, a deploy token, or a password where those are taken (spec: OAuth 2.0 provider, 8). */
import { selectUser } from '../../../kernel/access/users.ts';
import { type Caller, toActor } from '../../../kernel/actor.ts';
import { requireScope } from '../../../kernel/identity/authenticate.ts';
import { type BasicCredential, readAuthorization } from '../../../kernel/identity/credentials.ts';
import {
  giveBackAttempt,
  mustHaveTwoFactor,
  provePassword,
} from '../../../kernel/identity/passwords/login-actions.ts';
import { JOB_USER, type Visitor, visitorOf } from '../../../kernel/identity/token-visitor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { Failure, forbidden } from '../../../platform/failure.ts';
import { nameCaller } from '../../../platform/fair-share.ts';
import type { Service } from '../../../platform/git/program/transport.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { addressKey } from '../../../platform/http/rate-limit.ts';

export type Purpose = 'read' | 'write';

/** The purpose of each service. */
export const purposes = { 'upload-pack': 'read', 'receive-pack': 'write' } as const satisfies Record<
  Service,
  Purpose
>;

const WRONG =
  'HTTP Basic: Access denied. The provided password or token is incorrect or your account has 2FA enabled and you must use a personal access token instead of a password.';
const wrong = (): Failure => new Failure('unauthenticated', WRONG);

const scopesFor = {
  read: ['read_repository', 'write_repository', 'api'],
  write: ['write_repository', 'api'],
} as const satisfies Record<Purpose, readonly string[]>;

/** The request's visitor; 401 for a wrong credential, 429 for too many guesses. */
export async function identify(
  services: Needs<'database' | 'authenticator' | 'limiter'>,
  settings: ApplicationSettings,
  request: HttpRequest,
): Promise<Visitor> {
  const presented = readAuthorization(request.headers.authorization?.toString());
  if (!presented) return { caller: undefined };
  const { username, password } = presented;
  // Neither is a guess; PostgreSQL refuses a zero byte, and no name has one.
  if (password === '' || username.includes('\0')) throw wrong();
  const visitor = await byToken(services, settings, presented);
  if (visitor) return visitor;
  return { caller: await byPassword(services, settings, presented, request.address) };
}

/** 403 for a credential that never allows this. */
export function requirePurpose({ caller, deployToken }: Visitor, purpose: Purpose): void {
  requireScope(caller, scopesFor[purpose]);
  const needed = purpose === 'read' ? 'read_repository' : 'write_repository';
  if (deployToken && !deployToken.scopes.includes(needed))
    throw forbidden(`the deploy token lacks the scope ${needed}`);
}

const gitTokenKinds = ['personal', 'impersonation', 'project', 'group', 'oauth'] as const;

/** By the token that the password is; undefined when it is none. A token that was one, and ended, is 401. */
function byToken(
  services: Needs<'authenticator' | 'database'>,
  settings: ApplicationSettings,
  { username, password }: BasicCredential,
): Promise<Visitor | undefined> {
  const kinds = username === JOB_USER ? ([...gitTokenKinds, 'job'] as const) : gitTokenKinds;
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
