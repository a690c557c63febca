import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  type Browser,
  withSettings as changeSettings,
  hiddenFields,
  openBrowser,
  signInAs,
} from '../../../../test/support/browser.ts';
import { auditEventsOf, type MadeUser, makeUser } from '../../../../test/support/factories.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';

const app = useApp();
const PASSWORD = 'correct horse battery staple';

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

describe('changing the password', () => {
  const change = (browser: Browser, fields: Record<string, string> = {}) =>
    browser.submit('/-/profile/password', {
      current_password: PASSWORD,
      password: 'another good password',
      password_confirmation: 'another good password',
      ...fields,
    });

  test('ends every other session, renews this one, and leaves tokens alone', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const [here, there] = [await signedIn(user), await signedIn(user)];
      const before = here.cookieHeader();
      const response = await change(here);
      expect([response.status, response.alert]).toEqual([200, '']);
      expect([await apiStatus(here), await apiStatus(there)]).toEqual([200, 401]);
      expect((await app.call('GET /user', { headers: { cookie: before } })).status).toBe(401);
      expect((await app.as(user.token)('GET /user')).status).toBe(200);
      expect((await signInAs(openBrowser(app), user.username, PASSWORD)).status).toBe(422);
      await signedIn(user, 'another good password');
      expect(await auditEventsOf(app, user.id)).toContain('user_password_updated');
      // The form below the notice is the new session's.
      expect(
        (await here.post('/users/sign_out', hiddenFields(response.text, '/users/sign_out'))).status,
      ).toBe(303);
    }));

  test.each([
    ['a wrong current one', { current_password: 'wrong' }, 'The current password is wrong.'],
    [
      'entries that differ',
      { password_confirmation: 'something else' },
      'The two entries of the new password differ.',
    ],
    [
      'one that breaks the rules',
      { password: 'short', password_confirmation: 'short' },
      'The new password is too short (minimum is 8 characters).',
    ],
  ])('%s changes nothing', (_case, fields, text) =>
    quiet(async () => {
      const user = await makeUser(app);
      const browser = await signedIn(user);
      const response = await change(browser, fields);
      expect([response.status, response.alert]).toEqual([422, text]);
      await signedIn(user);
    }),
  );

  test('needs the token of its form, and a session', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const browser = await signedIn(user);
      expect((await browser.post('/-/profile/password', { current_password: PASSWORD })).status).toBe(403);
      const response = await openBrowser(app).get('/-/profile/password?x=1');
      expect(response.location).toBe('/users/sign_in?return_to=%2F-%2Fprofile%2Fpassword%3Fx%3D1');
    }));

  test('guesses at the current password lock the account like any others', () =>
    withSettings({ max_login_attempts: 2 }, async () => {
      const user = await makeUser(app);
      const browser = await signedIn(user);
      for (const current_password of ['a', 'b']) await change(browser, { current_password });
      expect((await change(browser)).alert).toMatch(/Too many/);
    }));
});
