/** The classic client, simple-oauth2, of many web applications, by header and by body, form and JSON. */
import { type AccessToken, AuthorizationCode, ClientCredentials, ResourceOwnerPassword } from 'simple-oauth2';
import { describe, expect, test } from 'vitest';
import { type Application, CALLBACK, register, statusOf, useProvider } from './applications.ts';
import { ROOT_PASSWORD } from './support.ts';

const journey = useProvider();

const settings = (application: Application, options: Record<string, string> = {}) => ({
  client: application,
  auth: {
    tokenHost: journey.program.url,
    tokenPath: '/oauth/token',
    revokePath: '/oauth/revoke',
  },
  options,
});

/** Its path of the authorization is `/oauth/authorize` by itself. */
const makeClient = async (options: Record<string, string>): Promise<AuthorizationCode> =>
  new AuthorizationCode(settings(await register(journey.program, 'classic'), options));

const accessOf = ({ token }: AccessToken): string => String(token.access_token);

/** The status and the error of a refusal; throws when there was none. */
async function refusal(request: Promise<unknown>): Promise<[status: unknown, error: unknown]> {
  const failure = await request.then(
    () => new Error('not refused'),
    (reason: unknown) => reason,
  );
  if (!(failure instanceof Error && 'output' in failure && 'data' in failure)) throw failure;
  const { output, data } = failure as unknown as {
    output: { statusCode: number };
    data: { payload: { error: string } };
  };
  return [output.statusCode, data.payload.error];
}

/** A user approves; the tokens. */
async function authorize(client: AuthorizationCode): Promise<AccessToken> {
  const state = 'a state & more';
  const url = client.authorizeURL({ redirect_uri: CALLBACK, scope: ['api', 'read_user'], state });
  const { searchParams } = await journey.person.decide(new URL(url), 'approve');
  expect(searchParams.get('state')).toBe(state);
  const code = searchParams.get('code') ?? '';
  const tokens = await client.getToken({ code, redirect_uri: CALLBACK });
  expect(await refusal(client.getToken({ code: 'guess', redirect_uri: CALLBACK }))).toEqual([
    400,
    'invalid_grant',
  ]);
  return tokens;
}

const manners = [
  { authorizationMethod: 'header', bodyFormat: 'form' },
  { authorizationMethod: 'header', bodyFormat: 'json' },
  { authorizationMethod: 'header', bodyFormat: 'form', credentialsEncodingMode: 'loose' },
  { authorizationMethod: 'body', bodyFormat: 'form' },
  { authorizationMethod: 'body', bodyFormat: 'json' },
];

describe.each(manners)('credentials in the $authorizationMethod, bodies as $bodyFormat', (manner) => {
  test('a code becomes a token, that is renewed and revoked', async () => {
    const client = await makeClient(manner);
    const tokens = await authorize(client);
    expect(tokens.token).toMatchObject({
      token_type: 'bearer',
      expires_in: 7_200,
      scope: 'api read_user',
      created_at: expect.any(Number),
      refresh_token: expect.any(String),
    });
    expect(tokens.expired()).toBe(false);
    expect(tokens.expired(7_200)).toBe(true);
    expect(await statusOf(journey.program, accessOf(tokens))).toBe(200);

    // As an application stores it between two runs.
    const kept = client.createToken(JSON.parse(JSON.stringify(tokens)));
    const renewed = await kept.refresh();
    expect(await statusOf(journey.program, accessOf(tokens))).toBe(401);
    expect(await statusOf(journey.program, accessOf(renewed))).toBe(200);
    const narrowed = await renewed.refresh({ scope: 'read_user' });
    expect(narrowed.token.scope).toBe('read_user');
    await narrowed.revokeAll();
    expect(await statusOf(journey.program, accessOf(narrowed))).toBe(401);
    expect(await refusal(narrowed.refresh())).toEqual([400, 'invalid_grant']);
  });

  test('one of the two tokens is revoked alone', async () => {
    const client = await makeClient(manner);
    const first = await authorize(client);
    await first.revoke('access_token');
    expect(await statusOf(journey.program, accessOf(first))).toBe(401);
    const second = await authorize(client);
    await second.revoke('refresh_token');
    expect(await refusal(second.refresh())).toEqual([400, 'invalid_grant']);
  });

  test('a password becomes a token', async () => {
    const application = await register(journey.program, 'classic');
    const client = new ResourceOwnerPassword(settings(application, manner));
    const tokens = await client.getToken({ username: 'root', password: ROOT_PASSWORD, scope: 'read_user' });
    expect(tokens.token).toMatchObject({ token_type: 'bearer', scope: 'read_user' });
    expect(await statusOf(journey.program, accessOf(tokens))).toBe(200);
  });

  test('an application has a token of its own', async () => {
    const client = new ClientCredentials(settings(await register(journey.program, 'classic'), manner));
    const tokens = await client.getToken({ scope: ['read_user'] });
    expect(tokens.token).toMatchObject({ token_type: 'bearer', scope: 'read_user', expires_in: 7_200 });
    expect(tokens.token.refresh_token).toBeUndefined();
    await tokens.revoke('access_token');
    expect(await refusal(client.getToken({ scope: ['sudo'] }))).toEqual([400, 'invalid_scope']);
  });
});

test('a wrong password, and a wrong secret', async () => {
  const application = await register(journey.program, 'classic');
  const owner = new ResourceOwnerPassword(settings(application));
  expect(await refusal(owner.getToken({ username: 'root', password: 'wrong' }))).toEqual([
    400,
    'invalid_grant',
  ]);
  const stranger = new ClientCredentials(settings({ ...application, secret: 'wrong' }));
  expect(await refusal(stranger.getToken({}))).toEqual([401, 'invalid_client']);
});
