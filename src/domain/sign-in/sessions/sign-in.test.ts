import { describe, expect, test } from 'vitest';
import { ROOT_PASSWORD, useApp } from '../../../../test/support/app.ts';
import {
  type Browser,
  withSettings as changeSettings,
  hiddenFields,
  openBrowser,
  signInAs,
} from '../../../../test/support/browser.ts';
import {
  auditEventsOf,
  bodyOf,
  makeGroup,
  makeUser,
  uniqueName,
} from '../../../../test/support/factories.ts';
import { type ApplicationSettings, defaultSettings } from '../../../kernel/settings/definitions.ts';
import { moveClock, now } from '../../../platform/clock.ts';

const app = useApp();
const PASSWORD = 'correct horse battery staple';
const INVALID = 'Invalid login or password.';

const signIn = (browser: Browser, login: string, password = PASSWORD) => signInAs(browser, login, password);

const api = (browser: Browser, request = 'GET /user', headers: Record<string, string> = {}, body?: unknown) =>
  app.call(request, {
    headers: { cookie: browser.cookieHeader(), ...headers },
    ...(body !== undefined && { body }),
  });

const withSettings = <T>(changes: Partial<ApplicationSettings>, work: () => Promise<T>) =>
  changeSettings(app, changes, work);
const quiet = <T>(work: () => Promise<T>) => withSettings({}, work);

describe('signing in', () => {
  test('sets a cookie that the API takes, leads on, and is told to the audit log', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const browser = openBrowser(app);
      const page = await browser.get('/users/sign_in?return_to=%2F-%2Fprofile%2Fpassword%3Fa%3D1');
      expect(hiddenFields(page.text, '/users/sign_in').return_to).toBe('/-/profile/password?a=1');
      const response = await browser.post('/users/sign_in', {
        login: user.username.toUpperCase(),
        password: PASSWORD,
        return_to: '/-/profile/password?a=1',
      });
      expect([response.status, response.location]).toEqual([302, '/-/profile/password?a=1']);
      expect(response.headers.getSetCookie()).toEqual([
        expect.stringMatching(/^_service_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/),
      ]);
      expect((await browser.get('/')).text).toContain(`@${user.username}`);
      const current = bodyOf(await api(browser), 200);
      expect([current.id, current.current_sign_in_at]).toEqual([user.id, expect.any(String)]);
      expect(await auditEventsOf(app, user.id)).toContain('user_authenticated_with_standard_authentication');
    }));

  test('takes the mail address, a second one once it is confirmed', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const address = `${uniqueName('second')}@example.com`;
      await signIn(openBrowser(app), `${user.username}@EXAMPLE.com`).then((response) =>
        expect(response.status).toBe(302),
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
      expect((await signIn(openBrowser(app), `true-${address}`)).status).toBe(302);
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
      const response = await signIn(openBrowser(app), login, password);
      expect([response.status, response.alert, response.headers.getSetCookie()]).toEqual([422, INVALID, []]);
    }),
  );

  test('what was typed comes back escaped', () =>
    quiet(async () => {
      const response = await signIn(openBrowser(app), '"><script>alert(1)</script>', 'x');
      expect(response.text).toContain('value="&quot;&gt;&lt;script&gt;');
      expect(response.text).not.toContain('<script');
    }));

  test('a failed one is told to the audit log, without the password', () =>
    quiet(async () => {
      const user = await makeUser(app);
      await signIn(openBrowser(app), user.username, 'a wrong password');
      expect(await auditEventsOf(app, user.id)).toContain('login_failed_with_standard_authentication');
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

  test('enterprise users whose group turned passwords off', () =>
    quiet(async () => {
      const { sql } = app.app.services.database;
      const [user, group] = [await makeUser(app), await makeGroup(app)];
      await sql`update users set enterprise_group_id = ${group.id} where id = ${user.id}`;
      expect((await signIn(openBrowser(app), user.username)).status).toBe(302);
      await sql`update namespaces set settings = settings || '{"disable_password_authentication_for_enterprise_users": true}'
        where id = ${group.id}`;
      expect((await signIn(openBrowser(app), user.username)).alert).toMatch(/group .* turned off/);
    }));

  test('deactivated users are active again', () =>
    quiet(async () => {
      const user = await makeUser(app);
      await set(user.id, { state: 'deactivated' });
      expect((await signIn(openBrowser(app), user.username)).status).toBe(302);
      expect(bodyOf(await app.root(`GET /users/${user.id}`), 200).state).toBe('active');
      expect(await auditEventsOf(app, user.id)).toContain('user_activated');
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
        expect((await signIn(browser, user.username)).status).toBe(302);
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
      expect((await signIn(openBrowser(app), user.username)).status).toBe(302);
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
  test('ten POSTs a minute, unless set otherwise', () => {
    expect(defaultSettings).toMatchObject({
      throttle_protected_paths_enabled: true,
      throttle_protected_paths_requests_per_period: 10,
      throttle_protected_paths_period_in_seconds: 60,
    });
  });

  test('too many POSTs from one address are refused in plain text, over all such paths', () =>
    withSettings(
      {
        throttle_protected_paths_enabled: true,
        throttle_protected_paths_requests_per_period: 2,
        throttle_protected_paths_period_in_seconds: 3_600,
        rate_limiting_response_text: 'Slow down.',
      },
      async () => {
        // Two windows hold four, should an hour end in between.
        const responses = [];
        for (const path of ['/users/sign_in', '/users', '/users/sign_in', '/users', '/users/sign_in']) {
          responses.push(await openBrowser(app).post(path, {}));
        }
        const refused = responses.find(({ status }) => status === 429);
        expect(responses[0]?.status).toBe(422);
        expect(refused?.text).toBe('Slow down.\n');
        expect(refused?.headers.get('content-type')).toContain('text/plain');
        expect(refused?.headers.get('ratelimit-name')).toBe('throttle_protected_paths');
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
