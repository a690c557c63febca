import { describe, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
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
  bodyOf,
  type MadeUser,
  makeGroup,
  makeUser,
  uniqueName,
} from '../../../../test/support/factories.ts';
import { mailsTo, waitForMail } from '../../../../test/support/mailbox.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { moveClock } from '../../../platform/clock.ts';

const app = useApp();
const OLD = 'correct horse battery staple';
const NEW = 'another good password';
const ASK = '/users/password/new';

const withSettings = <T>(changes: Partial<ApplicationSettings>, work: () => Promise<T>) =>
  changeSettings(app, changes, work);
const quiet = <T>(work: () => Promise<T>) => withSettings({}, work);

const addressOf = (user: MadeUser) => `${user.username}@example.com`;
const ask = (email: string) => openBrowser(app).submit(ASK, { email });

/** The path of the link in the last mail to the address. */
async function linkFor(email: string): Promise<string> {
  await ask(email);
  await waitForMail(app);
  const link = mailsTo(app, email).at(-1)?.link ?? '';
  expect(link.startsWith(`${app.url}/users/password/edit?reset_password_token=`)).toBe(true);
  return link.slice(app.url.length);
}

async function follow(link: string, password = NEW, browser: Browser = openBrowser(app)) {
  const page = await browser.get(link);
  const fields = hiddenFields(page.text, '/users/password');
  return browser.post('/users/password', { ...fields, password, password_confirmation: password });
}

/** Whether the page of a link says that it is not valid. */
const isStale = async (link: string): Promise<boolean> => {
  const page = await openBrowser(app).get(link);
  return page.status === 422 && page.text.includes('This link is not valid');
};

