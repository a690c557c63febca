import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { withSettings as changeSettings } from '../../../../test/support/browser.ts';
import { addMember, auditEventsOf, makeGroup, makeUser } from '../../../../test/support/factories.ts';
import { type MadeApplication, makeApplication } from '../../../../test/support/oauth.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { moveClock } from '../../../platform/clock.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { insertGrant, newSecret } from '../grants/actions.ts';
import { challengeOf } from '../grants/rules.ts';
import { sweepGrants } from '../grants/sweep-actions.ts';

const ashlar = useApp();
const db = () => ashlar.app.services.database.db;
const PASSWORD = 'correct horse battery staple';
const VERIFIER = 'v'.repeat(64);

const withSettings = <T>(changes: Partial<ApplicationSettings>, work: () => Promise<T>) =>
  changeSettings(ashlar, changes, work);

type Fields = Record<string, string>;
const form = (fields: Fields): string => new URLSearchParams(fields).toString();
const post = (path: string, fields: Fields, headers: Fields = {}) =>
  ashlar.call(`POST ${path}`, { raw: true, form: form(fields), headers });
const token = (fields: Fields, headers: Fields = {}) => post('/oauth/token', fields, headers);
const basic = (id: string, secret: string): Fields => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
});
const secretOf = (application: MadeApplication): Fields => ({
  client_id: application.uid,
  client_secret: application.secret ?? '',
});
const bearerStatus = async (accessToken: string) =>
  (await ashlar.call('GET /user', { headers: { authorization: `Bearer ${accessToken}` } })).status;

/** Does the work so many seconds later. */
async function later(seconds: number, work: () => Promise<void>): Promise<void> {
  const back = moveClock(seconds * 1_000);
  try {
    await work();
  } finally {
    back();
  }
}

type CodeOptions = { scopes?: string[]; challenge?: string | null };

/** A code as an approval gives it, and the parameters that redeem it. */
async function codeFor(
  application: MadeApplication,
  userId: number,
  options: CodeOptions = {},
): Promise<Fields> {
  const value = newSecret();
  await inTransaction(db(), (tx) =>
    insertGrant(tx, {
      kind: 'authorization_code',
      application_id: application.id,
      user_id: userId,
      scopes: options.scopes ?? ['api'],
      code: {
        value,
        redirect_uri: application.redirectUri,
        code_challenge: options.challenge ?? null,
        nonce: null,
      },
    }),
  );
  return { grant_type: 'authorization_code', code: value, redirect_uri: application.redirectUri };
}

/** Tokens of a new grant. */
async function tokensFor(
  application: MadeApplication,
  userId: number,
  options: CodeOptions = {},
): Promise<Fields> {
  const response = await token({
    ...(await codeFor(application, userId, options)),
    ...secretOf(application),
  });
  expect(response.status, response.text).toBe(200);
  return response.body;
}

const refresh = (application: MadeApplication, refreshToken: string, more: Fields = {}) =>
  token({ grant_type: 'refresh_token', refresh_token: refreshToken, ...secretOf(application), ...more });

