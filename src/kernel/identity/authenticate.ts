/** One credential → Actor, then sudo. Read from the database each time, so revocation is immediate. */
import { now } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import { Failure, forbidden, unauthenticated } from '../../platform/failure.ts';
import { nameCaller } from '../../platform/fair-share.ts';
import { authenticate as mac, sameSecret } from '../../platform/secret.ts';
import { type Actor, type Caller, type TokenKind, toActor } from '../actor.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';
import { adminRights } from './admin-mode.ts';
import { findSudoUser, findToken, type TokenRow, type UserColumns } from './credential-queries.ts';
import type { PresentedCredential } from './credentials.ts';
import { readSession } from './sessions.ts';
import { recordTokenUse, revokeFamily } from './token-actions.ts';

/** Inputs of authentication. */
export type AuthenticationRequest = {
  credential: PresentedCredential;
  /** Whether the endpoint takes CI job tokens. */
  jobToken: boolean;
  /** Whether the endpoint rotates tokens: a second rotation of one token revokes its family. */
  rotatesToken?: boolean;
  safeMethod: boolean;
  csrfToken: string | undefined;
  /** The `sudo` parameter or header. */
  sudo: string | undefined;
  /** The header `X-Gitlab-Event-UUID`, which a receiver of webhooks passes on. */
  eventChain?: string | undefined;
};

export type Authenticator = {
  authenticate(request: AuthenticationRequest, settings: ApplicationSettings): Promise<Caller>;
  /** The token that a page puts into its forms for this session. */
  csrfToken(session: string): string;
};

const invalidToken = (description: string): Failure =>
  unauthenticated({ error: 'invalid_token', errorDescription: description });

/** Use is recorded at most this often, in milliseconds: not a write per request. */
const RECORD_USE_INTERVAL_MS = 600_000;

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

const refusals: Record<string, string> = {
  blocked: 'Your account has been blocked.',
  banned: 'Your account has been blocked.',
  deactivated:
    'Your account has been deactivated by your administrator. Please log back in to reactivate your account.',
  blocked_pending_approval: 'Your account is pending approval from your administrator and hence blocked.',
};

function refuseInactive(user: UserColumns): void {
  if (user.state === 'active') return;
  throw forbidden(refusals[user.state] ?? 'Your account has been blocked.');
}

/**
 * The user whose fair share pays for a token's requests: for a bot, the holder of its token, since each bot
 * is an account of its own. With sudo it is the sender of the request.
 */
const payerOf = ({ id, token_kind, created_by_id }: TokenRow): number =>
  token_kind === 'project' || token_kind === 'group' ? (created_by_id ?? id) : id;