describe('a forgotten password', () => {
  test('is set by the link of a mail, and every session ends', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const signedIn = openBrowser(app);
      await signInAs(signedIn, user.username, OLD);
      expect((await signedIn.get('/users/sign_in')).status).toBe(303);
      const link = await linkFor(addressOf(user));
      expect((await openBrowser(app).get(link)).headers.get('referrer-policy')).toBe('same-origin');
      const browser = openBrowser(app);
      const response = await follow(link, NEW, browser);
      expect([response.status, response.alert, browser.cookies.size]).toEqual([200, '', 0]);
      expect((await signedIn.get('/users/sign_in')).status).toBe(200);
      expect((await signInAs(openBrowser(app), user.username, OLD)).status).toBe(422);
      expect((await signInAs(openBrowser(app), user.username, NEW)).status).toBe(302);
      expect(await auditEventsOf(app, user.id)).toContain('user_password_updated');
    }));

  test('ends what was granted to applications, and leaves personal tokens', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const { sql } = app.app.services.database;
      const [grant] = await sql<{ id: number }[]>`
        insert into oauth_grants (user_id, kind, scopes, created_at)
        values (${user.id}, 'password', array['api'], now()) returning id`;
      await follow(await linkFor(addressOf(user)));
      const [after] = await sql<
        { revoked: boolean }[]
      >`select revoked_at is not null as revoked from oauth_grants where id = ${grant?.id ?? 0}`;
      expect(after?.revoked).toBe(true);
      expect((await app.as(user.token)('GET /user')).status).toBe(200);
    }));

  test('replay: a link works once, and twice at once only once', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const link = await linkFor(addressOf(user));
      const responses = await Promise.all([follow(link), follow(link, 'a third good password')]);
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 422]);
      expect((await follow(link)).status).toBe(422);
      expect(await isStale(link)).toBe(true);
    }));

  test('scanners: opening the link changes nothing', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const link = await linkFor(addressOf(user));
      for (let times = 0; times < 3; times++) expect((await openBrowser(app).get(link)).status).toBe(200);
      expect((await signInAs(openBrowser(app), user.username, OLD)).status).toBe(302);
      expect((await follow(link)).status).toBe(200);
    }));

  test('expiry: a link is good for six hours', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const link = await linkFor(addressOf(user));
      const back = moveClock(6 * 3_600_000 + 1_000);
      try {
        expect(await isStale(link)).toBe(true);
        expect(
          (
            await openBrowser(app).post('/users/password', {
              reset_password_token: new URLSearchParams(link.split('?')[1]).get('reset_password_token') ?? '',
              password: NEW,
              password_confirmation: NEW,
            })
          ).status,
        ).toBe(422);
      } finally {
        back();
      }
      expect((await openBrowser(app).get(link)).status).toBe(200);
    }));

  test('a newer link, another password and another address end the link', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const first = await linkFor(addressOf(user));
      const second = await linkFor(addressOf(user));
      expect([await isStale(first), await isStale(second)]).toEqual([true, false]);
      const browser = openBrowser(app);
      await signInAs(browser, user.username, OLD);
      await browser.submit('/-/profile/password', {
        current_password: OLD,
        password: NEW,
        password_confirmation: NEW,
      });
      expect(await isStale(second)).toBe(true);
      const third = await linkFor(addressOf(user));
      bodyOf(
        await app.root(`PUT /users/${user.id}`, { body: { password: 'set by the administrator' } }),
        200,
      );
      expect(await isStale(third)).toBe(true);
      const fourth = await linkFor(addressOf(user));
      const email = `${uniqueName('moved')}@example.com`;
      bodyOf(await app.root(`PUT /users/${user.id}`, { body: { email, skip_reconfirmation: true } }), 200);
      expect(await isStale(fourth)).toBe(true);
    }));

  test('the rules of passwords hold, and the fields that are wrong say so', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const link = await linkFor(addressOf(user));
      const short = await follow(link, 'short');
      expect([short.status, short.alert]).toEqual([
        422,
        'The new password is too short (minimum is 8 characters).',
      ]);
      expect(short.text).toMatch(/<input id="password"[^>]*aria-invalid="true"/);
      expect(short.text).not.toMatch(/<input id="password_confirmation"[^>]*aria-invalid/);
      expect((await follow(link)).status).toBe(200);
    }));

  test('does not sign in: a second factor is still asked for', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const { sql } = app.app.services.database;
      const link = await linkFor(addressOf(user));
      await sql`update users set otp_enabled_at = now(), otp_secret_sealed = 'v1.x' where id = ${user.id}`;
      const browser = openBrowser(app);
      expect([(await follow(link, NEW, browser)).status, browser.cookies.size]).toEqual([200, 0]);
      const step = await signInAs(browser, user.username, NEW);
      expect([step.status, browser.cookies.size]).toEqual([200, 0]);
      expect(step.text).toContain('Two-factor authentication');
    }));

  test('opens an account that guesses have locked', () =>
    withSettings({ max_login_attempts: 2 }, async () => {
      const user = await makeUser(app);
      for (const guess of ['a', 'b']) await signInAs(openBrowser(app), user.username, guess);
      expect((await signInAs(openBrowser(app), user.username, OLD)).status).toBe(422);
      await follow(await linkFor(addressOf(user)));
      expect((await signInAs(openBrowser(app), user.username, NEW)).status).toBe(302);
    }));

  test('a form of another site is refused', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const link = await linkFor(addressOf(user));
      const fields = hiddenFields((await openBrowser(app).get(link)).text, '/users/password');
      const response = await openBrowser(app).post(
        '/users/password',
        { ...fields, password: NEW, password_confirmation: NEW },
        { origin: 'https://evil.example' },
      );
      expect(response.status).toBe(403);
    }));
});

