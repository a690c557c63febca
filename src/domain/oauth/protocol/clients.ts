/** The client of a request: its application, and whether it is proved (RFC 6749, section 2.3). */
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { isDigestOf } from '../../../platform/secret.ts';
import { OAuthError, type Parameters, type ProtocolContext } from './endpoint.ts';
import { type Client, selectClient } from './queries.ts';

export type ClientCredentials = { uid: string; secret: string | undefined };

/** A value of the Basic header: form-encoded by the standard; one that is not so is taken as it is. */
function decodeCredential(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

function basicCredentials(header: string | undefined): ClientCredentials | undefined {
  const encoded = /^basic\s+(\S+)$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  if (colon < 0) throw new OAuthError('invalid_client');
  const secret = decodeCredential(decoded.slice(colon + 1));
  return { uid: decodeCredential(decoded.slice(0, colon)), secret: secret === '' ? undefined : secret };
}

/** The client's credentials, from header or parameters; undefined when there are none. 400 when both have some. */
export function readClientCredentials(
  headers: HttpRequest['headers'],
  parameters: Parameters,
): ClientCredentials | undefined {
  const basic = basicCredentials(headers.authorization?.toString());
  const uid = parameters.get('client_id');
  const secret = parameters.get('client_secret');
  if (!basic) return uid === undefined ? undefined : { uid, secret };
  if ((uid !== undefined && uid !== basic.uid) || (secret !== undefined && secret !== basic.secret)) {
    throw new OAuthError('invalid_request', { description: 'The client authenticates in two ways at once.' });
  }
  return basic;
}

/** Whether these credentials prove the client: the secret, or for a public client that has none to keep, nothing. */
export function provesClient(client: Client, secret: string | undefined): boolean {
  if (secret === undefined) return !client.confidential;
  return client.secret_digest !== null && isDigestOf(secret, client.secret_digest);
}

/** The client of the request's credentials, when it is this one, and proved; undefined when the request names another. */
export function proveClient(context: ProtocolContext, client: Client): Client | undefined {
  const presented = readClientCredentials(context.request.headers, context.parameters);
  if (presented?.uid !== client.uid) return undefined;
  if (!provesClient(client, presented.secret)) throw new OAuthError('invalid_client');
  return client;
}

/** The client that the request comes from, proved; undefined when it names none. 401 invalid_client otherwise. */
export async function findClient(context: ProtocolContext): Promise<Client | undefined> {
  const { request, parameters, services } = context;
  const presented = readClientCredentials(request.headers, parameters);
  if (!presented) return undefined;
  const client = await selectClient(services.database.points, presented.uid);
  if (!client || !provesClient(client, presented.secret)) throw new OAuthError('invalid_client');
  return client;
}

/** The same, where there must be one. */
export async function requireClient(context: ProtocolContext): Promise<Client> {
  const client = await findClient(context);
  if (!client) throw new OAuthError('invalid_client');
  return client;
}
