/** `GET /jwt/auth`: the tokens that programs bring to the registry (facts-packages: 2.2). */
import { identifyProgram } from '../../../kernel/access/program-visitor.ts';
import { admit } from '../../../kernel/api/gate.ts';
import type { Visitor } from '../../../kernel/identity/token-visitor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { Failure } from '../../../platform/failure.ts';
import { type HttpRequest, type HttpResponse, json } from '../../../platform/http/messages.ts';
import type { Route } from '../../../platform/http/server/server.ts';
import { MAX_SCOPES, parseScopes } from '../names/rules.ts';
import { RegistryError, refusalOf } from '../refusals/errors.ts';
import { grantsOf } from './grants.ts';
import { actionsOf, mayPullProxied, SERVICE, type TokenService, tokenServices } from './rules.ts';
import { type Holder, signRegistryToken } from './tokens.ts';

export type TokenServices = Needs<
  'database' | 'settings' | 'authenticator' | 'limiter' | 'disk' | 'secretKey'
>;

const kinds = ['personal', 'impersonation', 'project', 'group'] as const;

const holderOf = ({ caller, deployToken }: Visitor): Holder => {
  if (deployToken) return { key: `deploy_token:${deployToken.id}`, username: deployToken.username };
  return caller ? { key: `user:${caller.id}`, username: caller.username } : { key: '', username: '' };
};

function typeOf({ caller, deployToken }: Visitor): string {
  if (deployToken) return 'deploy_token';
  if (!caller) return 'none';
  const { credential } = caller;
  if (credential.via === 'job') return 'build';
  return credential.via === 'token' ? `${credential.kind}_access_token` : 'gitlab_or_ldap';
}

async function issue(
  services: TokenServices,
  settings: ApplicationSettings,
  visitor: Visitor,
  service: TokenService,
  query: URLSearchParams,
): Promise<HttpResponse> {
  const asked = query.getAll('scope');
  const scopes = parseScopes(asked);
  if (!scopes) throw new RegistryError('DENIED', `more than ${MAX_SCOPES} scopes`, { status: 400 });
  const isNobody = !visitor.caller && !visitor.deployToken;
  const isOfUse = actionsOf(visitor).length > 0 || mayPullProxied(visitor);
  if (!isOfUse || (isNobody && (asked.length === 0 || service !== SERVICE)))
    throw new RegistryError('DENIED', 'access forbidden');
  const grants = await grantsOf(services, visitor, service, scopes);
  const seconds = settings.container_registry_token_expire_delay * 60;
  const holder = holderOf(visitor);
  const { token, issuedAt } = await signRegistryToken(
    services,
    { holder, grants },
    { service, kind: typeOf(visitor), seconds },
  );
  const body = { token, access_token: token, expires_in: seconds, issued_at: issuedAt.toISOString() };
  return { ...json(200, body, { 'cache-control': 'no-store' }), actor: holder.username };
}

async function serve(services: TokenServices, request: HttpRequest): Promise<HttpResponse> {
  const settings = await services.settings.read();
  let visitor: Visitor = { caller: undefined };
  let wrong: unknown;
  visitor = await identifyProgram(services, settings, request, kinds).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    wrong = error;
    return visitor;
  });
  const account = visitor.caller?.id ?? visitor.deployToken?.id;
  const refused = await admit(services, request, settings, {
    kind: 'registry',
    account,
    wrong,
    writes: false,
  });
  if (refused) return refused;
  const query = new URLSearchParams(request.query);
  const service = tokenServices.find((name) => name === query.get('service'));
  if (!service) return { status: 404, headers: {}, body: '' };
  if (service !== SERVICE && !settings.dependency_proxy_enabled)
    throw new RegistryError('UNAVAILABLE', 'dependency proxy not enabled', { status: 404 });
  return issue(services, settings, visitor, service, query);
}

export const tokenServiceRoute = (services: TokenServices): Route => ({
  kind: 'registry',
  method: 'GET',
  path: '/jwt/auth',
  handle: (request) =>
    serve(services, request).catch((error: unknown) => {
      const refusal = refusalOf(error);
      if (refusal) return refusal;
      throw error;
    }),
});
