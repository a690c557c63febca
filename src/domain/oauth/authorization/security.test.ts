/** Rules of RFC 9700 for /oauth/authorize, each point with a test of its name. */
import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { hiddenFields, openBrowser } from '../../../../test/support/browser.ts';
import {
  authorizationResponseAt,
  authorizationsOf,
  authorize,
  authorizePath,
  decide,
  makeApplication,
  makeChallenge,
} from '../../../../test/support/oauth.ts';
import { moveClock } from '../../../platform/clock.ts';
import { digest } from '../../../platform/secret.ts';

const ashlar = useApp({ env: { ASHLAR_OAUTH_RESPONSE_ISS: 'on' } });
const { signedIn, redeem, grantsOf, statusOf } = authorizationsOf(ashlar);
const PATH = '/oauth/authorize';
const OUT_OF_BAND = 'urn:ietf:wg:oauth:2.0:oob';
const db = () => ashlar.app.services.database.db;

describe('security', () => {
  test('exact redirect URIs, and no open redirector: any other leads nowhere, whoever is signed in', async () => {
    const { user, browser } = await signedIn();
    const application = await makeApplication(ashlar, { trusted: true });
    const uris = [
      'https://evil.example/',
      `${application.redirectUri}/`,
      `${application.redirectUri}?x=1`,
      `${application.redirectUri}#x`,
      application.redirectUri.toUpperCase(),
      application.redirectUri.replace('https:', 'http:'),
      application.redirectUri.replace('/callback', '/x/../callback'),
      `${application.redirectUri}%20`,
      'https://client.example.org@evil.example/callback',
      'javascript:alert(1)',
      '//evil.example',
      '/',
      OUT_OF_BAND,
    ];
    for (const visitor of [browser, openBrowser(ashlar)]) {
      for (const redirect_uri of uris) {
        for (const more of [{}, { response_type: 'token' }, { prompt: 'none' }]) {
          const page = await visitor.get(authorizePath(application, { redirect_uri, ...more }));
          expect([redirect_uri, page.status, page.location]).toEqual([redirect_uri, 400, null]);
        }
      }
      const unknown = await visitor.get(authorizePath({ ...application, uid: 'f'.repeat(64) }));
      expect([unknown.status, unknown.location]).toEqual([400, null]);
      const twice = await visitor.get(`${authorizePath(application)}&redirect_uri=https://evil.example/`);
      expect([twice.status, twice.location]).toEqual([400, null]);
    }
    expect(await grantsOf(user)).toEqual([]);
  });

  test('the form repeats every check: what was changed in it is refused', async () => {
    const { user, browser } = await signedIn();
    const application = await makeApplication(ashlar);
    const fields = hiddenFields((await browser.get(authorizePath(application))).text, PATH);
    const sent = (changes: Record<string, string>) =>
      browser.post(PATH, {
        ...fields,
        request: authorizePath(application, changes).split('?')[1] ?? '',
        decision: 'approve',
      });
    expect((await sent({ redirect_uri: 'https://evil.example/' })).location).toBeNull();
    expect((await sent({ client_id: 'unknown' })).location).toBeNull();
    expect(authorizationResponseAt((await sent({ scope: 'sudo' })).location).error).toBe('invalid_scope');
    expect(authorizationResponseAt((await sent({ code_challenge: 'x' })).location).error).toBe(
      'invalid_request',
    );
    expect((await sent({ prompt: 'login' })).location).toContain('/users/sign_in?reauthenticate=1');
    expect((await browser.post(PATH, { ...fields, request: '', decision: 'approve' })).status).toBe(400);
    expect(await grantsOf(user)).toEqual([]);
  });

  test('CSRF: no approval without the token of the session, or from another site', async () => {
    const { user, browser } = await signedIn();
    const { browser: attacker } = await signedIn();
    const path = authorizePath(await makeApplication(ashlar));
    const fields: Record<string, string> = {
      ...hiddenFields((await browser.get(path)).text, PATH),
      decision: 'approve',
    };
    const foreign = hiddenFields((await attacker.get(path)).text, PATH).authenticity_token ?? '';
    const bare = { request: fields.request ?? '', decision: 'approve' };
    expect((await browser.post(PATH, bare)).status).toBe(403);
    expect((await browser.post(PATH, { ...fields, authenticity_token: foreign })).status).toBe(403);
    expect((await browser.post(PATH, fields, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect(await grantsOf(user)).toEqual([]);
    expect((await browser.post(PATH, fields, { 'sec-fetch-site': 'same-origin' })).status).toBe(303);
  });

  test('PKCE downgrade refused: plain, a public client without a challenge, a verifier without one, none for one', async () => {
    const { browser } = await signedIn();
    const application = await makeApplication(ashlar);
    const open = await makeApplication(ashlar, { confidential: false });
    const { verifier, parameters } = makeChallenge();
    const plain = { code_challenge: verifier, code_challenge_method: 'plain' };
    for (const [client, sent] of [
      [application, plain],
      [application, { code_challenge: parameters.code_challenge }],
      [open, {}],
      [open, plain],
    ] as const) {
      const { location } = await browser.get(authorizePath(client, sent));
      expect(authorizationResponseAt(location)).toMatchObject({ error: 'invalid_request', iss: ashlar.url });
    }
    const secret = { client_secret: application.secret };
    const bare = await authorize(browser, application);
    const added = await redeem(application, bare, { code_verifier: verifier, ...secret });
    expect([added.status, added.body.error]).toEqual([400, 'invalid_grant']);
    const bound = await authorize(browser, application, parameters);
    const removed = await redeem(application, bound);
    expect([removed.status, removed.body.error]).toEqual([400, 'invalid_request']);
    expect((await redeem(application, bound, { code_verifier: verifier, ...secret })).status).toBe(200);
  });

  test('mix-up: where it is turned on, iss stands on every answer to the client, once', async () => {
    const metadata = await ashlar.call('GET /.well-known/openid-configuration', { raw: true });
    expect(metadata.body.authorization_response_iss_parameter_supported).toBe(true);
    const { browser } = await signedIn();
    const application = await makeApplication(ashlar);
    for (const response of [
      await decide(browser, application, 'approve'),
      await decide(browser, application, 'deny'),
      await browser.get(authorizePath(application, { response_type: 'token' })),
    ])
      expect(new URL(response.location ?? '').searchParams.getAll('iss')).toEqual([ashlar.url]);
  });

  test('state untouched: every byte comes back, through the form, the skipped form and errors', async () => {
    const { browser } = await signedIn();
    const asking = await makeApplication(ashlar);
    const trusted = await makeApplication(ashlar, { trusted: true });
    for (const state of [
      ' a  b ',
      'x&code=evil&iss=evil#?=%25%+',
      '"><script>\'&amp;',
      'line\nline\r\nline\t',
      'ünï ☃ 🦀',
      'é',
      's'.repeat(4_096),
    ]) {
      for (const { location } of [
        await decide(browser, asking, 'approve', { state }),
        await decide(browser, asking, 'deny', { state }),
        await browser.get(authorizePath(trusted, { state })),
        await browser.get(authorizePath(trusted, { state, response_type: 'x' })),
      ])
        expect(new URL(location ?? '').searchParams.getAll('state')).toEqual([state]);
    }
    expect(authorizationResponseAt((await decide(browser, asking, 'approve')).location)).not.toHaveProperty(
      'state',
    );
    const twice = await browser.get(`${authorizePath(trusted, { state: 'a' })}&state=b`);
    expect(authorizationResponseAt(twice.location)).toEqual({
      error: 'invalid_request',
      error_description: 'Repeated parameter: state.',
      iss: ashlar.url,
    });
  });

  test('the query of the redirect URI is kept', async () => {
    const { browser } = await signedIn();
    const redirectUri = 'https://client.example.org/callback?tenant=%7e1&code=0';
    const application = await makeApplication(ashlar, { redirectUris: [redirectUri] });
    const { location } = await decide(browser, application, 'approve', { state: 's' });
    expect(location).toMatch(
      /^https:\/\/client\.example\.org\/callback\?tenant=%7e1&code=0&code=[0-9a-f]{64}&/,
    );
  });

  test('a code works once, and its replay revokes what it gave', async () => {
    const { browser } = await signedIn();
    const application = await makeApplication(ashlar);
    const code = await authorize(browser, application);
    const { access_token, refresh_token } = (await redeem(application, code)).body;
    expect(await statusOf(access_token)).toBe(200);
    const replayed = await redeem(application, code);
    expect([replayed.status, replayed.body.error]).toEqual([400, 'invalid_grant']);
    expect(await statusOf(access_token)).toBe(401);
    const refreshed = await redeem(application, '', { grant_type: 'refresh_token', refresh_token });
    expect([refreshed.status, refreshed.body.error]).toEqual([400, 'invalid_grant']);
    // A revoked approval no longer counts.
    expect((await browser.get(authorizePath(application))).status).toBe(200);
  });

  test('a code is bound to its redirect URI and its client, and lives ten minutes', async () => {
    const { browser } = await signedIn();
    const redirectUris = ['https://client.example.org/callback', 'https://client.example.org/other'];
    const application = await makeApplication(ashlar, { redirectUris });
    const thief = await makeApplication(ashlar);
    const code = await authorize(browser, application);
    const other = { redirect_uri: redirectUris[1] ?? '' };
    expect((await redeem(application, code, other)).body.error).toBe('invalid_grant');
    expect((await redeem(thief, code)).body.error).toBe('invalid_grant');
    const back = moveClock(600_000);
    try {
      expect((await redeem(application, code)).body.error).toBe('invalid_grant');
    } finally {
      back();
    }
    expect((await redeem(application, code)).status).toBe(200);
  });

  test('digests at rest: the code itself is stored nowhere', async () => {
    const { user, browser } = await signedIn();
    const code = await authorize(browser, await makeApplication(ashlar));
    const [grant] = await grantsOf(user);
    expect(grant?.code_digest).toEqual(digest(code));
    expect(JSON.stringify(grant)).not.toContain(code);
    expect(ashlar.log.join('\n')).not.toContain(code);
  });

  test.each([
    ['https://client.example.org/callback', "form-action 'self' https:;"],
    ['http://127.0.0.1:9/callback', "form-action 'self' http:;"],
    ['com.example.app:/callback', "form-action 'self' com.example.app:;"],
    [OUT_OF_BAND, "form-action 'self';"],
  ])('clickjacking, referrers, caches and forms: the consent page for %s', async (redirectUri, action) => {
    const { browser } = await signedIn();
    const { headers } = await browser.get(
      authorizePath(await makeApplication(ashlar, { redirectUris: [redirectUri] })),
    );
    expect(headers.get('content-security-policy')).toContain(action);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('the redirect that carries the code is kept by nobody and tells no referrer', async () => {
    const { browser } = await signedIn();
    const { headers } = await decide(browser, await makeApplication(ashlar), 'approve');
    expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual([
      'no-store',
      'no-referrer',
    ]);
  });

  test('what ends the session, the user or the application while the page is open ends the approval', async () => {
    const application = await makeApplication(ashlar);
    const blocked = await signedIn();
    const path = authorizePath(application);
    const fields = { ...hiddenFields((await blocked.browser.get(path)).text, PATH), decision: 'approve' };
    expect((await ashlar.root(`POST /users/${blocked.user.id}/block`)).status).toBe(201);
    expect((await blocked.browser.post(PATH, fields)).location).toBe('/users/sign_in');
    expect(await grantsOf(blocked.user)).toEqual([]);

    const { user, browser } = await signedIn();
    const open = { ...hiddenFields((await browser.get(path)).text, PATH), decision: 'approve' };
    await db().deleteFrom('oauth_applications').where('id', '=', application.id).execute();
    const response = await browser.post(PATH, open);
    expect([response.status, response.location]).toEqual([400, null]);
    expect(await grantsOf(user)).toEqual([]);
  });

  test('consent is for what was shown: scopes that the application got meanwhile are asked about anew', async () => {
    const { user, browser } = await signedIn();
    const application = await makeApplication(ashlar, { scopes: ['read_user'] });
    const path = authorizePath(application);
    const fields = { ...hiddenFields((await browser.get(path)).text, PATH), decision: 'approve' };
    await db()
      .updateTable('oauth_applications')
      .set({ scopes: ['read_user', 'api'] })
      .where('id', '=', application.id)
      .execute();
    const again = await browser.post(PATH, fields);
    expect([again.status, again.location]).toEqual([200, null]);
    expect(again.text).toContain('<code>api</code>');
    expect(await grantsOf(user)).toEqual([]);
    const approved = await browser.post(PATH, { ...hiddenFields(again.text, PATH), decision: 'approve' });
    expect(approved.status).toBe(303);
    expect(await grantsOf(user)).toEqual([expect.objectContaining({ scopes: ['api'] })]);
  });

  test('malformed text: a NUL in the request of a form, half a character in the name of a parameter', async () => {
    const { user, browser } = await signedIn();
    const application = await makeApplication(ashlar);
    const fields = hiddenFields((await browser.get(authorizePath(application))).text, PATH);
    const sent = (request: string) => browser.post(PATH, { ...fields, request, decision: 'approve' });
    expect((await sent('client_id=%00')).status).toBe(400);
    for (const name of ['nonce', 'state', 'scope']) {
      const { location } = await sent(`${fields.request}&${name}=%00`);
      expect([name, authorizationResponseAt(location).error]).toEqual([name, 'invalid_request']);
    }
    const halved = encodeURIComponent(`${'a'.repeat(99)}\u{1f600}`);
    const { location } = await browser.get(`${authorizePath(application)}&${halved}=1&${halved}=2`);
    expect(authorizationResponseAt(location).error).toBe('invalid_request');
    expect(await grantsOf(user)).toEqual([]);
  });
});
