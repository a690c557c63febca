import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  type Browser,
  withSettings as changeSettings,
  hiddenFields,
  openBrowser,
  signInAs,
} from '../../../../test/support/browser.ts';
import { makeUser } from '../../../../test/support/factories.ts';
import { authorizePath, makeApplication } from '../../../../test/support/oauth.ts';
import { moveClock } from '../../../platform/clock.ts';

const app = useApp();
const PASSWORD = 'correct horse battery staple';
const PATH = '/-/profile/active_sessions';

const quiet = <T>(work: () => Promise<T>) => changeSettings(app, {}, work);

async function signedIn(username: string, userAgent?: string): Promise<Browser> {
  const browser = openBrowser(app);
  const headers = userAgent === undefined ? undefined : { 'user-agent': userAgent };
  const response = await browser.post('/users/sign_in', { login: username, password: PASSWORD }, headers);
  expect(response.status).toBe(302);
  return browser;
}

const isSignedIn = async (browser: Browser): Promise<boolean> => (await browser.get(PATH)).status === 200;
const revokePaths = (page: string): string[] =>
  [...page.matchAll(/action="([^"]*\/revoke)"/g)].map(([, path = '']) => path);

describe('active sessions', () => {
  test('show from where, with what, since when, and which is this one', () =>
    quiet(async () => {
      const user = await makeUser(app);
      await signedIn(user.username, 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0');
      const here = await signedIn(user.username, '<b>curl</b>');
      const { text } = await here.get(PATH);
      expect(text).toContain('<strong>Firefox on Linux</strong>');
      expect(text).toMatch(/<strong>Unknown browser<\/strong> <span class="tag">this browser<\/span>/);
      expect(text).not.toContain('<b>curl');
      expect(text.match(/From 127\.0\.0\.1, since <time datetime="20[\d-]+T[\d:.]+Z">/g)).toHaveLength(2);
      expect(revokePaths(text)).toHaveLength(1);
    }));

  test('one that is ended is at the door at once', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const [here, there] = [await signedIn(user.username), await signedIn(user.username)];
      const page = await here.get(PATH);
      const [path = ''] = revokePaths(page.text);
      const response = await here.post(path, hiddenFields(page.text, path));
      expect([response.status, response.location]).toEqual([303, PATH]);
      expect([await isSignedIn(here), await isSignedIn(there)]).toEqual([true, false]);
    }));

  test('all others end together', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const stranger = await signedIn((await makeUser(app)).username);
      const all = [
        await signedIn(user.username),
        await signedIn(user.username),
        await signedIn(user.username),
      ];
      const [here, ...others] = all;
      if (!here) throw new Error('nobody signed in');
      expect((await here.submit(PATH, {}, `${PATH}/revoke_others`)).status).toBe(303);
      expect(await Promise.all([here, stranger, ...others].map(isSignedIn))).toEqual([
        true,
        true,
        false,
        false,
      ]);
      expect((await here.get(PATH)).text).not.toContain('revoke_others');
    }));

  test('of others are out of reach, and so is ending without the token of the form', () =>
    quiet(async () => {
      const [user, other] = [await makeUser(app), await makeUser(app)];
      const [victim, second] = [await signedIn(user.username), await signedIn(user.username)];
      const [path = ''] = revokePaths((await victim.get(PATH)).text);
      const thief = await signedIn(other.username);
      await signedIn(other.username);
      const own = await thief.get(PATH);
      const token = hiddenFields(own.text, revokePaths(own.text)[0] ?? '');
      expect((await thief.post(path, token)).status).toBe(303);
      expect((await victim.post(path, {})).status).toBe(403);
      expect((await openBrowser(app).post(path, token)).location).toBe('/users/sign_in');
      expect(await isSignedIn(second)).toBe(true);
      expect((await thief.post(`${PATH}/x/revoke`, token)).status).toBe(303);
    }));

  test('that have run out are not listed', () =>
    changeSettings(app, { session_expire_delay: 60 }, async () => {
      const user = await makeUser(app);
      await signedIn(user.username);
      const back = moveClock(61 * 60_000);
      try {
        const here = await signedIn(user.username);
        expect(revokePaths((await here.get(PATH)).text)).toEqual([]);
      } finally {
        back();
      }
    }));
});

