/** A client's requests about a token: information, revocation, introspection (RFC 7009, 7662). */

import { revokeGrants } from '../../../kernel/identity/grant-actions.ts';
import { now } from '../../../platform/clock.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import type { Route } from '../../../platform/http/server/server.ts';
import { findClient, readClientCredentials, requireClient } from '../protocol/clients.ts';
import {
  OAuthError,
  type Parameters,
  type ProtocolContext,
  type ProtocolServices,
  protocolEndpoint,
  protocolReply,
} from '../protocol/endpoint.ts';
import type { Client } from '../protocol/queries.ts';
import { type StoredAccess, selectAccess, selectRefreshGrant } from './queries.ts';

/** Blocking or deleting a user revokes their grants, so the user need not be read. */
const isLive = (token: StoredAccess, time: Date): boolean =>
  token.revoked_at === null && token.expires_at > time;

const seconds = (time: Date): number => Math.floor(time.getTime() / 1_000);

/** The token of the header or the parameter, as the API takes it (spec: Authentication, 3). */
export function bearerToken(request: HttpRequest, parameters: Parameters): string | undefined {
  const header = /^bearer\s+(\S+)\s*$/i.exec(request.headers.authorization?.toString() ?? '')?.[1];
  return header ?? parameters.get('access_token');
}

/** The reason to refuse a token that exists, in the API's words. */
function describe(token: StoredAccess): string {
  if (token.revoked_at !== null) return 'Token was revoked. You have to re-authorize from the user.';
  return 'Token is expired. You can either do re-authorization or token refresh.';
}

const infoRoute = (services: ProtocolServices): Route =>
  protocolEndpoint(services, {
    method: 'GET',
    path: '/oauth/token/info',
    crossOrigin: 'simple',
    async handle({ request, parameters }) {
      const value = bearerToken(request, parameters);
      const token = value === undefined ? undefined : await selectAccess(services.database.points, value);
      const time = now();
      // 400 where the API says 401: clients of this endpoint are used to that (facts: OAuth 2.0 / OIDC).
      if (!token) throw new OAuthError('invalid_request', { description: 'The access token is invalid.' });
      if (!isLive(token, time)) throw new OAuthError('invalid_request', { description: describe(token) });
      const expires_in = seconds(token.expires_at) - seconds(time);
      return protocolReply({
        resource_owner_id: token.user_id,
        scope: token.scopes,
        expires_in,
        application: { uid: token.client_uid },
        created_at: seconds(token.created_at),
        scopes: token.scopes,
        expires_in_seconds: expires_in,
      });
    },
  });

/** Whether the client may revoke or introspect the token: its own, or one without an application. */
const isOwn = (client: Client, applicationId: number | null): boolean =>
  applicationId === null || applicationId === client.id;

/** 200 and an empty object whether or not there was such a token (RFC 7009, section 2.2). */
const revokeRoute = (services: ProtocolServices): Route =>
  protocolEndpoint(services, {
    method: 'POST',
    path: '/oauth/revoke',
    crossOrigin: 'simple',
    async handle(context) {
      const { db, parameters } = context;
      const client = await proveForRevocation(context);
      const value = parameters.require('token');
      const { points } = services.database;
      const token = (await selectAccess(points, value)) ?? (await selectRefreshGrant(points, value));
      if (token && isOwn(client, token.application_id)) {
        // The refresh token that belongs to a revoked access token would bring it back, so the grant ends with either.
        await inTransaction(db, (tx) => revokeGrants(tx, { grantId: token.grant_id }));
      }
      return protocolReply({});
    },
  });

/** The client, or 403 unauthorized_client as in the public API (facts: OAuth 2.0 / OIDC). */
async function proveForRevocation(context: ProtocolContext): Promise<Client> {
  const client = await findClient(context).catch((error: unknown) => {
    if (error instanceof OAuthError && error.code === 'invalid_client') return undefined;
    throw error;
  });
  if (client) return client;
  throw new OAuthError('unauthorized_client', {
    status: 403,
    description: 'You are not authorized to revoke this token',
  });
}

/** By its own client's credentials, or by another live access token of the same application (RFC 7662, section 2.1). */
const introspectRoute = (services: ProtocolServices): Route =>
  protocolEndpoint(services, {
    method: 'POST',
    path: '/oauth/introspect',
    async handle(context) {
      const { request, parameters } = context;
      const { points } = services.database;
      const time = now();
      const value = parameters.require('token');
      let asker: number | null;
      const bearer = /^bearer\s+(\S+)\s*$/i.exec(request.headers.authorization?.toString() ?? '')?.[1];
      if (bearer !== undefined && !readClientCredentials({}, parameters)) {
        const own = bearer === value ? undefined : await selectAccess(points, bearer);
        if (!own || own.application_id === null || !isLive(own, time)) throw new OAuthError('invalid_token');
        asker = own.application_id;
      } else {
        const client = await requireClient(context);
        if (!client.confidential) throw new OAuthError('invalid_client');
        asker = client.id;
      }
      const access = await selectAccess(points, value);
      if (access && isLive(access, time) && access.application_id === asker) {
        return protocolReply({
          active: true,
          scope: access.scopes.join(' '),
          client_id: access.client_uid,
          token_type: 'Bearer',
          exp: seconds(access.expires_at),
          iat: seconds(access.created_at),
          ...(access.user_id !== null && { sub: String(access.user_id) }),
        });
      }
      const refresh = access ? undefined : await selectRefreshGrant(points, value);
      if (refresh?.live && refresh.application_id === asker) {
        return protocolReply({
          active: true,
          scope: refresh.scopes.join(' '),
          client_id: refresh.client_uid,
        });
      }
      return protocolReply({ active: false });
    },
  });

/** The endpoints about tokens: information, revocation and introspection. */
export const tokenManagementRoutes = (services: ProtocolServices): Route[] => [
  infoRoute(services),
  revokeRoute(services),
  introspectRoute(services),
];
