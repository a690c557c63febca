/** /oauth/authorize over HTTP: consent, signing in on the way, scopes, and the responses to clients. */
import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { openBrowser, signInAs, withSettings } from '../../../../test/support/browser.ts';
import { auditEventsOf, makeUser } from '../../../../test/support/factories.ts';
import {
  authorizationResponseAt,
  authorizationsOf,
  authorize,
  authorizePath,
  decide,
  makeApplication,
  makeChallenge,
} from '../../../../test/support/oauth.ts';
import { moveClock, now } from '../../../platform/clock.ts';

const ashlar = useApp();
const { signedIn, redeem, grantsOf, statusOf } = authorizationsOf(ashlar);
const PATH = '/oauth/authorize';
const PASSWORD = 'correct horse battery staple';
const OUT_OF_BAND = 'urn:ietf:wg:oauth:2.0:oob';
const db = () => ashlar.app.services.database.db;

describe('consent', () => {
  test('says who asks for what, for whom, and where it leads; approving gives a code that works', async () => {
    const { user, browser } = await signedIn();
    const application = await makeApplication(ashlar, { name: 'Lamp <1>' });
    const page = await browser.get(authorizePath(application, { scope: 'read_user' }));
    expect(page.status).toBe(200);
    for (const text of [
      'Lamp &lt;1&gt;',
      'Read your profile, with your mail addresses.',
      'client.example.org',
      `@${user.username}`,
    ])
      expect(page.text).toContain(text);
    expect(page.text).not.toContain('verified');
    expect(page.text).not.toContain('Do everything that you can do');
    expect(await grantsOf(user)).toEqual([]);

    const code = await authorize(browser, application, { scope: 'read_user' });
    const redeemed = await redeem(application, code);
    expect([redeemed.status, redeemed.body?.scope]).toEqual([200, 'read_user']);
    expect(await statusOf(redeemed.body.access_token)).toBe(200);
    expect(await auditEventsOf(ashlar, user.id)).toContain('user_authorized_oauth_application');
  });

  test('denied, the client reads access_denied, and nothing is granted', async () => {
    const { user, browser } = await signedIn();
    const application = await makeApplication(ashlar);
    const { status, location } = await decide(browser, application, 'deny', { state: 's' });
    expect(status).toBe(303);
    expect(authorizationResponseAt(location)).toEqual({
      error: 'access_denied',
      error_description: 'The resource owner or authorization server denied the request.',
      state: 's',
    });
    expect(await grantsOf(user)).toEqual([]);
  });

  test('an application that registered itself is called unverified', async () => {
    const { browser } = await signedIn();
    const application = await makeApplication(ashlar, { dynamic: true });
    const { parameters } = makeChallenge();
    expect((await browser.get(authorizePath(application, parameters))).text).toContain('nobody has verified');
  });

  test('is asked for once: not again for scopes that were approved, but for more, and when the client wants it', async () => {
    const { browser } = await signedIn();
    const application = await makeApplication(ashlar);
    const read = { scope: 'read_user' };
    const first = await authorize(browser, application, read);
    // A code that was not redeemed proves nothing.
    expect((await browser.get(authorizePath(application, read))).status).toBe(200);
    const { access_token } = (await redeem(application, first)).body;
    expect((await browser.get(authorizePath(application, read))).status).toBe(303);
    expect((await browser.get(authorizePath(application, { scope: 'read_user api' }))).status).toBe(200);
    expect((await browser.get(authorizePath(application, { ...read, prompt: 'consent' }))).status).toBe(200);
    const { browser: other } = await signedIn();
    expect((await other.get(authorizePath(application, read))).status).toBe(200);

    const form = `client_id=${application.uid}&client_secret=${application.secret}&token=${access_token}`;
    expect((await ashlar.call('POST /oauth/revoke', { raw: true, form })).status).toBe(200);
    expect((await browser.get(authorizePath(application, read))).status).toBe(200);
  });

  test('is not asked for by trusted applications; a public client always asks', async () => {
    const { browser } = await signedIn();
    const { verifier, parameters } = makeChallenge();
    const trusted = await makeApplication(ashlar, { trusted: true });
    expect(authorizationResponseAt((await browser.get(authorizePath(trusted))).location)).toHaveProperty(
      'code',
    );
    const open = await makeApplication(ashlar, { confidential: false });
    const code = await authorize(browser, open, parameters);
    expect((await redeem(open, code, { code_verifier: verifier })).status).toBe(200);
    expect((await browser.get(authorizePath(open, makeChallenge().parameters))).status).toBe(200);
  });

  test('a decision that is none is refused', async () => {
    const { user, browser } = await signedIn();
    const path = authorizePath(await makeApplication(ashlar));
    expect((await browser.submit(path, { decision: 'perhaps' }, PATH)).status).toBe(400);
    expect((await browser.submit(path, {}, PATH)).status).toBe(400);
    expect(await grantsOf(user)).toEqual([]);
  });

  test('a user whose address is unconfirmed approves nothing', async () => {
    const { user, browser } = await signedIn();
    await db().updateTable('users').set({ confirmed_at: null }).where('id', '=', user.id).execute();
    const page = await browser.get(authorizePath(await makeApplication(ashlar, { trusted: true })));
    expect([page.status, page.alert]).toEqual([403, expect.stringContaining('confirm your email')]);
    expect(await grantsOf(user)).toEqual([]);
  });
});