describe('asking for a link', () => {
  test('enumeration: the answer is the same whether the address is known, unknown or none', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const responses = [];
      for (const email of [addressOf(user), 'nobody@example.com', 'not an address', '']) {
        responses.push(await ask(email));
      }
      expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(responses[0]?.text).not.toContain(addressOf(user));
    }));

  test('the mail goes to the address as it is stored, and the secret is stored as a digest', () =>
    quiet(async () => {
      const user = await makeUser(app);
      await ask(` ${addressOf(user).toUpperCase()} `);
      await waitForMail(app);
      const [mail] = mailsTo(app, addressOf(user));
      const secret = mail?.link.split('=')[1] ?? '';
      expect(secret).toMatch(/^[\w-]{43}$/);
      const { sql } = app.app.services.database;
      const [row] = await sql`select * from users where id = ${user.id}`;
      expect(JSON.stringify(row)).not.toContain(secret);
      expect(app.log.join('')).not.toContain(secret);
    }));

  test('a confirmed secondary address has one, an unconfirmed one none', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const [confirmed, waiting] = [
        `${uniqueName('second')}@example.com`,
        `${uniqueName('third')}@example.com`,
      ];
      const add = (email: string, skip_confirmation: boolean) =>
        app.root(`POST /users/${user.id}/emails`, { body: { email, skip_confirmation } });
      bodyOf(await add(confirmed, true), 201);
      bodyOf(await add(waiting, false), 201);
      for (const email of [confirmed, waiting]) await ask(email);
      await waitForMail(app);
      const subjects = (email: string) => mailsTo(app, email).map(({ subject }) => subject);
      expect(subjects(confirmed)).toEqual(['Set a new password']);
      expect(subjects(waiting)).toEqual(['Confirm your email address']);
    }));

  test('blocked accounts, bots and users whose group turned passwords off get no mail', () =>
    quiet(async () => {
      const [blocked, enterprise] = [await makeUser(app), await makeUser(app)];
      bodyOf(await app.root(`POST /users/${blocked.id}/block`), 201);
      const group = await makeGroup(app);
      await addMember(app, `groups/${group.id}`, enterprise, 30);
      const { sql } = app.app.services.database;
      await sql`update users set enterprise_group_id = ${group.id} where id = ${enterprise.id}`;
      await sql`update namespaces set settings = settings || '{"disable_password_authentication_for_enterprise_users": true}'
        where id = ${group.id}`;
      for (const user of [blocked, enterprise]) await ask(addressOf(user));
      await waitForMail(app);
      expect([blocked, enterprise].flatMap((user) => mailsTo(app, addressOf(user)))).toEqual([]);
    }));

  test('a link that was sent ends when the account is blocked', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const link = await linkFor(addressOf(user));
      bodyOf(await app.root(`POST /users/${user.id}/block`), 201);
      expect(await isStale(link)).toBe(true);
      expect((await follow(link)).status).toBe(422);
    }));

  test('is offered and taken only while passwords are on', async () => {
    const user = await makeUser(app);
    await quiet(async () => {
      expect((await openBrowser(app).get('/users/sign_in')).text).toContain('Forgot your password?');
    });
    await withSettings({ password_authentication_enabled_for_web: false }, async () => {
      expect((await openBrowser(app).get('/users/sign_in')).text).not.toContain('Forgot your password?');
      expect((await openBrowser(app).get(ASK)).status).toBe(403);
      expect((await openBrowser(app).post(ASK, { email: addressOf(user) })).status).toBe(403);
      await waitForMail(app);
      expect(mailsTo(app, addressOf(user))).toEqual([]);
    });
  });

  test('throttle: an address gets five mails an hour, and nobody is told', () =>
    quiet(async () => {
      const user = await makeUser(app);
      const statuses: number[] = [];
      for (let times = 0; times < 7; times++) statuses.push((await ask(addressOf(user))).status);
      await waitForMail(app);
      expect(statuses).toEqual(Array(7).fill(200));
      // Links that a newer one replaced before they were sent are not sent.
      const last = mailsTo(app, addressOf(user)).at(-1);
      expect(last?.subject).toBe('Set a new password');
      await ask(addressOf(user));
      await waitForMail(app);
      expect(mailsTo(app, addressOf(user)).at(-1)).toEqual(last);
      const back = moveClock(3_600_000);
      try {
        await ask(addressOf(user));
        await waitForMail(app);
      } finally {
        back();
      }
      expect(mailsTo(app, addressOf(user)).at(-1)?.id).not.toBe(last?.id);
    }));

  test('throttle: the forms are a protected path', () =>
    withSettings(
      {
        throttle_protected_paths_enabled: true,
        throttle_protected_paths_requests_per_period: 2,
        throttle_protected_paths_period_in_seconds: 3_600,
      },
      async () => {
        const statuses = [];
        for (const path of [ASK, '/users/password', '/users/confirmation', '/users/confirmation/new'])
          statuses.push((await openBrowser(app).post(path, { email: 'nobody@example.com' })).status);
        expect(statuses).toEqual([200, 422, 429, 429]);
      },
    ));
});

test('an administrator makes a user who sets the first password by the link', () =>
  quiet(async () => {
    const username = uniqueName('invited');
    const email = `${username}@example.com`;
    const body = { username, name: 'Invited', email, reset_password: true, skip_confirmation: true };
    const call = app.as(ROOT_TOKEN);
    bodyOf(await call('POST /users', { body }), 201);
    await waitForMail(app);
    const [mail] = mailsTo(app, email);
    expect(mail?.subject).toBe('Set a new password');
    expect((await follow(mail?.link.slice(app.url.length) ?? '')).status).toBe(200);
    expect((await signInAs(openBrowser(app), username, NEW)).status).toBe(302);
  }));
