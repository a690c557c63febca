import { describe, expect, test } from 'vitest';
import { ROOT_PASSWORD, useApp } from '../../../../test/support/app.ts';
import {
  withSettings as changeSettings,
  hiddenFields,
  openBrowser,
  signInAs,
} from '../../../../test/support/browser.ts';
import { bodyOf, makeGroup, makeUser, uniqueName } from '../../../../test/support/factories.ts';
import { mailsTo, waitForMail } from '../../../../test/support/mailbox.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';

const app = useApp();
const PASSWORD = 'correct horse battery staple';

const open = { require_admin_approval_after_user_signup: false };
const withSettings = <T>(changes: Partial<ApplicationSettings>, work: () => Promise<T>) =>
  changeSettings(app, { ...open, ...changes }, work);

const newcomer = () => {
  const username = uniqueName('newcomer');
  return { name: 'A Newcomer', username, email: `${username}@example.com`, password: PASSWORD };
};
const register = async (fields: Record<string, string>) => {
  const browser = openBrowser(app);
  return { browser, answer: await browser.submit('/users/sign_up', fields, '/users') };
};
const find = async (username: string) =>
  bodyOf(await app.root('GET /users', { query: `username=${username}` }), 200)[0];

describe('registering', () => {
  test('signs in where nothing is to be waited for', () =>
    withSettings({}, async () => {
      const fields = newcomer();
      const { browser, answer: response } = await register(fields);
      expect([response.status, response.location]).toEqual([303, '/']);
      const headers = { cookie: browser.cookieHeader() };
      const user = bodyOf(await app.call('GET /user', { headers }), 200);
      expect(user).toMatchObject({
        username: fields.username,
        name: 'A Newcomer',
        email: fields.email,
        state: 'active',
      });
      const events = await app.root('GET /audit_events', { query: `entity_type=User&entity_id=${user.id}` });
      expect(bodyOf(events, 200)[0]).toMatchObject({ event_name: 'user_created', author_id: user.id });
    }));

  test('takes the defaults of the settings, and nothing else from the form', () =>
    withSettings(
      { user_default_external: true, default_projects_limit: 3, can_create_group: false },
      async () => {
        const fields = newcomer();
        await register({
          ...fields,
          admin: 'true',
          projects_limit: '99',
          state: 'active',
          external: 'false',
        });
        const user = bodyOf(await app.root(`GET /users/${(await find(fields.username)).id}`), 200);
        expect(user).toMatchObject({
          is_admin: false,
          external: true,
          projects_limit: 3,
          can_create_group: false,
        });
      },
    ));

  test('waits for an administrator', () =>
    withSettings({ require_admin_approval_after_user_signup: true }, async () => {
      const fields = newcomer();
      const { browser, answer: response } = await register(fields);
      expect([response.status, browser.cookies.size]).toEqual([201, 0]);
      expect(response.text).toContain('pending approval');
      expect(response.text).not.toContain('<p></p>');
      const { id } = await find(fields.username);
      expect((await signInAs(openBrowser(app), fields.username, PASSWORD)).alert).toContain(
        'pending approval',
      );
      bodyOf(await app.root(`POST /users/${id}/approve`), 201);
      expect((await signInAs(openBrowser(app), fields.username, PASSWORD)).status).toBe(302);
    }));

  test('whoever waits reads the text of the settings', () =>
    withSettings(
      {
        require_admin_approval_after_user_signup: true,
        after_sign_up_text: 'Welcome <b>all</b>.\n\nCall us.',
      },
      async () => {
        const { answer: response } = await register(newcomer());
        expect(response.text).toContain('pending approval');
        expect(response.text).toContain('<p>Welcome &lt;b&gt;all&lt;/b&gt;.</p><p>Call us.</p>');
        const shown = bodyOf(await app.root('GET /application/settings'), 200);
        expect(shown.after_sign_up_text).toBe('Welcome <b>all</b>.\n\nCall us.');
      },
    ));

  test('is closed by the setting, and where passwords do not work', async () => {
    for (const closed of [{ signup_enabled: false }, { password_authentication_enabled_for_web: false }]) {
      await withSettings(closed, async () => {
        const fields = newcomer();
        expect((await openBrowser(app).get('/users/sign_up')).text).toContain('Registration is closed');
        expect((await openBrowser(app).post('/users', fields)).status).toBe(403);
        expect(await find(fields.username)).toBeUndefined();
      });
    }
  });

  test.each<[Record<string, string>, string]>([
    [{ name: ' ' }, "Name can't be blank."],
    [{ username: 'api' }, 'Username api is a reserved name.'],
    [{ username: 'a b' }, "Username can contain only letters, digits, '_', '-' and '.'."],
    [{ username: 'ROOT' }, 'Username has already been taken.'],
    [{ email: 'nobody' }, 'Email is invalid.'],
    [{ email: 'Admin@Example.com' }, 'Email has already been taken.'],
    [{ email: 'me@elsewhere.example' }, 'Email is not from an allowed domain.'],
    [{ email: 'me@bad.example.com' }, 'Email is not allowed for sign-up.'],
    [{ password: 'short' }, 'Password is too short (minimum is 8 characters).'],
  ])('%j', (fields, text) =>
    withSettings(
      {
        domain_allowlist: ['example.com', '*.example.com'],
        domain_denylist_enabled: true,
        domain_denylist: ['bad.example.com'],
      },
      async () => {
        const { browser, answer: response } = await register({ ...newcomer(), ...fields });
        expect(response.status).toBe(422);
        expect(response.alert).toContain(text);
        expect(response.text).not.toContain(PASSWORD);
        expect(browser.cookies.size).toBe(0);
      },
    ),
  );

  test.each<[string, Partial<ApplicationSettings>]>([
    ['an administrator', { require_admin_approval_after_user_signup: true }],
    ['a confirmation', { email_confirmation_setting: 'hard' }],
  ])(
    'where everybody waits for %s, the page tells nothing of an address, and a mail tells its owner',
    (_, waits) =>
      withSettings(waits, async () => {
        const owner = await makeUser(app);
        const own = `${owner.username}@example.com`;
        const other = `also-${own}`;
        bodyOf(
          await app.root(`POST /users/${owner.id}/emails`, {
            body: { email: other, skip_confirmation: true },
          }),
          201,
        );
        const free = newcomer();
        const requested = [free, ...[own.toUpperCase(), other].map((email) => ({ ...newcomer(), email }))];
        const responses: unknown[] = [];
        const { token } = await makeUser(app);
        for (const { email } of requested)
          bodyOf(await app.as(token)('POST /user/emails', { body: { email } }), 201);
        for (const fields of requested) {
          const { browser, answer: response } = await register(fields);
          responses.push([response.status, response.text, browser.cookies.size]);
        }
        expect(responses[0]).toMatchObject([201, expect.stringContaining('You are registered'), 0]);
        expect(responses[1]).toEqual(responses[0]);
        expect(responses[2]).toEqual(responses[0]);
        expect(await find(free.username)).toBeDefined();
        for (const { username } of requested.slice(1)) expect(await find(username)).toBeUndefined();
        // Nor does it disclose who listed an address before.
        expect(bodyOf(await app.as(token)('GET /user/emails'), 200)).toHaveLength(1);
        // A username is no secret.
        const taken = await register({ ...newcomer(), username: owner.username, email: own });
        expect(taken.answer.alert).toBe('Username has already been taken.');
        await waitForMail(app);
        for (const address of [own, other]) {
          const told = mailsTo(app, address).filter(
            ({ subject }) => subject === 'You have an account already',
          );
          expect(told).toHaveLength(1);
          expect(told[0]?.text).toContain(`@${owner.username}`);
        }
        expect(mailsTo(app, free.email).map(({ subject }) => subject)).not.toContain(
          'You have an account already',
        );
      }),
  );

  test('a name that a group has is taken', () =>
    withSettings({}, async () => {
      const group = await makeGroup(app);
      const { answer: response } = await register({ ...newcomer(), username: group.full_path });
      expect(response.alert).toBe('Username has already been taken.');
    }));

  test('the same form twice at once makes one account', () =>
    withSettings({}, async () => {
      const fields = newcomer();
      const responses = await Promise.all([register(fields), register(fields), register(fields)]);
      expect(responses.map(({ answer: response }) => response.status).sort()).toEqual([303, 422, 422]);
    }));

  test('a form of another site is refused', () =>
    withSettings({}, async () => {
      const response = await openBrowser(app).post('/users', newcomer(), { origin: 'https://evil.example' });
      expect(response.status).toBe(403);
    }));

  test('is refused while maintenance mode is on; signing in is not', () =>
    withSettings({ maintenance_mode: true, maintenance_mode_message: 'Back at noon.' }, async () => {
      expect((await register(newcomer())).answer.alert).toBe('Back at noon.');
      expect((await signInAs(openBrowser(app), 'root', ROOT_PASSWORD)).status).toBe(302);
    }));
});

