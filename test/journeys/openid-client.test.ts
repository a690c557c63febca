/** openid-client, with every check that it has: plain HTTP alone is allowed, and the program listens on loopback. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { describe, expect, test } from 'vitest';
import { type Application, CALLBACK, register, statusOf, useProvider } from './applications.ts';
import { ROOT_PASSWORD } from './support.ts';

const journey = useProvider();
const SCOPE = 'openid profile email read_user';

/** The client authentication methods. */
const ways = {
  client_secret_basic: {
    confidential: true,
    auth: ({ secret }: Application) => oidc.ClientSecretBasic(secret),
  },
  client_secret_post: {
    confidential: true,
    auth: ({ secret }: Application) => oidc.ClientSecretPost(secret),
  },
  none: { confidential: false, auth: () => oidc.None() },
};
type Way = keyof typeof ways;
const wayNames = ['client_secret_basic', 'client_secret_post', 'none'] as const satisfies Way[];

const execute = [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks];

/** A new application, and the client that has discovered the server for it. */
async function connect(way: Way, algorithm: 'oidc' | 'oauth2' = 'oidc'): Promise<oidc.Configuration> {
  const { confidential, auth } = ways[way];
  const application = await register(journey.program, `openid-client ${way}`, { confidential });
  const site = new URL(journey.program.url);
  return oidc.discovery(site, application.id, {}, auth(application), { execute, algorithm });
}

/** The authorization code flow with PKCE, state and nonce; `around` stands beside or in place of the parameters. */
async function authorize(config: oidc.Configuration, around: Record<string, string> = {}) {
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
  const expectedState = oidc.randomState();
  const expectedNonce = oidc.randomNonce();
  const authorization = oidc.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: SCOPE,
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    nonce: expectedNonce,
    ...around,
  });
  return { authorization, checks: { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true } };
}

async function signIn(config: oidc.Configuration) {
  const { authorization, checks } = await authorize(config, { max_age: '3600' });
  const answered = await journey.person.decide(authorization, 'approve');
  expect(answered.searchParams.has('iss')).toBe(false);
  return oidc.authorizationCodeGrant(config, answered, { ...checks, maxAge: 3_600 });
}