describe('authorization code', () => {
  test('is exchanged with the secret, in the header or the body, as a form or as JSON', async () => {
    const user = await makeUser(ashlar);
    const application = await makeApplication(ashlar);
    const exchanges = [
      async () => token({ ...(await codeFor(application, user.id)), ...secretOf(application) }),
      async () =>
        token(await codeFor(application, user.id), basic(application.uid, application.secret ?? '')),
      async () =>
        ashlar.call('POST /oauth/token', {
          raw: true,
          body: { ...(await codeFor(application, user.id)), ...secretOf(application) },
        }),
    ];
    for (const exchange of exchanges) {
      const response = await exchange();
      expect(response.status, response.text).toBe(200);
      expect(response.body).toEqual({
        access_token: expect.stringMatching(/^[0-9a-f]{64}$/),
        token_type: 'bearer',
        expires_in: 7200,
        refresh_token: expect.stringMatching(/^[0-9a-f]{64}$/),
        scope: 'api',
        created_at: expect.any(Number),
      });
      expect(Math.abs(response.body.created_at - Date.now() / 1_000)).toBeLessThan(60);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('pragma')).toBe('no-cache');
      expect(await bearerStatus(response.body.access_token)).toBe(200);
    }
  });

  test('PKCE: a public client exchanges with its verifier and no secret', async () => {
    const user = await makeUser(ashlar);
    const application = await makeApplication(ashlar, { confidential: false });
    const fields = await codeFor(application, user.id, { challenge: challengeOf(VERIFIER) });
    const response = await token({ ...fields, client_id: application.uid, code_verifier: VERIFIER });
    expect(response.status, response.text).toBe(200);
  });

  test('code replay: the second use is refused, and ends what the first gave', async () => {
    const user = await makeUser(ashlar);
    const application = await makeApplication(ashlar);
    const fields = { ...(await codeFor(application, user.id)), ...secretOf(application) };
    const first = await token(fields);
    expect(await bearerStatus(first.body.access_token)).toBe(200);
    const second = await token(fields);
    expect([second.status, second.body.error]).toEqual([400, 'invalid_grant']);
    expect(await bearerStatus(first.body.access_token)).toBe(401);
    expect((await refresh(application, first.body.refresh_token)).status).toBe(400);
  });

  test('code replay at once leaves no live grant', async () => {
    const user = await makeUser(ashlar);
    const application = await makeApplication(ashlar);
    const fields = { ...(await codeFor(application, user.id)), ...secretOf(application) };
    const responses = await Promise.all([1, 2, 3, 4].map(() => token(fields)));
    expect(responses.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    for (const { body } of responses)
      if (body.access_token) expect(await bearerStatus(body.access_token)).toBe(401);
  });

  test('lives ten minutes', async () => {
    const user = await makeUser(ashlar);
    const application = await makeApplication(ashlar);
    const [early, late] = [await codeFor(application, user.id), await codeFor(application, user.id)];
    await later(599, async () => {
      expect((await token({ ...early, ...secretOf(application) })).status).toBe(200);
    });
    await later(601, async () => {
      expect((await token({ ...late, ...secretOf(application) })).body.error).toBe('invalid_grant');
    });
  });
});

