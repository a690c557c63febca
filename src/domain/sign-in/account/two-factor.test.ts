import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  type Browser,
  withSettings as changeSettings,
  hiddenFields,
  openBrowser,
  signInAs,
} from '../../../../test/support/browser.ts';
import {
  addMember,
  auditEventsOf,
  type MadeUser,
  makeGroup,
  makeUser,
} from '../../../../test/support/factories.ts';
import { totpCode, totpStep } from '../../../kernel/identity/two-factor/totp.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { moveClock, now } from '../../../platform/clock.ts';
import { unseal } from '../../../platform/secret.ts';

const app = useApp();
const PASSWORD = 'correct horse battery staple';
const TWO_FACTOR = '/-/profile/two_factor_auth';

const withSettings = <T>(changes: Partial<ApplicationSettings>, work: () => Promise<T>) =>
  changeSettings(app, changes, work);
const quiet = <T>(work: () => Promise<T>) => withSettings({}, work);

const apiStatus = async (browser: Browser) =>
  (await app.call('GET /user', { headers: { cookie: browser.cookieHeader() } })).status;

async function signedIn(user: MadeUser, password = PASSWORD): Promise<Browser> {
  const browser = openBrowser(app);
  const response = await signInAs(browser, user.username, password);
  expect(response.status).toBe(302);
  return browser;
}

/** Codes by hand, as an app would make them. */
const codeOf = (key: Buffer, stepsOn = 0) => totpCode(key, totpStep(now()) + stepsOn);

async function enable(
  user: MadeUser,
): Promise<{ browser: Browser; key: Buffer; code: string; recovery: string[] }> {
  const browser = await signedIn(user);
  const page = await browser.get(TWO_FACTOR);
  const fields = hiddenFields(page.text, TWO_FACTOR);
  const [, , text] = JSON.parse(unseal(app.app.services.secretKey, fields.setup ?? ''));
  const key = Buffer.from(text, 'base64url');
  const code = codeOf(key);
  const response = await browser.post(TWO_FACTOR, { ...fields, code, current_password: PASSWORD });
  expect([response.status, response.alert]).toEqual([200, '']);
  const recovery = [...response.text.matchAll(/<li>([0-9a-f]{16})<\/li>/g)].map(([, each = '']) => each);
  return { browser, key, code, recovery };
}

async function secondStep(user: MadeUser, code: string) {
  const browser = openBrowser(app);
  const page = await signInAs(browser, user.username, PASSWORD);
  expect([page.status, browser.cookies.size]).toEqual([200, 0]);
  const response = await browser.post('/users/sign_in', {
    ...hiddenFields(page.text, '/users/sign_in'),
    code,
  });
  return { browser, answer: response };
}

describe('two-factor authentication', () => {
  test('is turned on by a code, ends other sessions, and shows ten recovery codes once', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const other = await signedIn(user);
      const { browser, recovery } = await enable(user);
      expect(new Set(recovery).size).toBe(10);
      expect([await apiStatus(browser), await apiStatus(other)]).toEqual([200, 401]);
      expect((await app.as(user.token)('GET /user')).body.two_factor_enabled).toBe(true);
      const page = (await browser.get(TWO_FACTOR)).text;
      expect(recovery.some((code) => page.includes(code))).toBe(false);
      const { sql } = app.app.services.database;
      const [row] = await sql`select * from users where id = ${user.id}`;
      expect(recovery.some((code) => JSON.stringify(row).includes(code))).toBe(false);
      expect(await auditEventsOf(app, user.id)).toContain('user_enable_two_factor');
    }));

  test('needs the password, the present code, and a key that was made for this user', () =>
    quiet(async () => {
      const [user, thief] = [await makeUser(app), await makeUser(app)];
      const browser = await signedIn(user);
      const fields = hiddenFields((await browser.get(TWO_FACTOR)).text, TWO_FACTOR);
      const [, , text] = JSON.parse(unseal(app.app.services.secretKey, fields.setup ?? ''));
      const code = codeOf(Buffer.from(text, 'base64url'));
      const responses = [
        await browser.post(TWO_FACTOR, { ...fields, code, current_password: 'wrong' }),
        await browser.post(TWO_FACTOR, { ...fields, code: '000000x', current_password: PASSWORD }),
        await browser.post(TWO_FACTOR, { ...fields, code, current_password: PASSWORD, setup: 'v1.x' }),
      ];
      expect(responses.map(({ alert }) => alert)).toEqual([
        'The current password is wrong.',
        expect.stringContaining('not the present code'),
        expect.stringContaining('out of date'),
      ]);
      const other = await signedIn(thief);
      const own = hiddenFields((await other.get(TWO_FACTOR)).text, TWO_FACTOR);
      const stolen = await other.post(TWO_FACTOR, {
        ...own,
        setup: fields.setup ?? '',
        code,
        current_password: PASSWORD,
      });
      expect(stolen.alert).toContain('out of date');
    }));

  test('asks for a code after the password; each code works once, also when sent twice at once', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const { key, code } = await enable(user);
      const used = await secondStep(user, code);
      expect([used.answer.status, used.answer.alert]).toEqual([422, 'Invalid two-factor code.']);
      const next = codeOf(key, 1);
      const twice = await Promise.all([secondStep(user, next), secondStep(user, next)]);
      expect(twice.map(({ answer: response }) => response.status).sort()).toEqual([302, 422]);
      const [entered] = twice.filter(({ answer: response }) => response.status === 302);
      expect(entered && (await apiStatus(entered.browser))).toBe(200);
      expect(await auditEventsOf(app, user.id)).toEqual(
        expect.arrayContaining([
          'user_authenticated_with_two_factor_authentication',
          'login_failed_with_two_factor_authentication',
        ]),
      );
    }));

  test('a recovery code signs in once, however it is typed', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const { recovery } = await enable(user);
      const [code = ''] = recovery;
      const typed = `${code.slice(0, 4).toUpperCase()}-${code.slice(4)} `;
      const twice = await Promise.all([secondStep(user, typed), secondStep(user, code)]);
      expect(twice.map(({ answer: response }) => response.status).sort()).toEqual([302, 422]);
      expect((await secondStep(user, recovery[1] ?? '')).answer.status).toBe(302);
    }));

  test('wrong codes lock the account, and the right password in between does not start the count anew', () =>
    withSettings({ max_login_attempts: 3 }, async () => {
      const user = await makeUser(app);
      const { key } = await enable(user);
      for (const code of ['000001', '000002', '000003']) await secondStep(user, code);
      const browser = openBrowser(app);
      expect((await signInAs(browser, user.username, PASSWORD)).alert).toBe('Invalid login or password.');
      const back = moveClock(11 * 60_000);
      try {
        expect((await secondStep(user, codeOf(key))).answer.status).toBe(302);
      } finally {
        back();
      }
    }));

  test('a challenge ends with its time, and with the password', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const { browser: mine, key } = await enable(user);
      const challenge = async () => {
        const page = await signInAs(openBrowser(app), user.username, PASSWORD);
        return hiddenFields(page.text, '/users/sign_in');
      };
      const late = await challenge();
      const back = moveClock(11 * 60_000);
      try {
        const response = await openBrowser(app).post('/users/sign_in', { ...late, code: codeOf(key) });
        expect(response.alert).toMatch(/too long/);
      } finally {
        back();
      }
      const early = await challenge();
      const fields = {
        current_password: PASSWORD,
        password: 'a new password',
        password_confirmation: 'a new password',
      };
      expect((await mine.submit('/-/profile/password', fields)).status).toBe(200);
      const response = await openBrowser(app).post('/users/sign_in', { ...early, code: codeOf(key, 1) });
      expect([response.status, response.location]).toEqual([422, null]);
    }));

  test('is turned off with a code only', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const { browser, key } = await enable(user);
      const disable = (code: string) => browser.submit(TWO_FACTOR, { code }, `${TWO_FACTOR}/disable`);
      expect((await disable('000000')).status).toBe(422);
      expect((await disable(codeOf(key, 1))).status).toBe(200);
      await signedIn(user);
      expect(await auditEventsOf(app, user.id)).toContain('user_disable_two_factor');
    }));
});