describe('signing in for an application', () => {
  const target = '/oauth/authorize?client_id=abc&redirect_uri=https%3A%2F%2Fclient.example';

  test('leads on with 302', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const browser = openBrowser(app);
      const response = await browser.submit(
        `/users/sign_in?return_to=${encodeURIComponent(target)}`,
        {
          login: user.username,
          password: PASSWORD,
        },
        '/users/sign_in',
      );
      expect([response.status, response.location, browser.cookies.size]).toEqual([302, target, 1]);
      expect(response.headers.get('refresh')).toBeNull();
    }));

  test('names in form-action where the application is answered, and nothing that is not registered', () =>
    quiet(async () => {
      const redirectUris = [
        'https://client.example:8443/callback?x=1',
        'http://127.0.0.1:9/callback',
        'com.example.app:/callback',
        'urn:ietf:wg:oauth:2.0:oob',
      ];
      const application = await makeApplication(app, { redirectUris });
      const actionAt = async (returnTo: string) => {
        const { headers } = await openBrowser(app).get(
          `/users/sign_in?return_to=${encodeURIComponent(returnTo)}`,
        );
        return /form-action ([^;]*);/.exec(headers.get('content-security-policy') ?? '')?.[1];
      };
      const [web, local, native, oob] = redirectUris.map((redirectUri) =>
        authorizePath({ uid: application.uid, redirectUri }),
      );
      expect(await actionAt(web ?? '')).toBe("'self' https://client.example:8443");
      expect(await actionAt(local ?? '')).toBe("'self' http://127.0.0.1:9");
      expect(await actionAt(native ?? '')).toBe("'self' com.example.app:");
      for (const other of [
        oob ?? '',
        authorizePath({ uid: application.uid, redirectUri: 'https://client.example:8443/else' }),
        authorizePath({ uid: application.uid, redirectUri: 'https://evil.example/' }),
        authorizePath({ uid: application.uid, redirectUri: 'https://evil.example/\0' }),
        authorizePath({ uid: 'another', redirectUri: redirectUris[0] ?? '' }),
        (web ?? '').replace('/oauth/authorize', '/oauth/authorized'),
        (web ?? '').replace('/oauth/authorize', '//evil.example/oauth/authorize'),
        '/oauth/authorize',
        '/',
      ])
        expect([other, await actionAt(other)]).toEqual([other, "'self'"]);
    }));

  test('names it again behind a wrong password, and before the second step', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const application = await makeApplication(app);
      const path = `/users/sign_in?return_to=${encodeURIComponent(authorizePath(application))}`;
      const browser = openBrowser(app);
      const submit = (password: string) =>
        browser.submit(path, { login: user.username, password }, '/users/sign_in');
      const policy = "form-action 'self' https://client.example.org;";
      const wrong = await submit('wrong');
      expect([wrong.status, wrong.headers.get('content-security-policy')]).toEqual([
        422,
        expect.stringContaining(policy),
      ]);
      const { sql } = app.app.services.database;
      await sql`update users set otp_enabled_at = now() where id = ${user.id}`;
      const second = await submit(PASSWORD);
      expect([second.status, second.text]).toEqual([200, expect.stringContaining('Two-factor')]);
      expect(second.headers.get('content-security-policy')).toContain(policy);
    }));

  test('asks again who is signed in already, and ends the old session', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const browser = await signedIn(user.username);
      const before = browser.cookieHeader();
      const path = `/users/sign_in?return_to=${encodeURIComponent(target)}`;
      expect((await browser.get(path)).location).toBe(target);
      const page = await browser.get(`${path}&reauthenticate=1`);
      expect(page.status).toBe(200);
      expect(page.text).toMatch(new RegExp(`<input id="login"[^>]*value="${user.username}"`));
      const fields = hiddenFields(page.text, '/users/sign_in');
      await browser.post('/users/sign_in', { ...fields, login: user.username, password: PASSWORD });
      expect(browser.cookieHeader()).not.toBe(before);
      const old = await app.call('GET /user', { headers: { cookie: before } });
      expect(old.status).toBe(401);
    }));
});

test('blocking an account ends its sessions for good, and what it granted', () =>
  quiet(async () => {
    const user = await makeUser(app);
    const browser = await signedIn(user.username);
    const { sql } = app.app.services.database;
    await sql`insert into oauth_grants (user_id, kind, scopes, created_at)
      values (${user.id}, 'password', array['api'], now())`;
    await app.root(`POST /users/${user.id}/block`);
    await app.root(`POST /users/${user.id}/unblock`);
    expect(await isSignedIn(browser)).toBe(false);
    const [left] = await sql<{ count: number }[]>`select count(*)::integer as count from oauth_grants
      where user_id = ${user.id} and revoked_at is null`;
    expect(left?.count).toBe(0);
    expect((await signInAs(openBrowser(app), user.username, PASSWORD)).status).toBe(302);
  }));
