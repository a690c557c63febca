/** oauth4webapi, step by step and with every check that it has: plain HTTP alone is allowed, on loopback. */
import * as oauth from 'oauth4webapi';
import { describe, expect, test } from 'vitest';
import { type Application, CALLBACK, register, statusOf, useProvider } from './applications.ts';

const journey = useProvider({ ASHLAR_OAUTH_RESPONSE_ISS: 'on' });
const SCOPE = 'openid profile email read_user';
const MAX_AGE = 3_600;
const insecure = { [oauth.allowInsecureRequests]: true } as const;

type Party = { as: oauth.AuthorizationServer; client: oauth.Client; auth: oauth.ClientAuth };

const ways = {
  client_secret_basic: ({ secret }: Application) => oauth.ClientSecretBasic(secret),
  client_secret_post: ({ secret }: Application) => oauth.ClientSecretPost(secret),
  none: () => oauth.None(),
};
type Way = keyof typeof ways;
const secretly = ['client_secret_basic', 'client_secret_post'] as const satisfies Way[];

async function discover(algorithm: 'oidc' | 'oauth2'): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(journey.program.url);
  const response = await oauth.discoveryRequest(issuer, { algorithm, ...insecure });
  return oauth.processDiscoveryResponse(issuer, response);
}

async function connect(way: Way, algorithm: 'oidc' | 'oauth2' = 'oidc'): Promise<Party> {
  const application = await register(journey.program, `oauth4webapi ${way}`, {
    confidential: way !== 'none',
  });
  // The strictest request of a client: signed by this algorithm, and with the time of the sign-in.
  const client = {
    client_id: application.id,
    default_max_age: MAX_AGE,
    require_auth_time: true,
    id_token_signed_response_alg: 'RS256',
  };
  return { as: await discover(algorithm), client, auth: ways[way](application) };
}

/** The response of the authorization endpoint, checked: state, issuer and errors. */
async function authorize({ as, client }: Party, decision: 'approve' | 'deny' = 'approve') {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const nonce = oauth.generateRandomNonce();
  const authorization = new URL(as.authorization_endpoint ?? '');
  authorization.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: SCOPE,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    max_age: String(MAX_AGE),
  }).toString();
  const answered = await journey.person.decide(authorization, decision);
  return { parameters: oauth.validateAuthResponse(as, client, answered, state), verifier, nonce };
}

async function redeem({ as, client, auth }: Party, authorized: Awaited<ReturnType<typeof authorize>>) {
  const { parameters, verifier, nonce } = authorized;
  const response = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    auth,
    parameters,
    CALLBACK,
    verifier,
    insecure,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, response, {
    expectedNonce: nonce,
    maxAge: MAX_AGE,
    requireIdToken: true,
  });
  await oauth.validateApplicationLevelSignature(as, response, insecure);
  return { ...tokens, subject: oauth.getValidatedIdTokenClaims(tokens)?.sub ?? '' };
}

async function refresh({ as, client, auth }: Party, token: string | undefined) {
  const response = await oauth.refreshTokenGrantRequest(as, client, auth, token ?? '', insecure);
  return oauth.processRefreshTokenResponse(as, client, response);
}

async function introspect({ as, client, auth }: Party, token: string | undefined) {
  const response = await oauth.introspectionRequest(as, client, auth, token ?? '', insecure);
  return oauth.processIntrospectionResponse(as, client, response);
}