/** The code of the refusal, in the words of the protocol; throws when there was none, or the client made it up. */
async function refusal(request: Promise<unknown>): Promise<string> {
  const error = await request.then(
    (response) => new Error(`not refused: ${JSON.stringify(response)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof oidc.ResponseBodyError || error instanceof oidc.AuthorizationResponseError) {
    return error.error;
  }
  if (error instanceof oidc.WWWAuthenticateChallengeError) return error.cause[0]?.parameters.error ?? '';
  throw error;
}

const subjectOf = (tokens: { claims(): oidc.IDToken | undefined }): string => tokens.claims()?.sub ?? '';

test.each(['oidc', 'oauth2'] as const)('discovery by the rules of %s', async (algorithm) => {
  const config = await connect('client_secret_basic', algorithm);
  const metadata = config.serverMetadata();
  const at = (path: string) => `${journey.program.url}${path}`;
  expect(metadata).toMatchObject({
    issuer: journey.program.url,
    authorization_endpoint: at('/oauth/authorize'),
    token_endpoint: at('/oauth/token'),
    userinfo_endpoint: at('/oauth/userinfo'),
    revocation_endpoint: at('/oauth/revoke'),
    introspection_endpoint: at('/oauth/introspect'),
    device_authorization_endpoint: at('/oauth/authorize_device'),
    jwks_uri: at('/oauth/discovery/keys'),
  });
  expect(metadata.authorization_response_iss_parameter_supported).toBeUndefined();
  expect(metadata.supportsPKCE()).toBe(true);
  expect(metadata.registration_endpoint).toBeUndefined();
});

describe.each(wayNames)('a client that authenticates by %s', (way) => {
  test('signs somebody in, reads who it is, refreshes and revokes', async () => {
    const config = await connect(way);
    const tokens = await signIn(config);
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 7_200, scope: SCOPE });
    expect(tokens.claims()).toMatchObject({
      iss: journey.program.url,
      aud: config.clientMetadata().client_id,
    });

    // The same once more, by another library and by hand.
    const keys = createRemoteJWKSet(new URL(config.serverMetadata().jwks_uri ?? ''));
    const { payload, protectedHeader } = await jwtVerify(tokens.id_token ?? '', keys, {
      issuer: journey.program.url,
      audience: config.clientMetadata().client_id,
      algorithms: ['RS256'],
      requiredClaims: ['exp', 'iat', 'auth_time', 'nonce', 'at_hash'],
    });
    expect(protectedHeader).toMatchObject({ alg: 'RS256', kid: expect.any(String) });
    const hash = createHash('sha256').update(tokens.access_token).digest().subarray(0, 16);
    expect(payload.at_hash).toBe(hash.toString('base64url'));

    const person = await oidc.fetchUserInfo(config, tokens.access_token, subjectOf(tokens));
    expect(person).toMatchObject({ preferred_username: 'root', email: expect.stringContaining('@') });
    await expect(oidc.fetchUserInfo(config, tokens.access_token, 'somebody else')).rejects.toThrow();
    const user = new URL('/api/v4/user', journey.program.url);
    const response = await oidc.fetchProtectedResource(config, tokens.access_token, user, 'GET');
    expect(await response.json()).toMatchObject({ username: 'root', id: Number(subjectOf(tokens)) });

    const renewed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(subjectOf(renewed)).toBe(subjectOf(tokens));
    expect(renewed).toMatchObject({ scope: SCOPE, refresh_token: expect.any(String) });
    expect(await statusOf(journey.program, tokens.access_token)).toBe(401);
    expect(await statusOf(journey.program, renewed.access_token)).toBe(200);

    const narrowed = await oidc.refreshTokenGrant(config, renewed.refresh_token ?? '', {
      scope: 'read_user',
    });
    expect(narrowed.scope).toBe('read_user');
    expect(narrowed.id_token).toBeUndefined();
    expect(await refusal(oidc.fetchUserInfo(config, narrowed.access_token, subjectOf(tokens)))).toBe(
      'insufficient_scope',
    );

    expect(await oidc.tokenRevocation(config, narrowed.refresh_token ?? '')).toBeUndefined();
    expect(await statusOf(journey.program, narrowed.access_token)).toBe(401);
    expect(await refusal(oidc.refreshTokenGrant(config, narrowed.refresh_token ?? ''))).toBe('invalid_grant');
    // For an unknown token, the server says that it is revoked.
    await oidc.tokenRevocation(config, 'no-such-token', { token_type_hint: 'refresh_token' });
  });

  test('is told when the user denies, and when it repeats a code', async () => {
    const config = await connect(way);
    const denied = await authorize(config);
    const refused = await journey.person.decide(denied.authorization, 'deny');
    expect(await refusal(oidc.authorizationCodeGrant(config, refused, denied.checks))).toBe('access_denied');

    const { authorization, checks } = await authorize(config);
    const answered = await journey.person.decide(authorization, 'approve');
    const tokens = await oidc.authorizationCodeGrant(config, answered, checks);
    expect(await refusal(oidc.authorizationCodeGrant(config, answered, checks))).toBe('invalid_grant');
    expect(await statusOf(journey.program, tokens.access_token)).toBe(401);
  });

  test('connects a device', async () => {
    const config = await connect(way);
    const device = await oidc.initiateDeviceAuthorization(config, { scope: SCOPE });
    expect(device).toMatchObject({ expires_in: 300, interval: 5 });
    const signal = AbortSignal.timeout(60_000);
    const polling = oidc.pollDeviceAuthorizationGrant(config, device, undefined, { signal });
    await journey.person.decideDevice(device.user_code, 'approve');
    const tokens = await polling;
    expect(tokens).toMatchObject({ scope: SCOPE, expires_in: 7_200 });
    expect(await oidc.fetchUserInfo(config, tokens.access_token, subjectOf(tokens))).toMatchObject({
      preferred_username: 'root',
    });
    const renewed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(subjectOf(renewed)).toBe(subjectOf(tokens));

    const other = await oidc.initiateDeviceAuthorization(config, { scope: SCOPE });
    const waiting = refusal(oidc.pollDeviceAuthorizationGrant(config, other, undefined, { signal }));
    await journey.person.decideDevice(other.user_code, 'deny');
    expect(await waiting).toBe('access_denied');
  });
});

test('a device that is polled too often slows down, and is connected all the same', async () => {
  const config = await connect('none');
  const device = await oidc.initiateDeviceAuthorization(config, { scope: SCOPE });
  const poll = () =>
    oidc.genericGrantRequest(config, 'urn:ietf:params:oauth:grant-type:device_code', {
      device_code: device.device_code,
    });
  expect(await refusal(poll())).toBe('authorization_pending');
  expect(await refusal(poll())).toBe('slow_down');
  // The client's own first poll comes too early by now. A user approves after its response.
  const told = new Promise<void>((resolve) => {
    config[oidc.customFetch] = async (url, options) => {
      const response = await fetch(url, options as RequestInit);
      const { error } = (await response.clone().json()) as { error?: string };
      if (error === 'slow_down') resolve();
      return response;
    };
  });
  const signal = AbortSignal.timeout(60_000);
  const polling = oidc.pollDeviceAuthorizationGrant(config, device, undefined, { signal });
  await told;
  await journey.person.decideDevice(device.user_code, 'approve');
  expect((await polling).scope).toBe(SCOPE);
});

test.each(['client_secret_basic', 'client_secret_post'] as const)(
  'tokens are introspected by a client that authenticates by %s',
  async (way) => {
    const config = await connect(way);
    const tokens = await signIn(config);
    const introspected = await oidc.tokenIntrospection(config, tokens.access_token);
    expect(introspected).toMatchObject({
      active: true,
      scope: SCOPE,
      client_id: config.clientMetadata().client_id,
      sub: subjectOf(tokens),
    });
    expect(Number(introspected.exp) - Number(introspected.iat)).toBe(7_200);
    expect(await oidc.tokenIntrospection(config, tokens.refresh_token ?? '')).toMatchObject({ active: true });
    // A client may not introspect another client's tokens.
    const other = await connect(way);
    expect(await oidc.tokenIntrospection(other, tokens.access_token)).toEqual({ active: false });
    await oidc.tokenRevocation(config, tokens.access_token);
    expect(await oidc.tokenIntrospection(config, tokens.access_token)).toEqual({ active: false });
  },
);

test('a client acts for itself with its credentials', async () => {
  const config = await connect('client_secret_basic');
  const tokens = await oidc.clientCredentialsGrant(config, { scope: 'read_user' });
  expect(tokens).toMatchObject({ scope: 'read_user', expires_in: 7_200 });
  expect(tokens.refresh_token).toBeUndefined();
});

test('a public client cannot go without PKCE, nor a verifier without its challenge', async () => {
  const config = await connect('none');
  const state = oidc.randomState();
  const parameters = { redirect_uri: CALLBACK, scope: SCOPE, state };
  const answered = await journey.person.decide(oidc.buildAuthorizationUrl(config, parameters), 'approve');
  expect(await refusal(oidc.authorizationCodeGrant(config, answered, { expectedState: state }))).toBe(
    'invalid_request',
  );

  const { authorization, checks } = await authorize(config);
  const other = await journey.person.decide(authorization, 'approve');
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
  const guess = oidc.authorizationCodeGrant(config, other, { ...checks, pkceCodeVerifier });
  expect(await refusal(guess)).toBe('invalid_grant');
});

test('a sign-in without a person answers at once, one way or the other', async () => {
  const config = await connect('client_secret_basic');
  const first = await authorize(config, { prompt: 'none' });
  const refused = await journey.person.decide(first.authorization, 'approve');
  expect(await refusal(oidc.authorizationCodeGrant(config, refused, first.checks))).toBe('consent_required');
  const tokens = await signIn(config);
  const second = await authorize(config, { prompt: 'none' });
  const answered = await journey.person.decide(second.authorization, 'approve');
  const silent = await oidc.authorizationCodeGrant(config, answered, second.checks);
  expect(subjectOf(silent)).toBe(subjectOf(tokens));
});

test('a person signs in anew where the client asks for it, and the client is told when', async () => {
  const config = await connect('client_secret_basic');
  const before = Number((await signIn(config)).claims()?.auth_time);
  await sleep(1_100);
  for (const requested of [{ prompt: 'login' }, { max_age: '0' }]) {
    const { authorization, checks } = await authorize(config, requested);
    const led = await journey.person.get(authorization.href);
    expect(led.location).toMatch(/^\/users\/sign_in\?reauthenticate=1&return_to=/);
    const form = { login: 'root', password: ROOT_PASSWORD };
    const signedIn = await journey.person.submit(led.location ?? '', form, '/users/sign_in');
    const back = new URL(signedIn.location ?? '', journey.program.url);
    expect(back.pathname).toBe('/oauth/authorize');
    const answered = await journey.person.decide(back, 'approve');
    const tokens = await oidc.authorizationCodeGrant(config, answered, { ...checks, maxAge: 0 });
    expect(Number(tokens.claims()?.auth_time)).toBeGreaterThan(before);
  }
});

test('what other servers understand, and this one need not, is in nobody’s way', async () => {
  const config = await connect('none');
  // Resource indicators (RFC 8707) and hints: clients send them without asking first.
  const resource = `${journey.program.url}/api`;
  const hints = { resource, login_hint: 'root', ui_locales: 'de en', display: 'page', acr_values: '1' };
  const { authorization, checks } = await authorize(config, hints);
  const answered = await journey.person.decide(authorization, 'approve');
  const tokens = await oidc.authorizationCodeGrant(config, answered, checks, {
    resource,
    audience: resource,
  });
  const renewed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '', { resource });
  expect(await statusOf(journey.program, renewed.access_token)).toBe(200);

  const { authorization: referring, checks: others } = await authorize(config, {
    request_uri: 'https://client.example.org/request',
  });
  const refused = await journey.person.decide(referring, 'approve');
  expect(await refusal(oidc.authorizationCodeGrant(config, refused, others))).toBe(
    'request_uri_not_supported',
  );
});

test('a wrong secret is refused in each way', async () => {
  const { id } = await register(journey.program, 'openid-client with a wrong secret');
  for (const auth of [oidc.ClientSecretBasic('wrong'), oidc.ClientSecretPost('wrong')]) {
    const config = await oidc.discovery(new URL(journey.program.url), id, {}, auth, { execute });
    expect(await refusal(oidc.clientCredentialsGrant(config))).toBe('invalid_client');
    expect(await refusal(oidc.refreshTokenGrant(config, 'x'))).toBe('invalid_client');
  }
});

test('a program registers itself, once its feature is on', async () => {
  const { url } = journey.program;
  const registration = () =>
    oidc.dynamicClientRegistration(
      new URL(url),
      { client_name: 'Self-made', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
      oidc.None(),
      { execute },
    );
  await expect(registration()).rejects.toThrow();
  const flag = await journey.program.root('POST /features/oauth_dynamic_client_registration', {
    value: true,
  });
  expect(flag.status).toBe(201);
  const config = await registration();
  expect(config.serverMetadata().registration_endpoint).toBe(`${url}/oauth/register`);
  // Without openid there is no identity token, and a nonce would have nowhere to come back.
  const { authorization, checks } = await authorize(config, { scope: 'mcp' });
  const { pkceCodeVerifier, expectedState } = checks;
  const answered = await journey.person.decide(authorization, 'approve');
  const tokens = await oidc.authorizationCodeGrant(config, answered, { pkceCodeVerifier, expectedState });
  expect(tokens.scope).toBe('mcp');
  expect(await statusOf(journey.program, tokens.access_token)).toBe(403);
});