describe('signing in on the way', () => {
  test('leads to sign-in and back, with the request as it was', async () => {
    const user = await makeUser(ashlar);
    const application = await makeApplication(ashlar);
    const path = authorizePath(application, { state: 'a b&c' });
    const browser = openBrowser(ashlar);
    const { status, location } = await browser.get(path);
    expect([status, location]).toEqual([303, `/users/sign_in?return_to=${encodeURIComponent(path)}`]);
    await signInAs(browser, user.username, PASSWORD);
    expect(
      authorizationResponseAt((await decide(browser, application, 'approve', { state: 'a b&c' })).location)
        .state,
    ).toBe('a b&c');
  });

  test('prompt=none asks nobody: the client reads login_required, or consent_required', async () => {
    const application = await makeApplication(ashlar);
    const path = authorizePath(application, { prompt: 'none', state: 's' });
    const expected = { state: 's', error_description: expect.any(String) };
    expect(authorizationResponseAt((await openBrowser(ashlar).get(path)).location)).toEqual({
      ...expected,
      error: 'login_required',
    });
    const { browser } = await signedIn();
    expect(authorizationResponseAt((await browser.get(path)).location)).toEqual({
      ...expected,
      error: 'consent_required',
    });
    await redeem(application, await authorize(browser, application));
    expect(authorizationResponseAt((await browser.get(path)).location)).toHaveProperty('code');
  });

  test('prompt=login and max_age make the user sign in anew, once; the grant knows when that was', async () => {
    const { user, browser } = await signedIn();
    const application = await makeApplication(ashlar, { trusted: true });
    const again = (path: string) =>
      `/users/sign_in?reauthenticate=1&return_to=${encodeURIComponent(path.replace(/&(prompt|max_age)=\w+/, ''))}`;
    const login = authorizePath(application, { prompt: 'login' });
    expect((await browser.get(login)).location).toBe(again(login));
    const young = authorizePath(application, { max_age: '60' });
    expect((await browser.get(young)).status).toBe(303);
    expect(await grantsOf(user)).toHaveLength(1);
    const back = moveClock(61_000);
    try {
      expect((await browser.get(young)).location).toBe(again(young));
      expect(await grantsOf(user)).toHaveLength(1);
      const since = now();
      await browser.submit(
        '/users/sign_in?reauthenticate=1',
        { login: user.username, password: PASSWORD },
        '/users/sign_in',
      );
      expect(authorizationResponseAt((await browser.get(young)).location)).toHaveProperty('code');
      const grants = await grantsOf(user);
      expect(grants).toHaveLength(2);
      expect(Math.max(...grants.map((grant) => Number(grant.authenticated_at)))).toBeGreaterThanOrEqual(
        since.getTime(),
      );
    } finally {
      back();
    }
  });
});

describe('scopes', () => {
  test('what only administrators can give is refused to others', async () => {
    const application = await makeApplication(ashlar, {
      scopes: ['sudo', 'admin_mode', 'read_service_ping'],
    });
    const { browser } = await signedIn();
    const { browser: admin } = await signedIn({ admin: true });
    for (const scope of ['sudo', 'admin_mode', 'read_service_ping']) {
      const path = authorizePath(application, { scope });
      expect(authorizationResponseAt((await browser.get(path)).location).error).toBe('invalid_scope');
      expect((await admin.get(path)).status).toBe(200);
    }
  });

  test('disable_admin_oauth_scopes: administrators give api to trusted applications alone', () =>
    withSettings(ashlar, { disable_admin_oauth_scopes: true }, async () => {
      const { browser: admin } = await signedIn({ admin: true });
      const application = await makeApplication(ashlar);
      expect(authorizationResponseAt((await admin.get(authorizePath(application))).location).error).toBe(
        'invalid_scope',
      );
      const trusted = await makeApplication(ashlar, { trusted: true });
      expect(authorizationResponseAt((await admin.get(authorizePath(trusted))).location)).toHaveProperty(
        'code',
      );
      const { browser } = await signedIn();
      expect((await browser.get(authorizePath(application))).status).toBe(200);
    }));

  test('no more than the application has', async () => {
    const { browser } = await signedIn();
    const application = await makeApplication(ashlar, { scopes: ['read_user'] });
    const { location } = await browser.get(
      authorizePath(application, { scope: 'read_user api', state: 's' }),
    );
    expect(authorizationResponseAt(location)).toMatchObject({ error: 'invalid_scope', state: 's' });
  });
});

describe('out of band', () => {
  test('the code stands on a page of its own user, until it is used; errors on a page too', async () => {
    const { browser } = await signedIn();
    const application = await makeApplication(ashlar, { redirectUris: [OUT_OF_BAND] });
    const { location } = await decide(browser, application, 'approve');
    const code = /^\/oauth\/authorize\/native\?code=([0-9a-f]{64})$/.exec(location ?? '')?.[1] ?? '';
    const page = await browser.get(location ?? '');
    expect([page.status, page.text]).toEqual([200, expect.stringContaining(`<code>${code}</code>`)]);
    const { browser: other } = await signedIn();
    expect((await other.get(location ?? '')).status).toBe(404);
    expect((await redeem(application, code)).status).toBe(200);
    expect((await browser.get(location ?? '')).status).toBe(404);
    const denied = await decide(browser, application, 'deny', { prompt: 'consent' });
    expect([denied.status, denied.location]).toEqual([400, null]);
  });
});
