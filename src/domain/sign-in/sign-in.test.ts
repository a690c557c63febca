import { describe, expect, test } from 'vitest';
import { ROOT_PASSWORD, useApp } from '../../../test/support/app.ts';
import {
  type Browser,
  withSettings as changeSettings,
  hiddenFields,
  openBrowser,
  signInAs,
} from '../../../test/support/browser.ts';
import { bodyOf, makeUser, uniqueName } from '../../../test/support/factories.ts';
import type { ApplicationSettings } from '../../core/settings/definitions.ts';
import { moveClock, now } from '../../platform/clock.ts';

const app = useApp();
const PASSWORD = 'correct horse battery staple';
const INVALID = 'Invalid login or password.';
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

const eventsOf = async (id: number): Promise<string[]> => {
  const events = await app.root('GET /audit_events', {
    query: `entity_type=User&entity_id=${id}&per_page=100`,
  });
  return bodyOf(events, 200).map((event: { event_name: string }) => event.event_name);
};

describe('signing in', () => {
  test('sets a cookie that the API takes, leads on, and is told to the audit log', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const browser = openBrowser(app);
      const page = await browser.get('/users/sign_in?return_to=%2F-%2Fprofile%2Fpassword%3Fa%3D1');
      expect(hiddenFields(page.text, '/users/sign_in').return_to).toBe('/-/profile/password?a=1');
      const answer = await browser.post('/users/sign_in', {
        login: user.username.toUpperCase(),
        password: PASSWORD,
        return_to: '/-/profile/password?a=1',
      });
      expect([answer.status, answer.location]).toEqual([303, '/-/profile/password?a=1']);
      expect(answer.headers.getSetCookie()).toEqual([
        expect.stringMatching(/^_service_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/),
      ]);
      expect((await browser.get('/')).text).toContain(`@${user.username}`);
      const current = bodyOf(await api(browser), 200);
      expect([current.id, current.current_sign_in_at]).toEqual([user.id, expect.any(String)]);
      expect(await eventsOf(user.id)).toContain('user_authenticated_with_standard_authentication');
    }));

  test('takes the mail address, a second one once it is confirmed', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const address = `${uniqueName('second')}@example.com`;
      await signIn(openBrowser(app), `${user.username}@EXAMPLE.com`).then((answer) =>
        expect(answer.status).toBe(303),
      );
      const add = (confirmed: boolean) =>
        app.app.services.database.db
          .insertInto('emails')
          .values({
            user_id: user.id,
            email: `${confirmed}-${address}`,
            confirmed_at: confirmed ? now() : null,
            created_at: now(),
            updated_at: now(),
          })
          .execute();
      await add(true);
      await add(false);
      expect((await signIn(openBrowser(app), `true-${address}`)).status).toBe(303);
      expect((await signIn(openBrowser(app), `false-${address}`)).alert).toBe(INVALID);
    }));

  test('a second sign-in moves the time of the first to last_sign_in_at', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const browser = openBrowser(app);
      await signIn(browser, user.username);
      const first = bodyOf(await api(browser), 200).current_sign_in_at;
      await browser.post('/users/sign_in', { login: user.username, password: PASSWORD });
      expect(bodyOf(await api(browser), 200).last_sign_in_at).toBe(first);
    }));

  test.each([
    ['an unknown user', 'nobody-at-all', PASSWORD],
    ['a wrong password', 'root', 'wrong'],
    ['no password', 'root', ''],
    ['nothing', '', ''],
    ['a NUL in the name', 'ro%00ot', PASSWORD],
  ])('%s gets the same text', (_case, login, password) =>
    quiet(async () => {
      const answer = await signIn(openBrowser(app), login, password);
      expect([answer.status, answer.alert, answer.headers.getSetCookie()]).toEqual([422, INVALID, []]);
    }),
  );

  test('what was typed comes back escaped', () =>
    quiet(async () => {
      const answer = await signIn(openBrowser(app), '"><script>alert(1)</script>', 'x');
      expect(answer.text).toContain('value="&quot;&gt;&lt;script&gt;');
      expect(answer.text).not.toContain('<script');
    }));

  test('a failed one is told to the audit log, without the password', () =>
    quiet(async () => {
      const user = await makeUser(app);
      await signIn(openBrowser(app), user.username, 'a wrong password');
      expect(await eventsOf(user.id)).toContain('login_failed_with_standard_authentication');
      expect(app.log.join('')).not.toContain('a wrong password');
    }));

  test('is refused where passwords are turned off', () =>
    withSettings({ password_authentication_enabled_for_web: false }, async () => {
      const browser = openBrowser(app);
      expect((await browser.get('/users/sign_in')).text).toContain('turned off');
      expect((await browser.post('/users/sign_in', { login: 'root', password: ROOT_PASSWORD })).status).toBe(
        403,
      );
      expect(browser.cookies.size).toBe(0);
    }));

  test('the signed-in are led past the form', () =>
    quiet(async () => {
      const browser = openBrowser(app);
      await signIn(browser, 'root', ROOT_PASSWORD);
      expect((await browser.get('/users/sign_in?return_to=/api/docs')).location).toBe('/api/docs');
      expect((await browser.get('/users/sign_in?return_to=//evil.example')).location).toBe('/');
    }));
});

