/** The device flow over HTTP as the device sees it: its codes, and the responses to its polls until the decision. */
import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  DEVICE_GRANT,
  decideDevice,
  devicesOf,
  errorOf,
  later,
  sendCode,
  UNKNOWN_CODE,
} from '../../../../test/support/devices.ts';
import { bodyOf, makeUser } from '../../../../test/support/factories.ts';
import { makeApplication } from '../../../../test/support/oauth.ts';
import { SESSION_COOKIE } from '../../../kernel/identity/credentials.ts';
import { digest } from '../../../platform/secret.ts';
import { forgetDevices } from './queries.ts';

const ashlar = useApp({ env: { ASHLAR_TRUSTED_PROXIES: '127.0.0.1' } });
const { post, publicClient, ask, poll, rowOf, browserOf } = devicesOf(ashlar);
const db = () => ashlar.app.services.database.db;
type Fields = Record<string, string>;
const INVALID_GRANT =
  'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.';

describe('POST /oauth/authorize_device', () => {
  test('answers with the codes, where to type one, and how often to poll with the other', async () => {
    const application = await publicClient();
    const called = await post('/oauth/authorize_device', {
      client_id: application.uid,
      scope: 'read_user api',
    });
    const letters = '[BCDFGHJKLMNPQRSTVWXZ]{4}';
    expect([called.status, called.body]).toEqual([
      200,
      {
        device_code: expect.stringMatching(/^[0-9a-f]{64}$/),
        user_code: expect.stringMatching(new RegExp(`^${letters}-${letters}$`)),
        verification_uri: `${ashlar.url}/oauth/device`,
        verification_uri_complete: `${ashlar.url}/oauth/device?user_code=${called.body.user_code}`,
        expires_in: 300,
        interval: 5,
      },
    ]);
    expect(called.headers.get('cache-control')).toBe('no-store');
    expect((await rowOf(called.body)).scopes).toEqual(['read_user', 'api']);
  });

  test('gives codes of their own to devices that ask at once', async () => {
    const application = await publicClient();
    const requested = await Promise.all(Array.from({ length: 20 }, () => ask(application)));
    expect(new Set(requested.map(({ user_code }) => user_code)).size).toBe(20);
    expect(new Set(requested.map(({ device_code }) => device_code)).size).toBe(20);
  });

  test('digests at rest: the device code is nowhere in its row', async () => {
    const request = await ask(await publicClient());
    const row = JSON.stringify(await rowOf(request));
    expect(row).not.toContain(request.device_code);
  });

  test('takes a confidential application by its id, and a secret only when it is right', async () => {
    const application = await makeApplication(ashlar);
    const status = async (more: Fields, headers?: Fields) =>
      (await post('/oauth/authorize_device', { client_id: application.uid, ...more }, headers)).status;
    const basic = (secret: string) => ({
      authorization: `Basic ${Buffer.from(`${application.uid}:${secret}`).toString('base64')}`,
    });
    expect(await status({})).toBe(200);
    expect(await status({ client_secret: application.secret })).toBe(200);
    expect(await status({}, basic(application.secret))).toBe(200);
    expect(await status({ client_secret: 'gloas-wrong' })).toBe(401);
    expect(await status({}, basic('gloas-wrong'))).toBe(401);
  });

  const refused: [string, (uid: string) => string, unknown[]][] = [
    ['an unknown client', () => 'client_id=nobody', [401, 'invalid_client', expect.any(String)]],
    ['no client', () => 'scope=api', [400, 'invalid_request', 'Missing required parameter: client_id.']],
    [
      'a client twice',
      (uid) => `client_id=${uid}&client_id=${uid}`,
      [400, 'invalid_request', 'Repeated parameter: client_id.'],
    ],
    [
      'a scope that the application has not',
      (uid) => `client_id=${uid}&scope=api+sudo`,
      [400, 'invalid_scope', 'The requested scope is invalid, unknown, or malformed.'],
    ],
    [
      'a scope that there is not',
      (uid) => `client_id=${uid}&scope=everything`,
      [400, 'invalid_scope', expect.any(String)],
    ],
    [
      'an endless scope',
      (uid) => `client_id=${uid}&scope=${'a'.repeat(5_000)}`,
      [400, 'invalid_request', 'Invalid parameter: scope.'],
    ],
  ];
  test.each(refused)('refuses %s, and nothing is stored', async (_, text, expected) => {
    const application = await publicClient();
    const called = await ashlar.call('POST /oauth/authorize_device', {
      raw: true,
      form: text(application.uid),
    });
    expect(errorOf(called)).toEqual(expected);
    const rows = db().selectFrom('oauth_devices').select('id').where('application_id', '=', application.id);
    expect(await rows.execute()).toEqual([]);
  });

  test('refuses applications that registered themselves, for codes alone', async () => {
    const application = await makeApplication(ashlar, { dynamic: true, scopes: ['mcp'] });
    const called = await post('/oauth/authorize_device', { client_id: application.uid });
    expect(errorOf(called).slice(0, 2)).toEqual([400, 'unauthorized_client']);
  });
});