describe('required two-factor authentication', () => {
  const required = { require_two_factor_authentication: true, two_factor_grace_period: 2 };

  test('is asked for within the grace period, and after it nothing else can be done with a session', () =>
    withSettings(required, async () => {
      const user = await makeUser(app);
      const browser = await signedIn(user);
      expect((await browser.get('/')).text).toContain('You must set up two-factor authentication before 2');
      expect(await apiStatus(browser)).toBe(200);
      const back = moveClock(2 * 3_600_000);
      try {
        expect(await apiStatus(browser)).toBe(401);
        expect((await app.as(user.token)('GET /user')).status).toBe(200);
        const led = await browser.get('/-/profile/password');
        expect(led.location).toBe(`${TWO_FACTOR}?return_to=%2F-%2Fprofile%2Fpassword`);
        expect((await browser.get(led.location ?? '')).text).toContain(
          'name="return_to" value="/-/profile/password"',
        );
        expect((await browser.get(TWO_FACTOR)).text).toContain('before you can go on');
        const { browser: after } = await enable(user);
        expect(await apiStatus(after)).toBe(200);
        expect((await after.get('/')).status).toBe(200);
      } finally {
        back();
      }
    }));

  test('turning it on and off again does not begin another grace period', () =>
    withSettings(required, async () => {
      const user = await makeUser(app);
      const { browser, key } = await enable(user);
      await browser.get('/');
      const back = moveClock(2 * 3_600_000);
      try {
        await browser.submit(TWO_FACTOR, { code: codeOf(key) }, `${TWO_FACTOR}/disable`);
        expect((await browser.get('/')).location).toBe(`${TWO_FACTOR}?return_to=%2F`);
      } finally {
        back();
      }
    }));

  test('a group requires it of its members, of subgroups too', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const browser = await signedIn(user);
      const above = await makeGroup(app, {
        require_two_factor_authentication: true,
        two_factor_grace_period: 0,
      });
      const below = await makeGroup(app, { parent_id: above.id });
      expect(await apiStatus(browser)).toBe(200);
      await addMember(app, `groups/${below.id}`, user, 10);
      expect(await apiStatus(browser)).toBe(401);
      expect((await browser.get('/')).location).toBe(`${TWO_FACTOR}?return_to=%2F`);
    }));
});

test('turning it on ends what was given for the password alone', () =>
  quiet(async () => {
    const user = await makeUser(app);
    const form = `grant_type=password&username=${user.username}&password=${encodeURIComponent(PASSWORD)}`;
    const { body: given } = await app.call('POST /oauth/token', { raw: true, form });
    const opens = async () =>
      (await app.call('GET /user', { headers: { authorization: `Bearer ${given.access_token}` } })).status;
    expect(await opens()).toBe(200);
    await enable(user);
    expect(await opens()).toBe(401);
    const renewal = `grant_type=refresh_token&refresh_token=${given.refresh_token}`;
    expect((await app.call('POST /oauth/token', { raw: true, form: renewal })).status).toBe(400);
  }));