describe('refresh', () => {
  test('ends both old tokens and gives new ones, even when the access token has expired', async () => {
    const user = await makeUser(ashlar);
    const application = await makeApplication(ashlar);
    const old = await tokensFor(application, user.id);
    const renewed = (
      await refresh(application, old.refresh_token ?? '', { redirect_uri: application.redirectUri })
    ).body;
    expect(Object.keys(renewed).sort()).toEqual(Object.keys(old).sort());
    expect(await bearerStatus(old.access_token ?? '')).toBe(401);
    expect(await bearerStatus(renewed.access_token)).toBe(200);
    await later(7_201, async () => {
      expect(await bearerStatus(renewed.access_token)).toBe(401);
      const again = await refresh(application, renewed.refresh_token);
      expect(await bearerStatus(again.body.access_token)).toBe(200);
    });
  });

  test('PKCE: a public client refreshes with its verifier or without, and not with another', async () => {
    const user = await makeUser(ashlar);
    const application = await makeApplication(ashlar, { confidential: false });
    const client_id = application.uid;
    const fields = await codeFor(application, user.id, { challenge: challengeOf(VERIFIER) });
    const first = (await token({ ...fields, client_id, code_verifier: VERIFIER })).body;
    const ask = (refresh_token: string, more: Fields) =>
      token({ grant_type: 'refresh_token', client_id, refresh_token, ...more });
    expect((await ask(first.refresh_token, { code_verifier: 'w'.repeat(64) })).body.error).toBe(
      'invalid_grant',
    );
    const second = (await ask(first.refresh_token, { code_verifier: VERIFIER })).body;
    expect((await ask(second.refresh_token, {})).status).toBe(200);
  });

  test('token replay: a refresh token used twice ends its whole family', async () => {
    const user = await makeUser(ashlar);
    const application = await makeApplication(ashlar);
    const first = await tokensFor(application, user.id);
    const second = (await refresh(application, first.refresh_token ?? '')).body;
    const third = (await refresh(application, second.refresh_token)).body;
    expect((await refresh(application, first.refresh_token ?? '')).body.error).toBe('invalid_grant');
    expect(await bearerStatus(third.access_token)).toBe(401);
    expect((await refresh(application, third.refresh_token)).body.error).toBe('invalid_grant');
  });

  test('of many at once exactly one wins', async () => {
    const user = await makeUser(ashlar);
    const application = await makeApplication(ashlar);
    for (let round = 0; round < 5; round++) {
      const { refresh_token = '' } = await tokensFor(application, user.id);
      const responses = await Promise.all(
        Array.from({ length: 4 }, () => refresh(application, refresh_token)),
      );
      const won = responses.filter(({ status }) => status === 200);
      expect(won.length).toBe(1);
      for (const { status, body } of responses) if (status !== 200) expect(body.error).toBe('invalid_grant');
    }
  });

  test('is for the client that it was issued to', async () => {
    const user = await makeUser(ashlar);
    const [application, other] = [await makeApplication(ashlar), await makeApplication(ashlar)];
    const tokens = await tokensFor(application, user.id);
    expect((await refresh(other, tokens.refresh_token ?? '')).body.error).toBe('invalid_grant');
    expect(
      (await token({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' })).status,
    ).toBe(401);
    expect((await refresh(application, tokens.refresh_token ?? '')).status).toBe(200);
  });

  test('may ask for less, and gets what it was granted the next time', async () => {
    const user = await makeUser(ashlar);
    const application = await makeApplication(ashlar);
    const first = await tokensFor(application, user.id, { scopes: ['api', 'read_user'] });
    const less = (await refresh(application, first.refresh_token ?? '', { scope: 'read_user' })).body;
    expect(less.scope).toBe('read_user');
    expect((await refresh(application, less.refresh_token, { scope: 'sudo' })).body.error).toBe(
      'invalid_scope',
    );
    expect((await refresh(application, less.refresh_token)).body.scope).toBe('api read_user');
  });
});

describe('password grant', () => {
  const ask = (username: string, more: Fields = {}, headers: Fields = {}) =>
    token({ grant_type: 'password', username, password: PASSWORD, ...more }, headers);
  const quiet = <T>(work: () => Promise<T>) => withSettings({}, work);

  test('gives a token of scope api, with and without a client', () =>
    quiet(async () => {
      const user = await makeUser(ashlar);
      const application = await makeApplication(ashlar);
      const responses = [
        await ask(user.username),
        await ask(`${user.username}@example.com`),
        await ask(user.username, {}, basic(application.uid, application.secret)),
      ];
      for (const { status, body } of responses) {
        expect([status, body.scope, body.token_type, body.expires_in]).toEqual([200, 'api', 'bearer', 7200]);
        expect(await bearerStatus(body.access_token)).toBe(200);
      }
      const renewed = await token({
        grant_type: 'refresh_token',
        refresh_token: responses[0]?.body.refresh_token,
      });
      expect(await bearerStatus(renewed.body.access_token)).toBe(200);
    }));

  test('refuses what it must', () =>
    quiet(async () => {
      const [user, blocked, second, enterprise, duty] = await Promise.all(
        [1, 2, 3, 4, 5].map(() => makeUser(ashlar)),
      );
      if (!user || !blocked || !second || !enterprise || !duty) throw new Error('five users expected');
      const refused = async (response: Promise<{ status: number; body: { error: string } }>) => {
        const { status, body } = await response;
        return [status, body.error];
      };
      const invalid = [400, 'invalid_grant'];
      expect(await refused(ask(user.username, { password: 'wrong' }))).toEqual(invalid);
      expect(await refused(ask('nobody-here'))).toEqual(invalid);
      await ashlar.root(`POST /users/${blocked.id}/block`);
      expect(await refused(ask(blocked.username))).toEqual(invalid);
      await db()
        .updateTable('users')
        .set({ otp_enabled_at: new Date() })
        .where('id', '=', second.id)
        .execute();
      expect(await refused(ask(second.username))).toEqual(invalid);
      const group = await makeGroup(ashlar, { require_two_factor_authentication: true });
      await addMember(ashlar, `groups/${group.id}`, duty, 30);
      expect(await refused(ask(duty.username))).toEqual(invalid);
      const company = await makeGroup(ashlar);
      const { sql } = ashlar.app.services.database;
      await sql`update namespaces set settings = settings || '{"disable_password_authentication_for_enterprise_users": true}'
        where id = ${company.id}`;
      await sql`update users set enterprise_group_id = ${company.id} where id = ${enterprise.id}`;
      expect(await refused(ask(enterprise.username))).toEqual(invalid);
      expect(await refused(ask(user.username, { scope: 'sudo' }))).toEqual([400, 'invalid_scope']);
      const application = await makeApplication(ashlar);
      expect(await refused(ask(user.username, {}, basic(application.uid, 'wrong')))).toEqual([
        401,
        'invalid_client',
      ]);
    }));

  test('gives an administrator no scope of administrators without a client', () =>
    quiet(async () => {
      const admin = await makeUser(ashlar, { admin: true });
      const privileged = ['sudo', 'admin_mode', 'read_service_ping'];
      for (const scope of [...privileged, 'api sudo', privileged.join(' ')]) {
        const { status, body } = await ask(admin.username, { scope });
        expect([scope, status, body.error, body.access_token]).toEqual([
          scope,
          400,
          'invalid_scope',
          undefined,
        ]);
      }
      const given = await ask(admin.username, { scope: 'api' });
      expect([given.status, given.body.scope]).toEqual([200, 'api']);
      const refresh = { grant_type: 'refresh_token', refresh_token: given.body.refresh_token };
      expect((await token({ ...refresh, scope: 'api sudo' })).body.error).toBe('invalid_scope');
      const asUser = await ashlar.call('GET /user', {
        headers: { authorization: `Bearer ${given.body.access_token}`, sudo: '1' },
      });
      expect(asUser.status).toBe(403);
      const application = await makeApplication(ashlar, { scopes: ['api', 'sudo'] });
      const through = await ask(
        admin.username,
        { scope: 'api sudo' },
        basic(application.uid, application.secret),
      );
      expect([through.status, through.body.scope]).toEqual([200, 'api sudo']);
    }));

  test('obeys the settings of the instance', async () => {
    const user = await makeUser(ashlar);
    await withSettings({ password_authentication_enabled_for_git: false }, async () => {
      expect((await ask(user.username)).body.error).toBe('invalid_grant');
    });
    await withSettings({ ropc_without_client_credentials: false }, async () => {
      expect((await ask(user.username)).body.error).toBe('invalid_client');
    });
    await withSettings({ require_two_factor_authentication: true }, async () => {
      expect((await ask(user.username)).body.error).toBe('invalid_grant');
    });
  });

  test('brute force: wrong passwords lock the account, and requests of one address are few', async () => {
    const user = await makeUser(ashlar);
    await withSettings({ max_login_attempts: 3 }, async () => {
      for (let attempt = 0; attempt < 3; attempt++) await ask(user.username, { password: 'wrong' });
      expect((await ask(user.username)).body.error).toBe('invalid_grant');
    });
    const few = { throttle_protected_paths_enabled: true, throttle_protected_paths_requests_per_period: 2 };
    await withSettings(few, async () => {
      const statuses = [];
      // More than two periods allow, in case one ends meanwhile.
      for (let attempt = 0; attempt < 5; attempt++) statuses.push((await ask('nobody')).status);
      expect(statuses).toContain(429);
    });
  });
});

describe('client credentials', () => {
  test('give a token of the application, which is nobody at the API', async () => {
    const application = await makeApplication(ashlar);
    const response = await token({ grant_type: 'client_credentials', ...secretOf(application) });
    expect([response.status, response.body.scope, response.body.refresh_token]).toEqual([
      200,
      'api',
      undefined,
    ]);
    expect(await bearerStatus(response.body.access_token)).toBe(401);
    const info = await ashlar.call('GET /oauth/token/info', {
      raw: true,
      headers: { authorization: `Bearer ${response.body.access_token}` },
    });
    expect([info.status, info.body.resource_owner_id]).toEqual([200, null]);
  });

  test('are not for public clients', async () => {
    const application = await makeApplication(ashlar, { confidential: false });
    const response = await token({ grant_type: 'client_credentials', client_id: application.uid });
    expect([response.status, response.body.error]).toEqual([400, 'unauthorized_client']);
  });
});

describe('bad input', () => {
  const cases: [string, string, number, string][] = [
    ['nothing', '', 400, 'invalid_request'],
    ['an unknown grant type', 'grant_type=implicit', 400, 'unsupported_grant_type'],
    ['a name that every object has', 'grant_type=constructor', 400, 'unsupported_grant_type'],
    ['a grant type twice', 'grant_type=password&grant_type=password', 400, 'invalid_request'],
    ['no client', 'grant_type=authorization_code&code=x', 401, 'invalid_client'],
    [
      'an unknown client',
      'grant_type=authorization_code&code=x&client_id=x&client_secret=y',
      401,
      'invalid_client',
    ],
    ['no refresh token', 'grant_type=refresh_token', 400, 'invalid_request'],
    ['an unknown refresh token', 'grant_type=refresh_token&refresh_token=x', 401, 'invalid_client'],
    ['no password', 'grant_type=password&username=root', 400, 'invalid_request'],
    [
      'an oversized value',
      `grant_type=password&username=${'x'.repeat(5_000)}&password=y`,
      400,
      'invalid_request',
    ],
    ['a NUL', 'grant_type=password&username=a%00b&password=y', 400, 'invalid_request'],
    ['an unknown scope', 'grant_type=password&username=a&password=y&scope=everything', 400, 'invalid_scope'],
  ];
  test.each(cases)('%s', async (_, text, status, error) => {
    await withSettings({}, async () => {
      const response = await ashlar.call('POST /oauth/token', { raw: true, form: text });
      expect([response.status, response.body.error]).toEqual([status, error]);
      expect(response.body.error_description).toEqual(expect.any(String));
      expect(response.headers.get('cache-control')).toBe('no-store');
    });
  });

  test('a JSON body with an object, and a body of another type', async () => {
    const json = await ashlar.call('POST /oauth/token', { raw: true, body: { grant_type: { a: 1 } } });
    expect([json.status, json.body.error]).toEqual([400, 'invalid_request']);
    const headers = { 'content-type': 'text/plain' };
    const plain = await ashlar.call('POST /oauth/token', { raw: true, form: 'grant_type=password', headers });
    expect([plain.status, plain.body.error]).toEqual([400, 'invalid_request']);
  });

  test('a client that authenticates in two ways at once', async () => {
    const [application, other] = [await makeApplication(ashlar), await makeApplication(ashlar)];
    const headers = basic(application.uid, application.secret);
    const response = await token({ grant_type: 'client_credentials', ...secretOf(other) }, headers);
    expect([response.status, response.body.error]).toEqual([400, 'invalid_request']);
  });

  test('an unknown client is told how to authenticate', async () => {
    const response = await token({ grant_type: 'client_credentials' }, basic('x', 'y'));
    expect(response.headers.get('www-authenticate')).toMatch(/^Basic realm="Ashlar", error="invalid_client"/);
  });
});

describe('/oauth/token/info', () => {
  test('tells of the token, with the deprecated aliases (spec: OAuth token responses)', async () => {
    const user = await makeUser(ashlar);
    const application = await makeApplication(ashlar);
    const { access_token = '' } = await tokensFor(application, user.id);
    const byHeader = await ashlar.call('GET /oauth/token/info', {
      raw: true,
      headers: { authorization: `Bearer ${access_token}` },
    });
    const byQuery = await ashlar.call('GET /oauth/token/info', {
      raw: true,
      query: `access_token=${access_token}`,
    });
    for (const { status, body } of [byHeader, byQuery]) {
      expect(status).toBe(200);
      expect(body).toEqual({
        resource_owner_id: user.id,
        scope: ['api'],
        expires_in: expect.any(Number),
        application: { uid: application.uid },
        created_at: expect.any(Number),
        scopes: ['api'],
        expires_in_seconds: body.expires_in,
      });
      expect(body.expires_in).toBeGreaterThan(7_100);
    }
  });

  test('refuses what is no live token of an application', async () => {
    const user = await makeUser(ashlar);
    const application = await makeApplication(ashlar);
    const tokens = await tokensFor(application, user.id);
    const ask = (value: string) =>
      ashlar.call('GET /oauth/token/info', { raw: true, query: `access_token=${value}` });
    for (const value of ['', 'x', user.token, tokens.refresh_token ?? '']) {
      const { status, body } = await ask(value);
      expect([status, body.error]).toEqual([400, 'invalid_request']);
    }
    await later(7_201, async () => expect((await ask(tokens.access_token ?? '')).status).toBe(400));
  });
});

describe('/oauth/revoke', () => {
  const revoke = (application: MadeApplication, value: string) =>
    post('/oauth/revoke', { token: value, ...secretOf(application) });

  test.each(['access_token', 'refresh_token'] as const)(
    'the %s ends both, and answers 200 {}',
    async (which) => {
      const user = await makeUser(ashlar);
      const application = await makeApplication(ashlar);
      const tokens = await tokensFor(application, user.id);
      const response = await revoke(application, tokens[which] ?? '');
      expect([response.status, response.body]).toEqual([200, {}]);
      expect(await bearerStatus(tokens.access_token ?? '')).toBe(401);
      expect((await refresh(application, tokens.refresh_token ?? '')).status).toBe(400);
    },
  );

  test('another client ends nothing, and learns nothing', async () => {
    const user = await makeUser(ashlar);
    const [application, other] = [await makeApplication(ashlar), await makeApplication(ashlar)];
    const tokens = await tokensFor(application, user.id);
    for (const value of [tokens.access_token ?? '', 'unknown', user.token]) {
      const response = await revoke(other, value);
      expect([response.status, response.body]).toEqual([200, {}]);
    }
    expect(await bearerStatus(tokens.access_token ?? '')).toBe(200);
    const anonymous = await post('/oauth/revoke', { token: tokens.access_token ?? '' });
    expect([anonymous.status, anonymous.body.error]).toEqual([403, 'unauthorized_client']);
    const wrong = await post('/oauth/revoke', {
      token: tokens.access_token ?? '',
      client_id: application.uid,
    });
    expect(wrong.status).toBe(403);
    expect(await bearerStatus(tokens.access_token ?? '')).toBe(200);
  });
});

describe('/oauth/introspect', () => {
  const introspect = (fields: Fields, headers: Fields = {}) => post('/oauth/introspect', fields, headers);

  test('tells a client of its own tokens, and of others that they are not active', async () => {
    const user = await makeUser(ashlar);
    const [application, other] = [await makeApplication(ashlar), await makeApplication(ashlar)];
    const tokens = await tokensFor(application, user.id);
    const own = await introspect({ token: tokens.access_token ?? '', ...secretOf(application) });
    expect([own.status, own.body]).toEqual([
      200,
      {
        active: true,
        scope: 'api',
        client_id: application.uid,
        token_type: 'Bearer',
        exp: own.body.iat + 7_200,
        iat: expect.any(Number),
        sub: String(user.id),
      },
    ]);
    const refreshable = await introspect({ token: tokens.refresh_token ?? '', ...secretOf(application) });
    expect(refreshable.body.active).toBe(true);
    for (const requested of [
      { token: tokens.access_token ?? '', ...secretOf(other) },
      { token: user.token, ...secretOf(application) },
      { token: 'unknown', ...secretOf(application) },
    ]) {
      expect((await introspect(requested)).body).toEqual({ active: false });
    }
    expect((await introspect({ token: tokens.access_token ?? '' })).status).toBe(401);
  });

  test('takes another live token of the client, not the token itself', async () => {
    const user = await makeUser(ashlar);
    const application = await makeApplication(ashlar);
    const [one, two] = [await tokensFor(application, user.id), await tokensFor(application, user.id)];
    const ask = (value: string) =>
      introspect({ token: one.access_token ?? '' }, { authorization: `Bearer ${value}` });
    expect((await ask(two.access_token ?? '')).body.active).toBe(true);
    expect((await ask(one.access_token ?? '')).status).toBe(401);
  });
});

describe('what ends a grant ends it at once', () => {
  const ends: Record<string, (user: { id: number }, application: MadeApplication) => Promise<unknown>> = {
    'blocking the user': (user) => ashlar.root(`POST /users/${user.id}/block`),
    'changing the password': (user) =>
      ashlar.root(`PUT /users/${user.id}`, { body: { password: 'another good password' } }),
    'deleting the application': (_, application) =>
      db().deleteFrom('oauth_applications').where('id', '=', application.id).execute(),
  };
  test.each(Object.entries(ends))('%s', async (_, end) => {
    const user = await makeUser(ashlar);
    const application = await makeApplication(ashlar);
    const tokens = await tokensFor(application, user.id);
    const code = await codeFor(application, user.id);
    expect(await bearerStatus(tokens.access_token ?? '')).toBe(200);
    await end(user, application);
    expect([401, 403]).toContain(await bearerStatus(tokens.access_token ?? ''));
    // Nor does it come back with an unblocked account.
    await ashlar.root(`POST /users/${user.id}/unblock`);
    expect(await bearerStatus(tokens.access_token ?? '')).toBe(401);
    expect((await refresh(application, tokens.refresh_token ?? '')).status).toBeGreaterThanOrEqual(400);
    expect((await token({ ...code, ...secretOf(application) })).status).toBeGreaterThanOrEqual(400);
  });
});

describe('digests at rest', () => {
  test('no value that a client holds is stored', async () => {
    const user = await makeUser(ashlar);
    const application = await makeApplication(ashlar);
    const code = await codeFor(application, user.id);
    const tokens = await tokensFor(application, user.id);
    const rows = await ashlar.app.services.database.sql<{ text: string }[]>`
      select row_to_json(t)::text as text from access_tokens t union all
      select row_to_json(t)::text from oauth_grants t union all
      select row_to_json(t)::text from oauth_refresh_tokens t union all
      select row_to_json(t)::text from oauth_applications t`;
    const stored = rows.map(({ text }) => text).join();
    for (const value of [code.code, tokens.access_token, tokens.refresh_token, application.secret]) {
      expect(stored).not.toContain(value);
    }
  });
});

test('cross-origin: preflight with simple headers and Authorization only (spec: OAuth 2.0 provider, 10)', async () => {
  const ask = (path: string, headers: string) =>
    fetch(`${ashlar.url}${path}`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://client.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': headers,
      },
    });
  for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/userinfo']) {
    const allowed = await ask(path, 'authorization, content-type');
    expect(allowed.status).toBe(200);
    expect(allowed.headers.get('access-control-allow-origin')).toBe('*');
    expect(allowed.headers.get('access-control-allow-headers')).toContain('Authorization');
    expect(allowed.headers.get('access-control-allow-credentials')).toBeNull();
    const refused = await ask(path, 'x-requested-with');
    expect(refused.headers.get('access-control-allow-origin')).toBeNull();
    expect(refused.headers.get('access-control-allow-headers')).toBeNull();
  }
  const response = await post(
    '/oauth/token',
    { grant_type: 'nothing' },
    { origin: 'https://client.example' },
  );
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  const page = await fetch(`${ashlar.url}/oauth/authorize`, {
    headers: { origin: 'https://client.example' },
  });
  expect(page.headers.get('access-control-allow-origin')).toBeNull();
});

