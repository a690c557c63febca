/**
 * protocolEndpoint() for the protocol, beside endpoint() for the API and page() for people: each parameter
 * once, failures as `{error, error_description}`, no caching (RFC 6749, sections 3.2 and 5.2).
 */
import { admit } from '../../../kernel/api/gate.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/failure.ts';
import { readBody, readBytes } from '../../../platform/http/bodies/body.ts';
import { type HttpRequest, type HttpResponse, json } from '../../../platform/http/messages.ts';
import { decodeUtf8, type RawValue } from '../../../platform/http/parameters/raw-parameters.ts';
import type { Method, Route } from '../../../platform/http/server/server.ts';

/** The standard codes (RFC 6749, 6750, 7591, 8628, OpenID Connect Core) with the text for clients. */
const descriptions = {
  invalid_request:
    'The request is missing a required parameter, includes an unsupported parameter value, or is otherwise malformed.',
  invalid_redirect_uri: "The requested redirect uri is malformed or doesn't match client redirect URI.",
  invalid_client:
    'Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.',
  invalid_grant:
    'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.',
  invalid_scope: 'The requested scope is invalid, unknown, or malformed.',
  invalid_token: 'The access token is invalid.',
  invalid_client_metadata: 'The client metadata is invalid.',
  unauthorized_client: 'The client is not authorized to perform this request using this method.',
  unsupported_grant_type: 'The authorization grant type is not supported by the authorization server.',
  unsupported_response_type: 'The authorization server does not support this response type.',
  access_denied: 'The resource owner or authorization server denied the request.',
  insufficient_scope: 'The request requires higher privileges than provided by the access token.',
  login_required: 'The user is not signed in.',
  consent_required: 'The user has not approved the application.',
  request_not_supported: 'Parameters are taken as they are, and not from a request object.',
  request_uri_not_supported: 'Parameters are taken as they are, and not from an address.',
  authorization_pending:
    'The authorization request is still pending as the user hasn’t yet completed the steps.',
  slow_down: 'The client is polling too often: wait five seconds longer between polls than before.',
  expired_token: 'The device code has expired. Start over with a new device authorization request.',
  temporarily_unavailable: 'The authorization server cannot handle the request now. Try again later.',
} as const;
export type OAuthErrorCode = keyof typeof descriptions;

/** A refusal in the words of the protocol. */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode;
  readonly status: number;
  constructor(code: OAuthErrorCode, options: { description?: string; status?: number } = {}) {
    super(options.description ?? descriptions[code]);
    this.code = code;
    this.status = options.status ?? (code === 'invalid_client' || code === 'invalid_token' ? 401 : 400);
  }
}

export const missing = (parameter: string): OAuthError =>
  new OAuthError('invalid_request', { description: `Missing required parameter: ${parameter}.` });

/** The parameters of the query and the body, each given once and not empty (RFC 6749, section 3.1). */
export type Parameters = {
  get(name: string): string | undefined;
  /** 400 invalid_request without it. */
  require(name: string): string;
};

const MAX_PARAMETER_LENGTH = 4_096;

function textOf(name: string, value: RawValue): string {
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  if (typeof text === 'string' && text.length <= MAX_PARAMETER_LENGTH && !text.includes('\0')) return text;
  throw new OAuthError('invalid_request', { description: `Invalid parameter: ${name}.` });
}

/**
 * Reads the parameters; 400 invalid_request when one comes twice, is too long or is no text. A `document`
 * takes none of its body.
 */
export async function readParameters(request: HttpRequest, isDocument = false): Promise<Parameters> {
  const given: [string, RawValue][] = [...new URLSearchParams(request.query)];
  const type = request.headers['content-type']?.toString().split(';')[0]?.trim().toLowerCase();
  if (!isDocument && type === 'application/x-www-form-urlencoded')
    given.push(...new URLSearchParams(decodeUtf8(await readBytes(request))));
  else if (!isDocument) given.push(...Object.entries(await readBody(request)));
  const values = new Map<string, string>();
  for (const [name, value] of given) {
    if (value === null || value === '') continue;
    if (values.has(name)) {
      throw new OAuthError('invalid_request', { description: `Repeated parameter: ${name.slice(0, 100)}.` });
    }
    values.set(name, textOf(name.slice(0, 100), value));
  }
  return {
    get: (name) => values.get(name),
    require(name) {
      const value = values.get(name);
      if (value === undefined) throw missing(name);
      return value;
    },
  };
}

export type ProtocolServices = Needs<
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
>;

export type ProtocolContext = {
  db: Db;
  services: Needs<
    'config' | 'database' | 'settings' | 'features' | 'authenticator' | 'limiter' | 'secretKey' | 'baseUrl'
  >;
  settings: ApplicationSettings;
  request: HttpRequest;
  parameters: Parameters;
  arrivedAt: Date;
};

type ProtocolSpec = {
  method: Method;
  path: string;
  /** Pages of other origins may call it, with simple headers and Authorization (spec: OAuth 2.0 provider, 10). */
  crossOrigin?: 'simple';
  /** The body is a document that the handler reads, and has no parameters. */
  document?: true;
  /** Returns the record that leaves, or a whole response. */
  handle(context: ProtocolContext): Promise<HttpResponse>;
};

const noStore = { 'cache-control': 'no-store', pragma: 'no-cache' };

/** 200 with a record that must not be cached. */
export const protocolReply = (value: unknown, status = 200): HttpResponse => json(status, value, noStore);

/** A refusal as a response; to an unknown client with the way to authenticate. */
export function refusal(error: OAuthError): HttpResponse {
  const { code, message, status } = error;
  const scheme = code === 'invalid_client' ? 'Basic' : 'Bearer';
  const challenge = `${scheme} realm="Ashlar", error="${code}", error_description="${message.replaceAll('"', "'")}"`;
  return {
    ...json(
      status,
      { error: code, error_description: message },
      {
        ...noStore,
        ...((status === 401 || code === 'insufficient_scope') && { 'www-authenticate': challenge }),
      },
    ),
    failure: code,
  };
}

/**
 * A failure of the program's own kinds, in the words of the protocol; undefined for failures that the server
 * renders itself.
 */
function translate(error: Failure): OAuthError | undefined {
  if (error.kind === 'unavailable') return new OAuthError('temporarily_unavailable', { status: 503 });
  if (error.kind === 'bad_request' || error.kind === 'unsupported_media_type')
    return new OAuthError('invalid_request');
  return undefined;
}

/** The route of an endpoint that programs call. */
export function protocolEndpoint(services: ProtocolServices, spec: ProtocolSpec): Route {
  const { database } = services;
  return {
    kind: 'protocol',
    method: spec.method,
    path: spec.path,
    ...(spec.crossOrigin && { crossOrigin: spec.crossOrigin }),
    async handle(request) {
      const arrivedAt = now();
      try {
        const reading = services.settings.read();
        const settings = reading instanceof Promise ? await reading : reading;
        const visit = { kind: 'protocol', writes: spec.method !== 'GET' } as const;
        const refused = await admit(services, request, settings, visit);
        if (refused) return refused;
        const parameters = await readParameters(request, spec.document);
        const response = await spec.handle({
          db: database.db,
          services,
          settings,
          request,
          parameters,
          arrivedAt,
        });
        if (spec.method !== 'GET') services.wake();
        return response;
      } catch (error) {
        const refusedAs = error instanceof Failure ? translate(error) : error;
        if (refusedAs instanceof OAuthError) return refusal(refusedAs);
        throw error;
      }
    },
  };
}