/** Creates the authenticator of all credentials. `csrfKey` authenticates the forms of a session. */
export function createAuthenticator(
  { sql, points }: Pick<Database, 'sql' | 'points'>,
  csrfKey: Buffer,
): Authenticator {
  const csrfToken = (session: string): string => mac(csrfKey, session);

  async function byToken(
    token: string | Buffer,
    kinds: readonly TokenKind[],
    rotatesToken: boolean,
    settings: ApplicationSettings,
  ): Promise<Actor> {
    const row = await findToken(points, token);
    if (!row || !kinds.includes(row.token_kind)) throw unauthenticated();
    const time = now();
    if (row.revoked_at) {
      if (rotatesToken)
        await revokeFamily(sql, { id: row.token_id, kind: row.token_kind, family_id: row.family_id });
      throw invalidToken('Token was revoked. You have to re-authorize from the user.');
    }
    if (row.expires_at && row.expires_at <= time) {
      throw invalidToken('Token is expired. You can either do re-authorization or token refresh.');
    }
    if (row.token_kind === 'impersonation' && !settings.impersonation_enabled) {
      throw invalidToken('Token is an impersonation token but impersonation was disabled.');
    }
    if (row.token_kind === 'personal' && settings.disable_personal_access_tokens) throw unauthenticated();
    if (row.token_kind === 'job' && row.state !== 'active') throw unauthenticated();
    refuseInactive(row);
    nameCaller(`user:${payerOf(row)}`);
    if (!row.last_used_at || time.getTime() - row.last_used_at.getTime() > RECORD_USE_INTERVAL_MS) {
      await recordTokenUse(sql, { id: row.token_id, userId: row.id }, time);
    }
    const { token_id: tokenId, token_kind: kind, scopes } = row;
    if (kind !== 'job') {
      const rights = adminRights(row, settings, { via: 'token', scopes }, time);
      return toActor({ ...row, ...rights }, { via: 'token', tokenId, kind, scopes });
    }
    // What a job runs is written by many: an administrator's rights are not theirs.
    const rights = { ...row, admin: false, auditor: false };
    return toActor(rights, { via: 'job', tokenId, projectId: row.project_id ?? 0 });
  }

  /**
   * Undefined for an ended session, a write without its CSRF token, or a user past the grace period of
   * two-factor authentication: the page or the 401 follows.
   */
  async function bySession(
    token: string,
    request: AuthenticationRequest,
    settings: ApplicationSettings,
  ): Promise<Caller> {
    const { safeMethod, csrfToken: given } = request;
    if (!safeMethod && !(given && sameSecret(given, csrfToken(token)))) return undefined;
    const session = await readSession(sql, token, settings);
    if (session) nameCaller(`user:${session.actor.id}`);
    return session?.duty.kind === 'overdue' ? undefined : session?.actor;
  }

  async function runAs(actor: Caller, target: string, settings: ApplicationSettings): Promise<Actor> {
    if (!actor) throw unauthenticated();
    if (!actor.admin) throw forbidden('Must be admin to use sudo');
    if (actor.credential.via !== 'token') {
      throw forbidden('Must be authenticated using an OAuth or personal access token to use sudo');
    }
    if (!actor.credential.scopes.includes('sudo')) throw insufficientScope(['sudo']);
    const user = await findSudoUser(sql, target);
    if (!user) throw new Failure('not_found', `404 User with ID or username '${target}' Not Found`);
    refuseInactive(user);
    const rights = adminRights(user, settings, actor.credential, now());
    return {
      ...toActor({ ...user, ...rights }, actor.credential),
      sudoBy: { id: actor.id, username: actor.username },
    };
  }

  return {
    csrfToken,
    async authenticate(request, settings) {
      const { credential, rotatesToken = false } = request;
      let caller: Caller;
      if (credential.form === 'token')
        caller = await byToken(credential.token, credential.kinds, rotatesToken, settings);
      else if (credential.form === 'session') caller = await bySession(credential.token, request, settings);
      else if (credential.form === 'job_token') {
        // A job token is refused before its lookup where the endpoint does not allow it.
        if (!request.jobToken) throw unauthenticated();
        caller = await byToken(credential.token, ['job'], rotatesToken, settings);
      } else if (credential.form === 'deploy_token') throw unauthenticated();
      const actor = request.sudo === undefined ? caller : await runAs(caller, request.sudo, settings);
      const { eventChain } = request;
      return actor && eventChain !== undefined && UUID.test(eventChain) ? { ...actor, eventChain } : actor;
    },
  };
}

/** 403 `insufficient_scope`, naming the scopes of which one would do. */
export const insufficientScope = (scopes: readonly string[]): Failure =>
  new Failure('forbidden', '403 Forbidden', {
    error: 'insufficient_scope',
    errorDescription: 'The request requires higher privileges than provided by the access token.',
    scope: scopes.join(' '),
  });

/**
 * Throws unless the caller's token has one of the scopes; a session has them all. A job's token has none: it authenticates
 * only where an endpoint takes it.
 */
export function requireScope(caller: Caller, scopes: readonly string[]): void {
  if (caller?.credential.via !== 'token') return;
  const held = caller.credential.scopes;
  const sudo = caller.sudoBy !== undefined;
  if (scopes.some((scope) => held.includes(scope)) || sudo) return;
  throw insufficientScope(scopes);
}
