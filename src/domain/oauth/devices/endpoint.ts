/** POST /oauth/authorize_device: a device requests codes, its own to poll with and one that it shows (RFC 8628, 3.1). */
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { addressKey } from '../../../platform/http/rate-limit.ts';
import type { Route } from '../../../platform/http/server/server.ts';
import { provesClient, readClientCredentials } from '../protocol/clients.ts';
import {
  missing,
  OAuthError,
  type ProtocolContext,
  type ProtocolServices,
  protocolEndpoint,
  protocolReply,
} from '../protocol/endpoint.ts';
import { type Client, selectClient } from '../protocol/queries.ts';
import { decideScopes } from '../protocol/scopes.ts';
import { DEVICE_PATH } from './pages.ts';
import { DEVICE_SECONDS, insertDevice, POLL_SECONDS } from './queries.ts';
import { showUserCode } from './user-code.ts';

/**
 * The application that asks. Its id is enough (facts: OAuth 2.0): a confidential one proves itself when it
 * polls, and nothing is given before. A secret that is sent must be right all the same. 401 invalid_client
 * otherwise.
 */
async function askingClient({ request, parameters, services }: ProtocolContext): Promise<Client> {
  const presented = readClientCredentials(request.headers, parameters);
  if (!presented) throw missing('client_id');
  const client = await selectClient(services.database.points, presented.uid);
  if (!client) throw new OAuthError('invalid_client');
  if (presented.secret !== undefined && !provesClient(client, presented.secret))
    throw new OAuthError('invalid_client');
  // Any program may register such a client; it is for authorization codes alone.
  if (client.dynamic) throw new OAuthError('unauthorized_client');
  return client;
}

/** Each leaves a row for an hour, and the id of an application is public. Many devices share an address. */
const LIMIT = { limit: 300, periodSeconds: 300 };

async function authorizeDevice(context: ProtocolContext): Promise<HttpResponse> {
  const { db, services, parameters, request } = context;
  const client = await askingClient(context);
  const key = `oauth_authorize_device:${addressKey(request.address)}`;
  if (!(await services.limiter.take(key, LIMIT)).allowed)
    throw new OAuthError('temporarily_unavailable', { status: 429 });
  const scopes = decideScopes(parameters.get('scope'), client.scopes);
  if (!scopes) throw new OAuthError('invalid_scope');
  const { deviceCode, userCode } = await insertDevice(db, { application_id: client.id, scopes });
  const page = `${services.baseUrl()}${DEVICE_PATH}`;
  const shown = showUserCode(userCode);
  return protocolReply({
    device_code: deviceCode,
    user_code: shown,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${shown}`,
    expires_in: DEVICE_SECONDS,
    interval: POLL_SECONDS,
  });
}

/** The endpoint for devices. */
export const deviceRoute = (services: ProtocolServices): Route =>
  protocolEndpoint(services, { method: 'POST', path: '/oauth/authorize_device', handle: authorizeDevice });