test('what nobody can use any more is forgotten, and what is remembered for a replay is not', async () => {
  const user = await makeUser(ashlar);
  const application = await makeApplication(ashlar);
  await codeFor(application, user.id);
  const first = await tokensFor(application, user.id);
  const second = (await refresh(application, first.refresh_token ?? '')).body;
  const count = async () => {
    const [row] = await ashlar.app.services.database.sql<
      { tokens: number; grants: number; refreshes: number }[]
    >`
      select (select count(*)::integer from access_tokens t join oauth_grants g on g.id = t.grant_id
        where g.application_id = ${application.id}) as tokens,
        (select count(*)::integer from oauth_grants where application_id = ${application.id}) as grants,
        (select count(*)::integer from oauth_refresh_tokens r join oauth_grants g on g.id = r.grant_id
        where g.application_id = ${application.id}) as refreshes`;
    return row;
  };
  const after = async (days: number) => {
    await sweepGrants(db(), new Date(Date.now() + days * 86_400_000));
    return count();
  };
  expect(await after(0.5)).toEqual({ tokens: 1, grants: 2, refreshes: 2 });
  expect(await after(8)).toEqual({ tokens: 0, grants: 1, refreshes: 2 });
  expect(await after(91)).toEqual({ tokens: 0, grants: 1, refreshes: 1 });
  expect((await refresh(application, second.refresh_token)).status).toBe(200);
});

