/** POST /oauth/token: every grant type, from the presented credentials to the token. */

import { throttle } from '../../../kernel/api/gate.ts';
import { revokeReplayed } from '../../../kernel/identity/grant-actions.ts';
import {
  giveBackAttempt,
  mustHaveTwoFactor,
  provePassword,
} from '../../../kernel/identity/passwords/login-actions.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { addressKey } from '../../../platform/http/rate-limit.ts';
import type { Route } from '../../../platform/http/server/server.ts';
import { markPoll, redeemDevice, selectDevice } from '../devices/queries.ts';
import {
  ACCESS_SECONDS,
  type GrantKind,
  type Issued,
  insertGrant,
  issueTokens,
  redeemCode,
  selectCode,
  selectRefresh,
} from '../grants/actions.ts';
import { renewTokens } from '../grants/renewal-actions.ts';
import { judgeCode, judgeDevice, judgeRefresh, narrowScopes, type Verdict } from '../grants/rules.ts';
import { signIdentity } from '../identity/token.ts';
import { findClient, proveClient, requireClient } from '../protocol/clients.ts';
import { OAuthError, type ProtocolContext, protocolEndpoint, protocolReply } from '../protocol/endpoint.ts';
import type { Client } from '../protocol/queries.ts';
import { scopeRefusal } from '../protocol/scope-rules.ts';
import { clientlessScopes, decideScopes } from '../protocol/scopes.ts';
import { lockSignedIn } from './queries.ts';

/** The grant, for the response: `client` is undefined for the password grant without a client. */
type Granted = {
  kind: GrantKind;
  client: Client | undefined;
  userId: number | null;
  scopes: readonly string[];
  nonce?: string | null;
  authenticatedAt?: Date | null;
};

/** The token response (spec: OAuth token responses). */
async function tokenResponse(
  services: Needs<'database' | 'settings' | 'secretKey' | 'baseUrl'>,
  granted: Granted,
  issued: Issued,
): Promise<HttpResponse> {
  const { client, userId, scopes } = granted;
  const identified = client && userId !== null && scopes.includes('openid');
  return protocolReply({
    access_token: issued.accessToken,
    token_type: granted.kind === 'device_code' ? 'Bearer' : 'bearer',
    expires_in: ACCESS_SECONDS,
    refresh_token: issued.refreshToken,
    scope: scopes.join(' '),
    created_at: Math.floor(issued.createdAt.getTime() / 1_000),
    ...(identified && {
      id_token: await signIdentity(services, {
        clientUid: client.uid,
        userId,
        scopes,
        nonce: granted.nonce ?? null,
        authenticatedAt: granted.authenticatedAt ?? null,
        accessToken: issued.accessToken,
        person: issued.person ?? null,
      }),
    }),
  });
}

/** Throws the verdict's refusal; a replay ends all that the grant gave first. */
async function obey(db: Db, verdict: Verdict, grantId: number | undefined): Promise<void> {
  if (verdict === 'good') return;
  if (verdict.replayed && grantId !== undefined) await inTransaction(db, (tx) => revokeReplayed(tx, grantId));
  throw verdict.refused;
}

async function byCode(context: ProtocolContext): Promise<HttpResponse> {
  const { db, services, parameters } = context;
  const client = await requireClient(context);
  const stored = await selectCode(services.database.points, parameters.require('code'));
  const presented = {
    clientId: client.id,
    redirectUri: parameters.get('redirect_uri'),
    verifier: parameters.get('code_verifier'),
  };
  await obey(db, judgeCode(stored, presented, now()), stored?.id);
  if (!stored) throw new OAuthError('invalid_grant');
  const { id, user_id, scopes, nonce } = stored;
  const issued = await inTransaction(db, async (tx) => {
    if (!(await redeemCode(tx, id))) return undefined;
    return issueTokens(tx, { id, user_id, scopes, name: client.name, renewable: true });
  });
  if (!issued) {
    // Sent twice at once: neither of the two can be told to be the client.
    await inTransaction(db, (tx) => revokeReplayed(tx, id));
    throw new OAuthError('invalid_grant');
  }
  const authenticatedAt = stored.authenticated_at;
  const granted: Granted = {
    kind: 'authorization_code',
    client,
    userId: user_id,
    scopes,
    nonce,
    authenticatedAt,
  };
  return tokenResponse(services, granted, issued);
}

async function byRefresh(context: ProtocolContext): Promise<HttpResponse> {
  const { db, services, parameters } = context;
  const { points, sql } = services.database;
  const stored = await selectRefresh(points, parameters.require('refresh_token'));
  const own = stored?.client ? proveClient(context, stored.client) : undefined;
  const client = own ?? (await findClient(context));
  const presented = {
    clientId: client?.id ?? null,
    redirectUri: parameters.get('redirect_uri'),
    verifier: parameters.get('code_verifier'),
    arrivedAt: context.arrivedAt,
  };
  if (!client && stored?.application_id !== null) throw new OAuthError('invalid_client');
  await obey(db, judgeRefresh(stored, presented), stored?.grant_id);
  if (!stored) throw new OAuthError('invalid_grant');
  const scopes = narrowScopes(parameters.get('scope'), stored.scopes);
  if (!scopes) throw new OAuthError('invalid_scope');
  const issued = await renewTokens(sql, stored, scopes);
  if (!issued) throw new OAuthError('invalid_grant');
  const granted: Granted = {
    kind: 'authorization_code',
    client,
    userId: stored.user_id,
    scopes,
    authenticatedAt: stored.authenticated_at,
  };
  return tokenResponse(services, granted, issued);
}