describe('confirming an address', () => {
  /** The secret of the link that was mailed last. */
  const sentTo = async (email: string): Promise<string> => {
    await waitForMail(app);
    const mail = mailsTo(app, email).at(-1);
    expect(mail?.subject).toBe('Confirm your email address');
    expect(mail?.link.startsWith(`${app.url}/users/confirmation?confirmation_token=`)).toBe(true);
    return mail?.link.split('=')[1] ?? '';
  };
  const openLink = (token: string) => openBrowser(app).get(`/users/confirmation?confirmation_token=${token}`);
  const confirm = (token: string) =>
    openBrowser(app).post('/users/confirmation', { confirmation_token: token });

  test('hard: nobody signs in before, and the link works once', () =>
    withSettings({ email_confirmation_setting: 'hard' }, async () => {
      const fields = newcomer();
      const { answer: response } = await register(fields);
      expect([response.status, response.headers.getSetCookie()]).toEqual([201, []]);
      expect((await signInAs(openBrowser(app), fields.username, PASSWORD)).alert).toMatch(
        /confirm your email/,
      );
      const token = await sentTo(fields.email);
      expect((await confirm(`${token}x`)).status).toBe(422);
      expect((await confirm(token)).status).toBe(200);
      expect((await confirm(token)).status).toBe(422);
      expect((await signInAs(openBrowser(app), fields.username, PASSWORD)).status).toBe(302);
      const [user] = [await find(fields.username)];
      expect(bodyOf(await app.root(`GET /users/${user.id}`), 200).confirmed_at).toEqual(expect.any(String));
    }));

  test('scanners: opening the link confirms nothing; the button on its page does', () =>
    withSettings({ email_confirmation_setting: 'hard' }, async () => {
      const fields = newcomer();
      await register(fields);
      const token = await sentTo(fields.email);
      for (let times = 0; times < 3; times++) {
        const page = await openLink(token);
        expect([page.status, page.text.includes(fields.email)]).toEqual([200, true]);
        expect(hiddenFields(page.text, '/users/confirmation')).toEqual({ confirmation_token: token });
      }
      expect((await signInAs(openBrowser(app), fields.username, PASSWORD)).alert).toMatch(/confirm/);
      expect((await confirm(token)).status).toBe(200);
      expect((await openLink(token)).status).toBe(422);
    }));

  test('twice at once it counts once', () =>
    withSettings({ email_confirmation_setting: 'soft' }, async () => {
      const fields = newcomer();
      await register(fields);
      const token = await sentTo(fields.email);
      const responses = await Promise.all([confirm(token), confirm(token)]);
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 422]);
    }));

  test('the link is sent again, in place of the earlier one; the answer tells nothing', () =>
    withSettings({ email_confirmation_setting: 'hard' }, async () => {
      const fields = newcomer();
      await register(fields);
      const first = await sentTo(fields.email);
      const refused = await signInAs(openBrowser(app), fields.username, PASSWORD);
      expect(refused.text).toContain('href="/users/confirmation/new"');
      const again = (email: string) => openBrowser(app).submit('/users/confirmation/new', { email });
      const known = await again(fields.email.toUpperCase());
      const unknown = await again('nobody@example.com');
      expect([known.status, known.text]).toEqual([200, unknown.text]);
      const second = await sentTo(fields.email);
      expect(second).not.toBe(first);
      expect((await confirm(first)).status).toBe(422);
      expect((await confirm(second)).status).toBe(200);
      await again(fields.email);
      expect(await sentTo(fields.email)).toBe(second);
    }));

  test('another address of a user is confirmed the same way, its link sent again too', () =>
    withSettings({ email_confirmation_setting: 'hard' }, async () => {
      const user = await makeUser(app);
      const email = `${uniqueName('other')}@example.com`;
      const added = bodyOf(await app.as(user.token)('POST /user/emails', { body: { email } }), 201);
      expect(added.confirmed_at).toBeNull();
      const first = await sentTo(email);
      await openBrowser(app).submit('/users/confirmation/new', { email });
      const second = await sentTo(email);
      expect([(await confirm(first)).status, (await confirm(second)).status]).toEqual([422, 200]);
      const emails = bodyOf(await app.as(user.token)('GET /user/emails'), 200);
      expect(emails.find((each: { email: string }) => each.email === email).confirmed_at).not.toBeNull();
    }));

  test('a claim that nobody proved keeps no reader from the address, neither at registration nor at confirmation', () =>
    withSettings({ email_confirmation_setting: 'hard' }, async () => {
      const [squatter, owner] = [await makeUser(app), await makeUser(app)];
      const fields = newcomer();
      const claim = (email: string) => app.as(squatter.token)('POST /user/emails', { body: { email } });
      bodyOf(await claim(fields.email), 201);
      expect((await register(fields)).answer.status).toBe(201);
      const email = `${uniqueName('claimed')}@example.com`;
      bodyOf(await app.root(`PUT /users/${owner.id}`, { body: { email } }), 200);
      bodyOf(await claim(email), 201);
      const { sql } = app.app.services.database;
      await waitForMail(app);
      const mails = mailsTo(app, email).filter(({ text }) => text.includes(`@${owner.username}`));
      expect((await confirm(mails.at(-1)?.link.split('=')[1] ?? '')).status).toBe(200);
      const left =
        await sql`select user_id from emails where email in (${email}, ${fields.email}) and user_id = ${squatter.id}`;
      expect(left).toHaveLength(0);
      expect(bodyOf(await app.as(owner.token)('GET /user'), 200).email).toBe(email);
    }));

  test('an address that another account has had is confirmed like any other', () =>
    withSettings({ email_confirmation_setting: 'hard' }, async () => {
      const [former, next] = [await makeUser(app), await makeUser(app)];
      const email = `${uniqueName('passed')}@example.com`;
      const body = { email, skip_confirmation: true };
      const { id } = bodyOf(await app.root(`POST /users/${former.id}/emails`, { body }), 201);
      bodyOf(await app.as(next.token)('POST /user/emails', { body: { email } }), 201);
      expect((await app.root(`DELETE /users/${former.id}/emails/${id}`)).status).toBe(204);
      bodyOf(await app.root(`PUT /users/${next.id}`, { body: { email } }), 200);
      await waitForMail(app);
      expect((await confirm(mailsTo(app, email).at(-1)?.link.split('=')[1] ?? '')).status).toBe(200);
      const { sql } = app.app.services.database;
      expect(await sql`select user_id, held_elsewhere from emails where email = ${email}`).toEqual([
        { user_id: next.id, held_elsewhere: false },
      ]);
    }));

  test('soft: signs in at once', () =>
    withSettings({ email_confirmation_setting: 'soft' }, async () => {
      expect((await register(newcomer())).answer.status).toBe(303);
    }));

  test('the link makes an invited address a member; registering alone does not', () =>
    withSettings({ email_confirmation_setting: 'soft' }, async () => {
      const fields = newcomer();
      const group = await makeGroup(app);
      bodyOf(
        await app.root(`POST /groups/${group.id}/invitations`, {
          body: { email: fields.email, access_level: 30 },
        }),
        201,
      );
      await register(fields);
      const { id } = await find(fields.username);
      const member = async () => (await app.root(`GET /groups/${group.id}/members/${id}`)).status;
      expect(await member()).toBe(404);
      await confirm(await sentTo(fields.email));
      expect(await member()).toBe(200);
    }));

  test('off: an address opens the account, and no invitation until its link was followed', () =>
    withSettings({ email_confirmation_setting: 'off' }, async () => {
      const fields = newcomer();
      const [before, after] = [await makeGroup(app), await makeGroup(app)];
      const invite = async (group: { id: number }) =>
        bodyOf(
          await app.root(`POST /groups/${group.id}/invitations`, {
            body: { email: fields.email, access_level: 30 },
          }),
          201,
        );
      await invite(before);
      expect((await register(fields)).answer.status).toBe(303);
      await invite(after);
      const { id } = await find(fields.username);
      const statuses = async () => [
        (await app.root(`GET /groups/${before.id}/members/${id}`)).status,
        (await app.root(`GET /groups/${after.id}/members/${id}`)).status,
      ];
      expect(await statuses()).toEqual([404, 404]);
      const shown = { public_email: fields.email };
      bodyOf(await app.root(`PUT /users/${id}`, { body: shown }), 200);
      await openBrowser(app).submit('/users/confirmation/new', { email: fields.email });
      expect((await confirm(await sentTo(fields.email))).status).toBe(200);
      expect(await statuses()).toEqual([200, 200]);
    }));

  test('a changed address counts once its link is followed', () =>
    withSettings({ email_confirmation_setting: 'hard' }, async () => {
      const user = await makeUser(app);
      const email = `${uniqueName('changed')}@example.com`;
      bodyOf(await app.root(`PUT /users/${user.id}`, { body: { email } }), 200);
      const before = `${user.username}@example.com`;
      expect(bodyOf(await app.as(user.token)('GET /user'), 200).email).toBe(before);
      await confirm(await sentTo(email));
      expect(bodyOf(await app.as(user.token)('GET /user'), 200).email).toBe(email);
      expect((await signInAs(openBrowser(app), email, PASSWORD)).status).toBe(302);
    }));
});
