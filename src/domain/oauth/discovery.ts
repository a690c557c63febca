/** Discovery for clients: addresses, supported features, and the keys (RFC 8414, OpenID Connect). */
import type { Needs } from '../../kernel/services.ts';
import type { Route } from '../../platform/http/server/server.ts';
import type { Schedule, Tasks } from '../../platform/jobs/jobs.ts';
import { claimNames } from './identity/claims.ts';
import { dropRetiredKeys, publishedKeys, SIGNING_ALGORITHM } from './identity/signing-key-actions.ts';
import { userinfoRoutes } from './identity/userinfo.ts';
import {
  type ProtocolContext,
  type ProtocolServices,
  protocolEndpoint,
  protocolReply,
} from './protocol/endpoint.ts';
import { applicationScopes } from './protocol/scopes.ts';
import { grantTypes } from './tokens/endpoint.ts';

/** The server's description of itself. Both well-known documents are this one, so that they never differ. */
async function describeServer({ services }: ProtocolContext) {
  const issuer = services.baseUrl();
  const registration = await services.features.isOn('oauth_dynamic_client_registration');
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    introspection_endpoint: `${issuer}/oauth/introspect`,
    userinfo_endpoint: `${issuer}/oauth/userinfo`,
    jwks_uri: `${issuer}/oauth/discovery/keys`,
    device_authorization_endpoint: `${issuer}/oauth/authorize_device`,
    ...(registration && { registration_endpoint: `${issuer}/oauth/register` }),
    scopes_supported: applicationScopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: Object.keys(grantTypes),
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    code_challenge_methods_supported: ['S256'],
    ...(services.config.oauthResponseIss && { authorization_response_iss_parameter_supported: true }),
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [SIGNING_ALGORITHM],
    claim_types_supported: ['normal'],
    claims_supported: claimNames,
    // Absent members have defaults in the standard, or leave clients to guess.
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}

/** Leads from an address of a user to this server (RFC 7033): it is the issuer for all of them. */
const webfinger = async ({ services, parameters }: ProtocolContext) => ({
  subject: parameters.require('resource'),
  links: [{ rel: 'http://openid.net/specs/connect/1.0/issuer', href: services.baseUrl() }],
});

const documents: Record<string, (context: ProtocolContext) => Promise<unknown>> = {
  '/.well-known/openid-configuration': describeServer,
  '/.well-known/oauth-authorization-server': describeServer,
  '/.well-known/webfinger': webfinger,
  '/oauth/discovery/keys': async ({ services }) => ({ keys: await publishedKeys(services) }),
};

/** Discovery, keys and userinfo: how a client learns a token's user. */
export const identityRoutes = (services: ProtocolServices): Route[] => [
  ...Object.entries(documents).map(([path, document]) =>
    protocolEndpoint(services, {
      method: 'GET',
      path,
      crossOrigin: 'simple',
      handle: async (context) => protocolReply(await document(context)),
    }),
  ),
  ...userinfoRoutes(services),
];

const DROP_KEYS = 'oauth.drop_retired_keys';

/** Deletes keys, a day after they were retired. */
export const identityTasks = (services: Needs<'database'>): Tasks => ({
  [DROP_KEYS]: async () => {
    await dropRetiredKeys(services.database.background);
  },
});
export const identitySchedules: readonly Schedule[] = [{ task: DROP_KEYS, pattern: '41 * * * *' }];