test('a NUL in the name of the header is an unknown client at every endpoint', async () => {
  for (const name of ['a\0', 'a%00']) {
    const headers = { authorization: `Basic ${Buffer.from(`${name}:x`).toString('base64')}` };
    for (const [path, status] of [
      ['/oauth/token', 401],
      ['/oauth/introspect', 401],
      ['/oauth/authorize_device', 401],
      ['/oauth/revoke', 403],
    ] as const) {
      const response = await post(path, { grant_type: 'client_credentials', token: 'x' }, headers);
      expect([path, response.status]).toEqual([path, status]);
    }
  }
});

test.each(['code', 'refresh token'])('replay of a %s is in the audit log of the user', async (what) => {
  const user = await makeUser(ashlar);
  const application = await makeApplication(ashlar);
  const code = { ...(await codeFor(application, user.id)), ...secretOf(application) };
  const { refresh_token } = (await token(code)).body;
  if (what === 'refresh token') await refresh(application, refresh_token);
  const replay = () => (what === 'code' ? token(code) : refresh(application, refresh_token));
  for (let times = 0; times < 2; times++) expect((await replay()).body.error).toBe('invalid_grant');
  const events = await auditEventsOf(ashlar, user.id);
  expect(events.filter((event) => event === 'oauth_authorization_revoked')).toHaveLength(1);
});
