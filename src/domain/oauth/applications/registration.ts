/** Dynamic client registration: programs that register themselves, as public clients with one scope (RFC 7591; facts §8). */
import type { Needs } from '../../../kernel/services.ts';
import { notFound } from '../../../platform/failure.ts';
import { readBody } from '../../../platform/http/bodies/body.ts';
import { type HttpRequest, type HttpResponse, json } from '../../../platform/http/messages.ts';
import type { RawObject } from '../../../platform/http/parameters/raw-parameters.ts';
import { addressKey } from '../../../platform/http/rate-limit.ts';
import type { Route } from '../../../platform/http/server/server.ts';
import { OAuthError, type ProtocolServices, protocolEndpoint, protocolReply } from '../protocol/endpoint.ts';
import { createDynamicApplication } from './actions.ts';
import { type ApplicationDraft, nameProblems, redirectUriProblems } from './rules.ts';

const SCOPE = 'mcp';
/** The client is not verified: the consent page shows the name with this. */
const MARK = '[Unverified Dynamic Application] ';
const NAME_LENGTH_LIMIT = 200;
const LIMIT = { limit: 5, periodSeconds: 3_600 } as const;

const wrong = (description: string): OAuthError => new OAuthError('invalid_client_metadata', { description });

/** The application for these metadata; 400 invalid_client_metadata when they are not valid. Pure. */
export function readMetadata(metadata: RawObject): ApplicationDraft {
  const { client_name, redirect_uris } = metadata;
  const name = typeof client_name === 'string' ? client_name.trim() : '';
  if (name === '') throw wrong('client_name is required');
  if (name.length >= NAME_LENGTH_LIMIT)
    throw wrong(`client_name must have less than ${NAME_LENGTH_LIMIT} characters`);
  const [unreadable] = nameProblems(name);
  if (unreadable !== undefined) throw wrong(`client_name ${unreadable}`);
  if (!Array.isArray(redirect_uris) || redirect_uris.length === 0) throw wrong('redirect_uris is required');
  const uris = redirect_uris.filter((uri) => typeof uri === 'string');
  if (uris.length < redirect_uris.length) throw wrong('redirect_uris must be a list of texts');
  // An administrator may know a network where plain HTTP will do; a program that registers itself does not.
  const [problem] = redirectUriProblems(uris, false);
  if (problem !== undefined) throw wrong(`redirect_uris ${problem}`);
  return { name: `${MARK}${name}`, redirect_uris: [...new Set(uris)], scopes: [SCOPE], confidential: false };
}

/** Counts an attempt from this address; a response when it is one too many (facts §8, Rate limits). */
async function limitAttempts(
  { limiter }: Needs<'limiter'>,
  request: HttpRequest,
): Promise<HttpResponse | undefined> {
  const taken = await limiter.take(`oauth_register:${addressKey(request.address)}`, LIMIT);
  if (taken.allowed) return undefined;
  const error = 'This endpoint has been requested too many times. Try again later.';
  return {
    ...json(429, { message: { error } }, { 'retry-after': String(taken.retryAfter) }),
    failure: 'too_many_requests',
  };
}

/** POST /oauth/register; 404 while its feature flag is off. */
export const registrationRoute = (services: ProtocolServices): Route =>
  protocolEndpoint(services, {
    method: 'POST',
    path: '/oauth/register',
    document: true,
    async handle({ db, request }) {
      if (!(await services.features.isOn('oauth_dynamic_client_registration'))) throw notFound();
      const refused = await limitAttempts(services, request);
      if (refused) return refused;
      const draft = readMetadata(await readBody(request));
      const row = await createDynamicApplication(db, draft);
      const client = {
        client_id: row.uid,
        client_id_issued_at: Math.floor(row.created_at.getTime() / 1_000),
        redirect_uris: row.redirect_uris,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code'],
        require_pkce: true,
        client_name: row.name,
        scope: SCOPE,
        dynamic: true,
      };
      return protocolReply(client, 201);
    },
  });