describe('polling', () => {
  test('pending, then approved: the tokens come once, and open what was approved', async () => {
    const user = await makeUser(ashlar);
    const application = await publicClient();
    const request = await ask(application, 'read_user');
    expect(errorOf(await poll(application, request))).toEqual([
      400,
      'authorization_pending',
      'The authorization request is still pending as the user hasn’t yet completed the steps.',
    ]);
    const browser = await browserOf(user);
    expect((await decideDevice(browser, request.user_code, 'approve')).text).toContain('Device connected');

    const given = await poll(application, request);
    expect([given.status, given.body]).toEqual([
      200,
      {
        access_token: expect.stringMatching(/^[0-9a-f]{64}$/),
        token_type: 'Bearer',
        expires_in: 7200,
        refresh_token: expect.stringMatching(/^[0-9a-f]{64}$/),
        scope: 'read_user',
        created_at: expect.any(Number),
      },
    ]);
    const { access_token } = given.body;
    const bearer = { headers: { authorization: `Bearer ${access_token}` } };
    expect(bodyOf(await ashlar.call('GET /user', bearer), 200).id).toBe(user.id);
    expect((await ashlar.call('GET /personal_access_tokens', bearer)).status).toBe(403);
  });

  test('replay of a device code gives nothing, at once and later', async () => {
    const application = await publicClient();
    const request = await ask(application);
    await decideDevice(await browserOf(await makeUser(ashlar)), request.user_code, 'approve');
    bodyOf(await poll(application, request), 200);
    expect(errorOf(await poll(application, request))).toEqual([400, 'invalid_grant', INVALID_GRANT]);
    await later(60, async () => {
      expect(errorOf(await poll(application, request))).toEqual([400, 'invalid_grant', INVALID_GRANT]);
    });
    const grants = db().selectFrom('oauth_grants').select('id').where('application_id', '=', application.id);
    expect(await grants.execute()).toHaveLength(1);
  });

  test('of ten polls at once for an approved code, one gets tokens', async () => {
    const application = await publicClient();
    const request = await ask(application);
    await decideDevice(await browserOf(await makeUser(ashlar)), request.user_code, 'approve');
    const called = await Promise.all(Array.from({ length: 10 }, () => poll(application, request)));
    const errors = called.map(({ body }) => body.error ?? 'none').sort();
    expect(errors).toEqual([...Array(9).fill('invalid_grant'), 'none']);
  });

  test('denied: access_denied', async () => {
    const application = await publicClient();
    const request = await ask(application);
    const page = await decideDevice(await browserOf(await makeUser(ashlar)), request.user_code, 'deny');
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('Request denied')]);
    for (let polls = 0; polls < 2; polls++) {
      expect(errorOf(await poll(application, request))).toEqual([
        400,
        'access_denied',
        'The resource owner or authorization server denied the request.',
      ]);
    }
  });

  test.each(['pending', 'authorized'] as const)(
    'expired while %s: expired_token, until it is forgotten',
    async (state) => {
      const application = await publicClient();
      const request = await ask(application);
      if (state === 'authorized')
        await decideDevice(await browserOf(await makeUser(ashlar)), request.user_code, 'approve');
      await later(301, async () => {
        for (let polls = 0; polls < 2; polls++) {
          expect(errorOf(await poll(application, request))).toEqual([
            400,
            'expired_token',
            'The device code has expired. Start over with a new device authorization request.',
          ]);
        }
      });
      const { expires_at } = await rowOf(request);
      await forgetDevices(db(), new Date(expires_at.getTime() + 3_600_000));
      expect((await rowOf(request)).state).toBe(state);
      await forgetDevices(db(), new Date(expires_at.getTime() + 3_600_001));
      expect(errorOf(await poll(application, request))).toEqual([400, 'invalid_grant', INVALID_GRANT]);
    },
  );

  test('a blocked user: what was approved gives nothing', async () => {
    const user = await makeUser(ashlar);
    const application = await publicClient();
    const [before, meanwhile] = [await ask(application), await ask(application)];
    const browser = await browserOf(user);
    await decideDevice(browser, before.user_code, 'approve');
    bodyOf(await ashlar.root(`POST /users/${user.id}/block`), 201);
    expect(errorOf(await poll(application, before))).toEqual([400, 'invalid_grant', INVALID_GRANT]);
    // The session ended with it.
    const page = await browser.get('/oauth/device');
    expect([page.status, page.location]).toEqual([303, expect.stringContaining('/users/sign_in')]);
    expect((await poll(application, meanwhile)).body.error).toBe('authorization_pending');
  });

  test('a changed password: what was approved before gives nothing', async () => {
    const user = await makeUser(ashlar);
    const application = await publicClient();
    const request = await ask(application);
    await decideDevice(await browserOf(user), request.user_code, 'approve');
    bodyOf(await ashlar.root(`PUT /users/${user.id}`, { body: { password: 'another horse battery' } }), 200);
    expect(errorOf(await poll(application, request))).toEqual([400, 'invalid_grant', INVALID_GRANT]);
  });

  test('a deleted application takes its devices with it', async () => {
    const application = await publicClient();
    const request = await ask(application);
    const browser = await browserOf(await makeUser(ashlar));
    await db().deleteFrom('oauth_applications').where('id', '=', application.id).execute();
    expect(errorOf(await poll(application, request)).slice(0, 2)).toEqual([401, 'invalid_client']);
    expect((await sendCode(browser, request.user_code)).alert).toBe(UNKNOWN_CODE);
  });

  test('an unknown code, another application’s code and a missing one are refused', async () => {
    const [application, other] = [await publicClient(), await publicClient()];
    const request = await ask(application);
    await decideDevice(await browserOf(await makeUser(ashlar)), request.user_code, 'approve');
    expect(errorOf(await poll(other, request))).toEqual([400, 'invalid_grant', INVALID_GRANT]);
    expect((await poll(application, { device_code: request.user_code })).body.error).toBe('invalid_grant');
    const without = await post('/oauth/token', { grant_type: DEVICE_GRANT, client_id: application.uid });
    expect(errorOf(without)).toEqual([400, 'invalid_request', 'Missing required parameter: device_code.']);
    expect((await poll(application, request, { client_id: 'nobody' })).body.error).toBe('invalid_client');
    // None of these used it up.
    expect((await poll(application, request)).status).toBe(200);
  });

  test('a confidential application proves itself when it polls', async () => {
    const application = await makeApplication(ashlar);
    const request = await ask(application);
    await decideDevice(await browserOf(await makeUser(ashlar)), request.user_code, 'approve');
    expect(errorOf(await poll(application, request)).slice(0, 2)).toEqual([401, 'invalid_client']);
    expect((await poll(application, request, { client_secret: application.secret })).status).toBe(200);
  });

  test('the identity token says when the user signed in', async () => {
    const user = await makeUser(ashlar);
    const application = await publicClient({ scopes: ['openid', 'profile'] });
    const request = await ask(application, 'openid');
    const browser = await browserOf(user);
    const token = browser.cookies.get(SESSION_COOKIE) ?? '';
    const sessions = db().selectFrom('sessions').select('created_at').where('digest', '=', digest(token));
    const { created_at } = await sessions.executeTakeFirstOrThrow();
    await later(60, () => decideDevice(browser, request.user_code, 'approve'));
    expect((await rowOf(request)).authenticated_at).toEqual(created_at);
    const { id_token } = bodyOf(await poll(application, request), 200);
    const claims = JSON.parse(Buffer.from(id_token.split('.')[1] ?? '', 'base64url').toString());
    expect([claims.sub, claims.auth_time]).toEqual([
      String(user.id),
      Math.floor(created_at.getTime() / 1_000),
    ]);
  });
});

