/** /oauth/userinfo: the user of an access token (OpenID Connect Core, section 5.3). */
import type { Actor } from '../../../kernel/actor.ts';
import { Failure } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import type { Method, Route } from '../../../platform/http/server/server.ts';
import {
  OAuthError,
  type ProtocolContext,
  type ProtocolServices,
  protocolEndpoint,
  protocolReply,
} from '../protocol/endpoint.ts';
import { groupClaims, personClaims } from './claims.ts';
import { selectGroupPaths, selectPerson } from './queries.ts';

/** The one token of the request; 400 when it comes in two ways at once (RFC 6750, section 2). */
function presentedToken({ request, parameters }: ProtocolContext): string {
  const header = /^bearer\s+(\S+)\s*$/i.exec(request.headers.authorization?.toString() ?? '')?.[1];
  const parameter = parameters.get('access_token');
  if (header !== undefined && parameter !== undefined) {
    throw new OAuthError('invalid_request', { description: 'The access token comes in two ways at once.' });
  }
  const token = header ?? parameter;
  if (token === undefined) throw new OAuthError('invalid_token');
  return token;
}

/** The user of the token, authenticated as the API does: only an application's token, and 401 for every refusal. */
async function bearer(context: ProtocolContext): Promise<Actor> {
  const { services, settings } = context;
  const token = presentedToken(context);
  const request = { jobToken: false, safeMethod: true, csrfToken: undefined, sudo: undefined };
  try {
    const credential = { form: 'token', token, kinds: ['oauth'] } as const;
    const caller = await services.authenticator.authenticate({ ...request, credential }, settings);
    if (caller) return caller;
  } catch (error) {
    // Refusals of authentication: unknown, expired and revoked tokens, and users who may not sign in.
    if (!(error instanceof Failure && (error.kind === 'unauthenticated' || error.kind === 'forbidden')))
      throw error;
    const description = error.details.errorDescription;
    throw new OAuthError('invalid_token', description === undefined ? {} : { description });
  }
  throw new OAuthError('invalid_token');
}

async function userinfoResponse(context: ProtocolContext): Promise<HttpResponse> {
  const { services, settings } = context;
  const actor = await bearer(context);
  const scopes = actor.credential.via === 'token' ? actor.credential.scopes : [];
  if (!scopes.includes('openid')) throw new OAuthError('insufficient_scope', { status: 403 });
  const { sql, points } = services.database;
  const [person, paths] = await Promise.all([
    selectPerson(points, actor.id),
    selectGroupPaths(sql, actor.id),
  ]);
  if (!person) throw new OAuthError('invalid_token');
  const around = { baseUrl: services.baseUrl(), settings, secretKey: services.secretKey };
  return protocolReply({ ...personClaims(around, person, scopes), ...groupClaims(paths, person.groups) });
}

/** GET and POST, for pages of any origin. */
export const userinfoRoutes = (services: ProtocolServices): Route[] =>
  (['GET', 'POST'] satisfies Method[]).map((method) =>
    protocolEndpoint(services, {
      method,
      path: '/oauth/userinfo',
      crossOrigin: 'simple',
      handle: userinfoResponse,
    }),
  );