describe('who may not, though the password is right', () => {
  const set = (
    id: number,
    values: { state?: string; confirmed_at?: null; kind?: string; deletion?: string },
  ) => app.app.services.database.db.updateTable('users').set(values).where('id', '=', id).execute();

  test.each([
    [{ state: 'blocked' }, /has been blocked/],
    [{ state: 'banned' }, /has been blocked/],
    [{ state: 'blocked_pending_approval' }, /pending approval/],
    [{ confirmed_at: null }, /confirm your email/],
    [{ kind: 'project_bot' }, /Invalid login/],
    [{ deletion: 'reassign' }, /Invalid login/],
  ])('%j', (values, text) =>
    withSettings({ email_confirmation_setting: 'hard' }, async () => {
      const user = await makeUser(app);
      await set(user.id, values);
      const browser = openBrowser(app);
      expect((await signIn(browser, user.username)).alert).toMatch(text);
      expect((await signIn(browser, user.username, 'wrong')).alert).toBe(INVALID);
      expect(browser.cookies.size).toBe(0);
    }),
  );

  test('deactivated users are active again', () =>
    quiet(async () => {
      const user = await makeUser(app);
      await set(user.id, { state: 'deactivated' });
      expect((await signIn(openBrowser(app), user.username)).status).toBe(303);
      expect(bodyOf(await app.root(`GET /users/${user.id}`), 200).state).toBe('active');
      expect(await eventsOf(user.id)).toContain('user_activated');
    }));

  test('blocking ends what a session can do', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const browser = openBrowser(app);
      await signIn(browser, user.username);
      await set(user.id, { state: 'blocked' });
      expect((await api(browser)).status).toBe(401);
      expect((await browser.get('/-/profile/password')).location).toMatch(/sign_in/);
    }));
});