describe('the interval', () => {
  test('a poll that comes too early is told to slow down, and the interval grows by five seconds up to a minute', async () => {
    const application = await publicClient();
    const request = await ask(application);
    const code = async () => (await poll(application, request)).body.error;
    expect(await code()).toBe('authorization_pending');
    expect(errorOf(await poll(application, request))).toEqual([
      400,
      'slow_down',
      'The client is polling too often: wait five seconds longer between polls than before.',
    ]);
    expect((await rowOf(request)).interval_seconds).toBe(10);
    await later(9, async () => {
      expect(await code()).toBe('slow_down');
      expect((await rowOf(request)).interval_seconds).toBe(15);
      await later(16, async () => {
        expect(await code()).toBe('authorization_pending');
        expect((await rowOf(request)).interval_seconds).toBe(15);
      });
    });
    await db()
      .updateTable('oauth_devices')
      .set({ interval_seconds: 58 })
      .where('digest', '=', digest(request.device_code))
      .execute();
    expect(await code()).toBe('slow_down');
    expect((await rowOf(request)).interval_seconds).toBe(60);
    expect(await code()).toBe('slow_down');
    expect((await rowOf(request)).interval_seconds).toBe(60);
  });

  test('who polled too early gets the tokens when they are approved', async () => {
    const application = await publicClient();
    const request = await ask(application);
    await poll(application, request);
    expect((await poll(application, request)).body.error).toBe('slow_down');
    await decideDevice(await browserOf(await makeUser(ashlar)), request.user_code, 'approve');
    expect((await poll(application, request)).status).toBe(200);
  });
});