/** The refusal in the words of the protocol; throws when there was none, or the client made it up. */
async function refusal(request: Promise<unknown>): Promise<string> {
  const error = await request.then(
    (response) => new Error(`not refused: ${JSON.stringify(response)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof oauth.ResponseBodyError || error instanceof oauth.AuthorizationResponseError) {
    return error.error;
  }
  // By the header that goes with 401; the standard asks for the same words there.
  if (error instanceof oauth.WWWAuthenticateChallengeError) return error.cause[0]?.parameters.error ?? '';
  throw error;
}

test('the server describes itself as one, by the rules of both standards', async () => {
  const described = await discover('oidc');
  expect(await discover('oauth2')).toEqual(described);
  expect(described).toMatchObject({
    issuer: journey.program.url,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    id_token_signing_alg_values_supported: ['RS256'],
    subject_types_supported: ['public'],
  });
});

describe.each(['oidc', 'oauth2'] as const)('discovered by the rules of %s', (algorithm) => {
  test.each([...secretly, 'none'] as const)(
    'with %s: sign-in, userinfo, refresh, revocation',
    async (way) => {
      const party = await connect(way, algorithm);
      const { as, client, auth } = party;
      const authorized = await authorize(party);
      const tokens = await redeem(party, authorized);
      expect(tokens).toMatchObject({ expires_in: 7_200, scope: SCOPE, token_type: 'bearer' });

      const requested = await oauth.userInfoRequest(as, client, tokens.access_token, insecure);
      const person = await oauth.processUserInfoResponse(as, client, tokens.subject, requested);
      expect(person).toMatchObject({ sub: tokens.subject, preferred_username: 'root' });

      const renewed = await refresh(party, tokens.refresh_token);
      const claims = oauth.getValidatedIdTokenClaims(renewed);
      expect(claims).toMatchObject({ sub: tokens.subject, auth_time: expect.any(Number) });
      expect(await statusOf(journey.program, tokens.access_token)).toBe(401);
      expect(await statusOf(journey.program, renewed.access_token)).toBe(200);

      // A refresh token that comes twice ends the family.
      expect(await refusal(refresh(party, tokens.refresh_token))).toBe('invalid_grant');
      expect(await statusOf(journey.program, renewed.access_token)).toBe(401);

      const again = await redeem(party, await authorize(party));
      const revoked = await oauth.revocationRequest(as, client, auth, again.access_token, insecure);
      expect(await oauth.processRevocationResponse(revoked)).toBeUndefined();
      expect(await statusOf(journey.program, again.access_token)).toBe(401);
      expect(await refusal(redeem(party, authorized))).toBe('invalid_grant');
    },
  );
});

test.each([...secretly, 'none'] as const)('with %s: a device', async (way) => {
  const party = await connect(way, 'oauth2');
  const { as, client, auth } = party;
  const start = async () => {
    const requested = await oauth.deviceAuthorizationRequest(as, client, auth, { scope: SCOPE }, insecure);
    return oauth.processDeviceAuthorizationResponse(as, client, requested);
  };
  const poll = async (code: string) => {
    const response = await oauth.deviceCodeGrantRequest(as, client, auth, code, insecure);
    return oauth.processDeviceCodeResponse(as, client, response);
  };
  const device = await start();
  expect(device).toMatchObject({
    verification_uri: `${journey.program.url}/oauth/device`,
    verification_uri_complete: `${journey.program.url}/oauth/device?user_code=${device.user_code}`,
  });
  expect(await refusal(poll(device.device_code))).toBe('authorization_pending');
  expect(await refusal(poll(device.device_code))).toBe('slow_down');
  await journey.person.decideDevice(device.user_code, 'approve');
  const tokens = await poll(device.device_code);
  expect(oauth.getValidatedIdTokenClaims(tokens)).toMatchObject({ auth_time: expect.any(Number) });
  expect(await statusOf(journey.program, tokens.access_token)).toBe(200);
  expect(await refusal(poll(device.device_code))).toBe('invalid_grant');

  const other = await start();
  await journey.person.decideDevice(other.user_code, 'deny');
  expect(await refusal(poll(other.device_code))).toBe('access_denied');
});

test.each(secretly)('with %s: introspection, and the application for itself', async (way) => {
  const party = await connect(way);
  const { as, client, auth } = party;
  const tokens = await redeem(party, await authorize(party));
  const known = { active: true, client_id: client.client_id, scope: SCOPE };
  expect(await introspect(party, tokens.access_token)).toMatchObject({ ...known, sub: tokens.subject });
  expect(await introspect(party, tokens.refresh_token)).toMatchObject(known);
  expect(await introspect(party, 'no-such-token')).toEqual({ active: false });

  const response = await oauth.clientCredentialsGrantRequest(
    as,
    client,
    auth,
    { scope: 'read_user' },
    insecure,
  );
  const own = await oauth.processClientCredentialsResponse(as, client, response);
  expect(own).toMatchObject({ scope: 'read_user', expires_in: 7_200 });
  expect(await introspect(party, own.access_token)).toMatchObject({ active: true, scope: 'read_user' });
  // It has no user, and is no use at the API.
  expect(await statusOf(journey.program, own.access_token)).toBe(401);
});

test('a denial arrives with the issuer and the state, and is told from a forged one', async () => {
  const party = await connect('none');
  expect(await refusal(authorize(party, 'deny'))).toBe('access_denied');
});

test('userinfo refuses what it must by the header of the standard', async () => {
  const { as, client } = await connect('none');
  const response = await oauth.userInfoRequest(as, client, 'no-such-token', insecure);
  expect(response.status).toBe(401);
  expect(await refusal(oauth.processUserInfoResponse(as, client, 'root', response))).toBe('invalid_token');
});

test('a public client cannot introspect, and a client with a wrong secret can do nothing', async () => {
  const open = await connect('none');
  expect(await refusal(introspect(open, 'any'))).toBe('invalid_client');
  const party = { ...(await connect('client_secret_basic')), auth: oauth.ClientSecretBasic('wrong') };
  expect(await refusal(introspect(party, 'any'))).toBe('invalid_client');
  expect(await refusal(refresh(party, 'any'))).toBe('invalid_client');
  const { as, client, auth } = party;
  const revocation = await oauth.revocationRequest(as, client, auth, 'any', insecure);
  // The public API's own word (facts: OAuth 2.0 / OIDC), which the client takes as well.
  expect(await refusal(oauth.processRevocationResponse(revocation))).toBe('unauthorized_client');
});