/** For the resource owner's own first-party programs (spec: OAuth 2.0 provider, 6). */
async function byPassword(context: ProtocolContext): Promise<HttpResponse> {
  const { db, services, settings, request, parameters } = context;
  const key = addressKey(request.address);
  const refused = await throttle(services, request, settings, 'throttle_protected_paths', key);
  if (refused) return refused;
  const client = await findClient(context);
  if (!client && !settings.ropc_without_client_credentials) throw new OAuthError('invalid_client');
  const given = { login: parameters.require('username'), password: parameters.require('password') };
  const scopes = decideScopes(parameters.get('scope'), client?.scopes ?? clientlessScopes);
  if (!scopes) throw new OAuthError('invalid_scope');
  if (!settings.password_authentication_enabled_for_git) throw new OAuthError('invalid_grant');
  const proof = await provePassword(db, settings, { ...given, address: request.address });
  if (!proof.right) throw new OAuthError('invalid_grant');
  const { account } = proof;
  await giveBackAttempt(db, account.id);
  // This grant has no way to require a second factor (spec: OAuth 2.0 provider, 6).
  const second = account.otp_enabled_at !== null || (await mustHaveTwoFactor(db, settings, account.id));
  if (proof.refused !== undefined || account.state !== 'active' || second)
    throw new OAuthError('invalid_grant');
  const who = { admin: account.admin, trusted: client?.trusted ?? false };
  if (scopeRefusal(scopes, who, settings) !== undefined) throw new OAuthError('invalid_scope');
  const authenticated_at = now();
  const issued = await inTransaction(db, async (tx) => {
    // An account that was blocked, or got another password or a second factor meanwhile, gets no grant.
    const still = await lockSignedIn(tx, account);
    if (!still) throw new OAuthError('invalid_grant');
    const application_id = client?.id ?? null;
    const grant = {
      kind: 'password',
      application_id,
      user_id: account.id,
      scopes,
      authenticated_at,
    } as const;
    const id = await insertGrant(tx, grant);
    const name = client?.name ?? 'password';
    return issueTokens(tx, { id, user_id: account.id, scopes, name, renewable: true });
  });
  const granted: Granted = {
    kind: 'password',
    client,
    userId: account.id,
    scopes,
    authenticatedAt: authenticated_at,
  };
  return tokenResponse(services, granted, issued);
}

async function byDevice(context: ProtocolContext): Promise<HttpResponse> {
  const { db, services, parameters } = context;
  const client = await requireClient(context);
  const device = await selectDevice(services.database.points, parameters.require('device_code'));
  if (device?.application_id === client.id && !(await markPoll(db, device.id)))
    throw new OAuthError('slow_down');
  await obey(db, judgeDevice(device, client.id, now()), undefined);
  if (!device || device.user_id === null) throw new OAuthError('invalid_grant');
  const { user_id, scopes, authenticated_at } = device;
  const issued = await inTransaction(db, async (tx) => {
    if (!(await redeemDevice(tx, device.id))) throw new OAuthError('invalid_grant');
    const grant = {
      kind: 'device_code',
      application_id: client.id,
      user_id,
      scopes,
      authenticated_at,
    } as const;
    const id = await insertGrant(tx, grant);
    return issueTokens(tx, { id, user_id, scopes, name: client.name, renewable: true });
  });
  const granted: Granted = {
    kind: 'device_code',
    client,
    userId: user_id,
    scopes,
    authenticatedAt: authenticated_at,
  };
  return tokenResponse(services, granted, issued);
}

/** A token of the application itself: it has no user, and so is of no use at the API. */
async function byClientCredentials(context: ProtocolContext): Promise<HttpResponse> {
  const { db, services, parameters } = context;
  const client = await requireClient(context);
  if (!client.confidential) throw new OAuthError('unauthorized_client');
  const scopes = decideScopes(parameters.get('scope'), client.scopes);
  if (!scopes) throw new OAuthError('invalid_scope');
  const issued = await inTransaction(db, async (tx) => {
    const grant = { kind: 'client_credentials', application_id: client.id, user_id: null, scopes } as const;
    const id = await insertGrant(tx, grant);
    return issueTokens(tx, { id, user_id: null, scopes, name: client.name, renewable: false });
  });
  return tokenResponse(services, { kind: 'client_credentials', client, userId: null, scopes }, issued);
}

export const grantTypes: Record<string, (context: ProtocolContext) => Promise<HttpResponse>> = {
  authorization_code: byCode,
  refresh_token: byRefresh,
  password: byPassword,
  client_credentials: byClientCredentials,
  'urn:ietf:params:oauth:grant-type:device_code': byDevice,
};

export const tokenRoute = (
  services: Needs<
    | 'config'
    | 'database'
    | 'settings'
    | 'features'
    | 'authenticator'
    | 'limiter'
    | 'disk'
    | 'secretKey'
    | 'baseUrl'
    | 'wake'
  >,
): Route =>
  protocolEndpoint(services, {
    method: 'POST',
    path: '/oauth/token',
    crossOrigin: 'simple',
    handle: (context) => {
      const type = context.parameters.require('grant_type');
      const grant = Object.hasOwn(grantTypes, type) ? grantTypes[type] : undefined;
      if (!grant) throw new OAuthError('unsupported_grant_type');
      return grant(context);
    },
  });