describe('sessions', () => {
  test('one that the browser came with is never adopted, and the old one ends', () =>
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
      const answer = await browser.submit('/', {}, '/users/sign_out');
      expect([answer.status, answer.location]).toEqual([303, '/users/sign_in']);
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
      const answer = await browser.submit('/', {}, '/users/sign_out');
      expect([answer.status, answer.location, answer.headers.get('refresh')]).toEqual([
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
    ['same origin', { 'sec-fetch-site': 'same-origin' }, 303],
    ['typed by hand', { 'sec-fetch-site': 'none' }, 303],
    ['cross-site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a sibling domain', { 'sec-fetch-site': 'same-site' }, 403],
    ['another origin', { origin: 'https://evil.example' }, 403],
    ['an opaque origin', { origin: 'null' }, 403],
    ['no browser', {}, 303],
  ])('%s', (_case, headers: Record<string, string>, status) =>
    quiet(async () => {
      const answer = await openBrowser(app).post(
        '/users/sign_in',
        { login: 'root', password: ROOT_PASSWORD },
        headers,
      );
      expect(answer.status).toBe(status);
      expect(answer.headers.getSetCookie()).toHaveLength(status === 303 ? 1 : 0);
    }),
  );

  test('our own origin, as a browser on plain http names it', () =>
    quiet(async () => {
      const fields = { login: 'root', password: ROOT_PASSWORD };
      expect((await openBrowser(app).post('/users/sign_in', fields, { origin: app.url })).status).toBe(303);
    }));
});

describe('lockout', () => {
  const lockout = { max_login_attempts: 3, failed_login_attempts_unlock_period_in_minutes: 10 };

  test('after so many failures even the right password is refused, in the same words, until the period is over', () =>
    withSettings(lockout, async () => {
      const user = await makeUser(app);
      const browser = openBrowser(app);
      for (const password of ['a', 'b', 'c']) await signIn(browser, user.username, password);
      expect(bodyOf(await app.root(`GET /users/${user.id}`), 200).locked).toBe(true);
      expect((await signIn(browser, user.username)).alert).toBe(INVALID);
      const back = moveClock(10 * 60_000 + 1_000);
      try {
        expect((await signIn(browser, user.username)).status).toBe(303);
        expect(bodyOf(await app.root(`GET /users/${user.id}`), 200).locked).toBe(false);
      } finally {
        back();
      }
    }));

  test('the right password starts the count anew', () =>
    withSettings(lockout, async () => {
      const user = await makeUser(app);
      for (const password of ['a', 'b', PASSWORD, 'c', 'd'])
        await signIn(openBrowser(app), user.username, password);
      expect((await signIn(openBrowser(app), user.username)).status).toBe(303);
    }));

  test('guesses sent at once are no more guesses than one by one', () =>
    withSettings(lockout, async () => {
      const user = await makeUser(app);
      const guess = (password: string) =>
        openBrowser(app).post('/users/sign_in', { login: user.username, password });
      await Promise.all(Array.from({ length: 12 }, (_, index) => guess(`guess ${index}`)));
      expect((await guess(PASSWORD)).alert).toBe(INVALID);
      const row = await app.app.services.database.db
        .selectFrom('users')
        .select('failed_attempts')
        .where('id', '=', user.id)
        .executeTakeFirstOrThrow();
      expect(row.failed_attempts).toBe(3);
    }));
});

describe('throttle of protected paths', () => {
  test('more than ten POSTs a minute from one address are refused in plain text', () =>
    withSettings(
      { throttle_protected_paths_enabled: true, rate_limiting_response_text: 'Slow down.' },
      async () => {
        // Two windows hold twenty, should a minute end in between.
        const answers = [];
        for (let count = 0; count < 21; count++)
          answers.push(await openBrowser(app).post('/users/sign_in', {}));
        const refused = answers.find(({ status }) => status === 429);
        expect(answers[0]?.status).toBe(422);
        expect(refused?.text).toBe('Slow down.\n');
        expect(refused?.headers.get('content-type')).toContain('text/plain');
        expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
        expect((await openBrowser(app).get('/users/sign_in')).status).toBe(200);
      },
    ));

  test('pages have throttles of their own', () =>
    withSettings(
      { throttle_unauthenticated_web_enabled: true, throttle_unauthenticated_web_requests_per_period: 2 },
      async () => {
        const statuses = [];
        for (let count = 0; count < 5; count++) statuses.push((await openBrowser(app).get('/')).status);
        expect(statuses).toContain(200);
        expect(statuses).toContain(429);
      },
    ));
});
