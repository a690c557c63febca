import { describe, expect, test } from 'vitest';
import { ROOT_PASSWORD, useApp } from '../../../../test/support/app.ts';
import {
  type Browser,
  withSettings as changeSettings,
  openBrowser,
  signInAs,
} from '../../../../test/support/browser.ts';
import { makeUser } from '../../../../test/support/factories.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { moveClock } from '../../../platform/clock.ts';

const app = useApp();
const PASSWORD = 'correct horse battery staple';
const COOKIE = '_service_session';

const signIn = (browser: Browser, login: string, password = PASSWORD) => signInAs(browser, login, password);

const api = (browser: Browser, request = 'GET /user', headers: Record<string, string> = {}, body?: unknown) =>
  app.call(request, {
    headers: { cookie: browser.cookieHeader(), ...headers },
    ...(body !== undefined && { body }),
  });

const csrfOf = async (browser: Browser) =>
  /name="csrf-token" content="([^"]+)"/.exec((await browser.get('/')).text)?.[1] ?? '';

const withSettings = <T>(changes: Partial<ApplicationSettings>, work: () => Promise<T>) =>
  changeSettings(app, changes, work);
const quiet = <T>(work: () => Promise<T>) => withSettings({}, work);

describe('sessions', () => {
  test('session fixation: one that the browser came with is never adopted, and the old one ends', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const browser = openBrowser(app);
      browser.cookies.set(COOKIE, 'chosen-by-an-attacker');
      await signIn(browser, user.username);
      const first = browser.cookies.get(COOKIE) ?? '';
      expect(first).not.toBe('chosen-by-an-attacker');
      await browser.post('/users/sign_in', { login: user.username, password: PASSWORD });
      expect(browser.cookies.get(COOKIE)).not.toBe(first);
      expect((await api(browser)).status).toBe(200);
      expect((await app.call('GET /user', { headers: { cookie: `${COOKIE}=${first}` } })).status).toBe(401);
    }));

  test('the database holds no text that signs in', () =>
    quiet(async () => {
      const browser = openBrowser(app);
      await signIn(browser, 'root', ROOT_PASSWORD);
      const { sql } = app.app.services.database;
      const rows = await sql`select * from sessions`;
      expect(JSON.stringify(rows)).not.toContain(browser.cookies.get(COOKIE));
    }));

  test('writes need the CSRF token: without it the cookie is nobody', () =>
    quiet(async () => {
      const browser = openBrowser(app);
      await signIn(browser, 'root', ROOT_PASSWORD);
      const write = (headers: Record<string, string>) =>
        api(browser, 'PUT /user/status', headers, { message: 'here' }).then(({ status }) => status);
      expect(await write({})).toBe(401);
      expect(await write({ 'x-csrf-token': 'wrong' })).toBe(401);
      const other = openBrowser(app);
      await signIn(other, 'root', ROOT_PASSWORD);
      expect(await write({ 'x-csrf-token': await csrfOf(other) })).toBe(401);
      expect(await write({ 'x-csrf-token': await csrfOf(browser) })).toBe(200);
    }));

  test('a session expires by its last use, or by its beginning', () =>
    withSettings({ session_expire_delay: 60 }, async () => {
      const browser = openBrowser(app);
      await signIn(browser, 'root', ROOT_PASSWORD);
      const back = [moveClock(50 * 60_000)];
      try {
        expect((await api(browser)).status).toBe(200);
        back.push(moveClock(50 * 60_000));
        expect((await api(browser)).status).toBe(200);
        await withSettings({ session_expire_from_init: true }, async () => {
          expect((await api(browser)).status).toBe(401);
        });
        back.push(moveClock(61 * 60_000));
        expect((await api(browser)).status).toBe(401);
        const count = () => app.app.services.database.sql`select count(*)::integer as left from sessions`;
        await app.app.capabilities.find(({ name }) => name === 'sign-in')?.tasks?.forget_sessions?.({});
        expect((await count())[0]).toEqual({ left: 0 });
      } finally {
        for (const undo of back) undo();
      }
    }));

  test('signing out ends it, and needs its token', () =>
    quiet(async () => {
      const browser = openBrowser(app);
      await signIn(browser, 'root', ROOT_PASSWORD);
      const cookie = browser.cookieHeader();
      expect((await browser.post('/users/sign_out', {})).status).toBe(403);
      expect((await api(browser)).status).toBe(200);
      const response = await browser.submit('/', {}, '/users/sign_out');
      expect([response.status, response.location]).toEqual([303, '/users/sign_in']);
      expect(browser.cookies.has(COOKIE)).toBe(false);
      expect((await app.call('GET /user', { headers: { cookie } })).status).toBe(401);
    }));

  test.each([
    ['/-/bye', 303, '/-/bye', null],
    ['https://example.com/bye', 200, null, '0; url=https://example.com/bye'],
    ['javascript:alert(1)', 303, '/users/sign_in', null],
  ])('after_sign_out_path %s', (after_sign_out_path, status, location, refresh) =>
    withSettings({ after_sign_out_path }, async () => {
      const browser = openBrowser(app);
      await signIn(browser, 'root', ROOT_PASSWORD);
      const response = await browser.submit('/', {}, '/users/sign_out');
      expect([response.status, response.location, response.headers.get('refresh')]).toEqual([
        status,
        location,
        refresh,
      ]);
    }),
  );

  test('the API never begins one', async () => {
    expect((await app.root('GET /user')).headers.getSetCookie()).toEqual([]);
  });
});

describe('requests from other sites', () => {
  test.each([
    ['same origin', { 'sec-fetch-site': 'same-origin' }, 302],
    ['typed by hand', { 'sec-fetch-site': 'none' }, 302],
    ['cross-site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a sibling domain', { 'sec-fetch-site': 'same-site' }, 403],
    ['another origin', { origin: 'https://evil.example' }, 403],
    ['an opaque origin', { origin: 'null' }, 403],
    ['no browser', {}, 302],
  ])('%s', (_case, headers: Record<string, string>, status) =>
    quiet(async () => {
      const response = await openBrowser(app).post(
        '/users/sign_in',
        { login: 'root', password: ROOT_PASSWORD },
        headers,
      );
      expect(response.status).toBe(status);
      expect(response.headers.getSetCookie()).toHaveLength(status === 302 ? 1 : 0);
    }),
  );

  test('our own origin, as a browser on plain http names it', () =>
    quiet(async () => {
      const fields = { login: 'root', password: ROOT_PASSWORD };
      expect((await openBrowser(app).post('/users/sign_in', fields, { origin: app.url })).status).toBe(302);
    }));
});
