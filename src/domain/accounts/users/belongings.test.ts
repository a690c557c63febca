import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { openBrowser } from '../../../../test/support/browser.ts';
import { auditEventsOf, bodyOf, createUser, makeUser } from '../../../../test/support/factories.ts';
import { mailsTo, waitForMail } from '../../../../test/support/mailbox.ts';
import { dsaKey, gpgKey, sampleKeys } from '../../../../test/support/sample-keys.ts';
import { moveClock } from '../../../platform/clock.ts';

const app = useApp();

test('what waits for the caller is counted, for who is signed in', async () => {
  const counts = bodyOf(await app.root('GET /user_counts'), 200);
  expect(Object.keys(counts)).toEqual([
    'merge_requests',
    'assigned_issues',
    'assigned_merge_requests',
    'review_requested_merge_requests',
    'todos',
  ]);
  expect(new Set(Object.values(counts))).toEqual(new Set([0]));
  expect((await app.call('GET /user_counts')).status).toBe(401);
});

describe('mail addresses', () => {
  test('one’s own wait to be confirmed; an administrator may skip that', async () => {
    const ada = await makeUser(app);
    const asAda = app.as(ada.token);
    const added = bodyOf(await asAda('POST /user/emails', { body: { email: 'ada@second.example' } }), 201);
    expect(added).toEqual({ id: expect.any(Number), email: 'ada@second.example', confirmed_at: null });
    const skipping = { email: 'ada@third.example', skip_confirmation: true };
    const third = bodyOf(await app.root(`POST /users/${ada.id}/emails`, { body: skipping }), 201);
    expect(third.confirmed_at).toMatch(/Z$/);
    const all = bodyOf(await asAda('GET /user/emails'), 200);
    expect(all).toHaveLength(3);
    expect(bodyOf(await asAda(`GET /user/emails/${added.id}`), 200)).toEqual(added);
    expect(bodyOf(await app.root(`GET /users/${ada.id}/emails`), 200)).toEqual(all);
    // Only confirmed addresses can be shown.
    const show = (public_email: string) => app.root(`PUT /users/${ada.id}`, { body: { public_email } });
    expect((await show(added.email)).status).toBe(400);
    bodyOf(await show(third.email), 200);
    expect((await asAda(`DELETE /user/emails/${third.id}`)).status).toBe(204);
    expect(bodyOf(await asAda('GET /user'), 200).public_email).toBeNull();
    expect((await asAda(`DELETE /user/emails/${all[0].id}`)).status).toBe(400);
  });

  test('belong to one user, whom nobody else reaches through them', async () => {
    const [ada, bob] = [await makeUser(app), await makeUser(app)];
    const body = { email: 'only.one@example.org', skip_confirmation: true };
    const { id } = bodyOf(await app.root(`POST /users/${ada.id}/emails`, { body }), 201);
    const again = await app.root(`POST /users/${bob.id}/emails`, { body: { email: 'ONLY.one@example.org' } });
    expect(again).toMatchObject({ status: 400, body: { message: { email: ['has already been taken'] } } });
    expect((await app.as(bob.token)(`GET /user/emails/${id}`)).status).toBe(404);
    expect((await app.as(bob.token)(`DELETE /user/emails/${id}`)).status).toBe(404);
    expect((await app.as(bob.token)(`GET /users/${ada.id}/emails`)).status).toBe(403);
    expect((await app.root(`DELETE /users/${bob.id}/emails/${id}`)).status).toBe(404);
    expect((await app.as(ada.token)('POST /user/emails', { body: { email: 'a@b c' } })).status).toBe(400);
  });

  test('that nobody has confirmed keep nobody out, except as primary ones', async () => {
    const [squatter, reader] = [await makeUser(app), await makeUser(app)];
    const body = { email: 'the.reader@example.org' };
    const add = (user: { token: string }, email: string) =>
      app.as(user.token)('POST /user/emails', { body: { email } });
    const listed = async (user: { token: string }) =>
      bodyOf(await app.as(user.token)('GET /user/emails'), 200).map((row: { email: string }) => row.email);
    bodyOf(await add(squatter, body.email), 201);
    expect((await add(squatter, body.email)).status).toBe(400);
    bodyOf(await add(reader, 'The.Reader@example.org'), 201);
    expect(await listed(squatter)).not.toContain(body.email);
    expect(await auditEventsOf(app, squatter.id)).toContain('email_destroyed');

    bodyOf(await add(squatter, 'new.user@example.org'), 201);
    const { id } = await createUser(app, { email: 'new.user@example.org' });
    expect(bodyOf(await app.root(`GET /users/${id}`), 200).email).toBe('new.user@example.org');

    const unconfirmed = await app.root('POST /users', {
      body: {
        username: 'waits',
        name: 'Waits',
        email: 'waits@example.org',
        password: 'correct horse battery',
      },
    });
    await app.app.services.database.sql`
      update emails set confirmed_at = null where user_id = ${bodyOf(unconfirmed, 201).id}`;
    bodyOf(await add(reader, 'waits@example.org'), 201);
    expect(bodyOf(await app.root(`GET /users/${bodyOf(unconfirmed, 201).id}`), 200).email).toBe(
      'waits@example.org',
    );
  });

  test('of other accounts are told by no answer, and a mail tells their owners', async () => {
    const [owner, other] = [await makeUser(app), await makeUser(app)];
    const primary = `${owner.username}@example.com`;
    const second = `second-${primary}`;
    const unconfirmed = `unconfirmed-${primary}`;
    const confirmed = { email: second, skip_confirmation: true };
    bodyOf(await app.root(`POST /users/${owner.id}/emails`, { body: confirmed }), 201);
    const waiting = await makeUser(app, { email: unconfirmed });
    const { sql } = app.app.services.database;
    await sql`update emails set confirmed_at = null where user_id = ${waiting.id}`;
    const before = bodyOf(await app.root(`GET /users/${owner.id}/emails`), 200);

    const told: string[] = [];
    const held = [primary, second.toUpperCase(), unconfirmed];
    for (const email of [`free-${primary}`, ...held]) {
      const user = await makeUser(app);
      const as = app.as(user.token);
      const body = { email };
      const added = await as('POST /user/emails', { body });
      const responses = [
        added,
        await as('POST /user/emails', { body: { email: email.toLowerCase() } }),
        await as('GET /user/emails'),
        await as(`GET /user/emails/${added.body.id}`),
        await as(`DELETE /user/emails/${added.body.id}`),
        await as('POST /user/emails', { body }),
        // The later user takes the address from the former one.
        await app.as(other.token)('POST /user/emails', { body }),
        await as('GET /user/emails'),
      ];
      expect(responses.map(({ status }) => status)).toEqual([201, 400, 200, 200, 204, 201, 201, 200]);
      const text = JSON.stringify(responses.map(({ body }) => body))
        .replaceAll(email, 'ADDRESS')
        .replaceAll(`${user.username}@`, 'NAME@');
      told.push(text.replaceAll(/"id":\d+/g, '"id":0').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'));
      expect(await auditEventsOf(app, user.id)).toContain('email_destroyed');
    }
    expect(new Set(told).size).toBe(1);

    // The owner keeps the address, is found by it, and alone gets a mail.
    expect(bodyOf(await app.root(`GET /users/${owner.id}/emails`), 200)).toEqual(before);
    const found = async (path: string, query: string) =>
      bodyOf(await app.root(`GET ${path}`, { query }), 200).map(({ id }: { id: number }) => id);
    for (const email of [primary, second]) {
      expect(await found('/users', `search=${email}`)).toEqual([owner.id]);
      expect(await found('/search', `scope=users&search=${email}`)).toEqual([owner.id]);
    }
    await openBrowser(app).submit('/users/confirmation/new', { email: second });
    await waitForMail(app);
    const subject = 'Your address was added to another account';
    for (const [address, { username }] of [
      [primary, owner],
      [second, owner],
      [unconfirmed, waiting],
    ] as const) {
      const mails = mailsTo(app, address);
      expect(new Set(mails.map((mail) => mail.subject))).toEqual(new Set([subject]));
      expect(mails[0]?.text).toContain(`@${username}`);
    }
    expect(mailsTo(app, `free-${primary}`).map((mail) => mail.subject)).not.toContain(subject);
    expect(
      await sql`select from emails where held_elsewhere and confirmation_digest is not null`,
    ).toHaveLength(0);
    expect(await sql`select from emails where held_elsewhere and confirmed_at is not null`).toHaveLength(0);
  });

  test('of two who add one at once, the later has it, whether another account has it or not', async () => {
    const owner = await makeUser(app);
    const { sql } = app.app.services.database;
    const held = `${owner.username}@example.com`;
    for (const email of [`at-once-${held}`, held]) {
      const [first, second] = [await makeUser(app), await makeUser(app)];
      const add = (user: { token: string }) => app.as(user.token)('POST /user/emails', { body: { email } });
      // The first use of a token updates it, and would wait for the row before the address is read.
      bodyOf(await app.as(first.token)('GET /user'), 200);
      // The first waits for its user's row with the address locked, until the second waits too.
      const { answers: responses } = await sql.begin(async (tx) => {
        const waiters = async (): Promise<number> =>
          (
            await sql`select from pg_stat_activity
              where datname = current_database() and wait_event_type = 'Lock'`
          ).length;
        await tx`select from users where id = ${first.id} for update`;
        const earlier = add(first);
        await expect.poll(waiters, { timeout: 10_000 }).toBe(1);
        const later = add(second);
        await expect.poll(waiters, { timeout: 10_000 }).toBe(2);
        return { answers: [earlier, later] };
      });
      expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([201, 201]);
      const rows = await sql`select user_id from emails where email = ${email} and confirmed_at is null`;
      expect(rows).toEqual([{ user_id: second.id }]);
    }
  });

  test('that another account had are the own as soon as they are free', async () => {
    const [former, next] = [await makeUser(app), await makeUser(app)];
    const email = `passed-${former.username}@example.com`;
    const body = { email, skip_confirmation: true };
    const { id } = bodyOf(await app.root(`POST /users/${former.id}/emails`, { body }), 201);
    const as = app.as(next.token);
    const vain = bodyOf(await as('POST /user/emails', { body: { email } }), 201);
    expect((await app.root(`PUT /users/${next.id}`, { body: { email } })).status).toBe(409);
    expect((await app.as(former.token)(`DELETE /user/emails/${id}`)).status).toBe(204);
    const change = { email, skip_reconfirmation: true };
    expect(bodyOf(await app.root(`PUT /users/${next.id}`, { body: change }), 200).email).toBe(email);
    expect(bodyOf(await as(`GET /user/emails/${vain.id}`), 200).confirmed_at).toMatch(/Z$/);
    bodyOf(await app.as(former.token)('POST /user/emails', { body: { email } }), 201);
    const { sql } = app.app.services.database;
    const rows = await sql`select user_id, held_elsewhere from emails where email = ${email} order by id`;
    expect(rows).toEqual([
      { user_id: next.id, held_elsewhere: false },
      { user_id: former.id, held_elsewhere: true },
    ]);
  });
});

describe('status and preferences', () => {
  test('PUT sets all of it, PATCH what is given, and time clears it', async () => {
    const ada = await makeUser(app);
    const asAda = app.as(ada.token);
    const none = { emoji: null, message: null, availability: null, message_html: '', clear_status_at: null };
    expect(bodyOf(await asAda('GET /user/status'), 200)).toEqual(none);
    const body = { emoji: 'coffee', message: 'at <lunch>', clear_status_after: '30_minutes' };
    const set = bodyOf(await asAda('PUT /user/status', { body }), 200);
    expect(set).toMatchObject({ emoji: 'coffee', message_html: 'at &lt;lunch&gt;', availability: 'not_set' });
    const patched = bodyOf(await asAda('PATCH /user/status', { body: { availability: 'busy' } }), 200);
    expect(patched).toEqual({ ...set, availability: 'busy' });
    expect(bodyOf(await app.call(`GET /users/${ada.username}/status`), 200)).toEqual(patched);
    const back = moveClock(31 * 60_000);
    try {
      expect(bodyOf(await app.call(`GET /users/${ada.id}/status`), 200)).toEqual(none);
    } finally {
      back();
    }
    expect(bodyOf(await asAda('PUT /user/status', { body: {} }), 200)).toEqual(none);
    expect((await asAda('PUT /user/status', { body: { message: 'x'.repeat(101) } })).status).toBe(400);
    expect((await asAda('PUT /user/status', { body: { availability: 'gone' } })).status).toBe(400);
  });

  test('preferences keep what is not given', async () => {
    const ada = await createUser(app, { view_diffs_file_by_file: true });
    const asAda = app.as(ada.token);
    const preferences = {
      id: ada.id,
      user_id: ada.id,
      view_diffs_file_by_file: true,
      show_whitespace_in_diffs: true,
      pass_user_identities_to_ci_jwt: false,
      policy_advanced_editor: false,
    };
    expect(bodyOf(await asAda('GET /user/preferences'), 200)).toEqual(preferences);
    const changed = { ...preferences, show_whitespace_in_diffs: false };
    const body = { show_whitespace_in_diffs: false, admin: true };
    expect(bodyOf(await asAda('PUT /user/preferences', { body }), 200)).toEqual(changed);
    expect(bodyOf(await asAda('GET /user/preferences'), 200)).toEqual(changed);
  });
});

describe('keys', () => {
  const { ed25519, rsa } = sampleKeys;

  test('SSH keys: added, shown to all, found by fingerprint, removed', async () => {
    const [ada, bob] = [await makeUser(app), await makeUser(app)];
    const asAda = app.as(ada.token);
    const body = { title: 'laptop', key: `${ed25519.key}\n`, expires_at: '2099-01-01' };
    const key = bodyOf(await asAda('POST /user/keys', { body }), 201);
    expect(key).toEqual({
      id: expect.any(Number),
      title: 'laptop',
      created_at: expect.any(String),
      expires_at: '2099-01-01T00:00:00.000Z',
      last_used_at: null,
      key: ed25519.key,
      usage_type: 'auth_and_signing',
    });
    expect(bodyOf(await app.call(`GET /users/${ada.username}/keys`), 200)).toEqual([key]);
    expect(bodyOf(await app.call(`GET /users/${ada.id}/keys/${key.id}`), 200)).toEqual(key);
    const taken = await app.as(bob.token)('POST /user/keys', {
      body: { title: 'mine now', key: ed25519.key },
    });
    expect(taken.body.message).toEqual({ fingerprint_sha256: ['has already been taken'] });

    const withUser = { ...key, user: expect.objectContaining({ id: ada.id, username: ada.username }) };
    expect(bodyOf(await app.root(`GET /keys/${key.id}`), 200)).toEqual(withUser);
    for (const fingerprint of [ed25519.sha256, ed25519.md5, `MD5:${ed25519.md5}`]) {
      const query = new URLSearchParams({ fingerprint }).toString();
      expect(bodyOf(await app.root('GET /keys', { query }), 200)).toEqual(withUser);
    }
    expect((await asAda(`GET /keys/${key.id}`)).status).toBe(403);
    expect((await app.root('GET /keys', { query: 'fingerprint=SHA256:none' })).status).toBe(404);

    expect((await app.as(bob.token)(`DELETE /user/keys/${key.id}`)).status).toBe(404);
    expect((await app.as(bob.token)(`DELETE /users/${ada.id}/keys/${key.id}`)).status).toBe(403);
    expect((await asAda(`DELETE /user/keys/${key.id}`)).status).toBe(204);
    expect(bodyOf(await asAda('GET /user/keys'), 200)).toEqual([]);
  });

  test.each([
    [{ key: dsaKey, title: 'x' }, { key: ['is invalid'] }],
    [{ key: rsa.key, title: ' ' }, { title: ["can't be blank"] }],
    [{ key: rsa.key, title: 'x', expires_at: '2020-01-01' }, { key: ['has expired'] }],
    [{ key: rsa.key, title: 'x', usage_type: 'all' }, { usage_type: ['does not have a valid value'] }],
  ])('refuses %j', async (body, message) => {
    expect((await app.root('POST /user/keys', { body })).body.message).toEqual(message);
  });

  test('OpenPGP keys', async () => {
    const ada = await makeUser(app);
    const asAda = app.as(ada.token);
    const key = bodyOf(await app.root(`POST /users/${ada.id}/gpg_keys`, { body: { key: gpgKey.key } }), 201);
    expect(bodyOf(await asAda('GET /user/gpg_keys'), 200)).toEqual([key]);
    expect(bodyOf(await app.call(`GET /users/${ada.id}/gpg_keys/${key.id}`), 200)).toEqual(key);
    const again = await asAda('POST /user/gpg_keys', { body: { key: gpgKey.key } });
    expect(again.body.message).toEqual({ fingerprint: ['has already been taken'] });
    expect((await asAda('POST /user/gpg_keys', { body: { key: 'x' } })).status).toBe(400);
    expect((await app.root(`DELETE /user/gpg_keys/${key.id}`)).status).toBe(404);
    expect((await asAda(`DELETE /user/gpg_keys/${key.id}`)).status).toBe(204);
  });
});

describe('following', () => {
  test('once, counted, and seen from both ends', async () => {
    const [ada, bob] = [await makeUser(app), await makeUser(app)];
    const asAda = app.as(ada.token);
    expect(bodyOf(await asAda(`POST /users/${bob.id}/follow`), 201)).toMatchObject({ id: bob.id });
    expect((await asAda(`POST /users/${bob.id}/follow`)).status).toBe(304);
    expect(bodyOf(await asAda(`GET /users/${bob.id}`), 200)).toMatchObject({
      followers: 1,
      is_followed: true,
    });
    expect(bodyOf(await app.call(`GET /users/${bob.id}/followers`), 200)).toMatchObject([{ id: ada.id }]);
    expect(bodyOf(await app.call(`GET /users/${ada.id}/following`), 200)).toMatchObject([{ id: bob.id }]);
    expect(bodyOf(await asAda(`POST /users/${bob.id}/unfollow`), 201)).toMatchObject({ id: bob.id });
    expect((await asAda(`POST /users/${bob.id}/unfollow`)).status).toBe(304);
    expect((await asAda(`POST /users/${ada.id}/follow`)).status).toBe(400);
    expect((await app.call(`POST /users/${ada.id}/follow`)).status).toBe(401);
  });

  test('300 at most (facts §9)', async () => {
    const ada = await makeUser(app);
    const { sql } = app.app.services.database;
    await sql`insert into users (username, name, email, projects_limit, can_create_group, created_at, updated_at)
      select 'followed-' || n, 'Followed', 'followed-' || n || '@example.com', 0, false, now(), now()
      from generate_series(1, 301) n`;
    await sql`insert into follows (follower_id, followee_id, created_at)
      select ${ada.id}, id, now() from users where username like 'followed-%' order by id limit 299`;
    const rest = await sql<{ id: number }[]>`
      select id from users where username like 'followed-%' order by id offset 299`;
    const responses = await Promise.all(
      rest.map((user) =>
        app
          .as(ada.token)(`POST /users/${user.id}/follow`)
          .then((response) => response.status),
      ),
    );
    expect(responses.sort()).toEqual([201, 400]);
  });
});

describe('pictures', () => {
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const upload = (path: string, method: string, token: string, bytes: Buffer, name = 'me.png') => {
    const body = new FormData();
    body.append('avatar', new File([new Uint8Array(bytes)], name, { type: 'image/png' }));
    return fetch(`${app.url}/api/v4${path}`, { method, body, headers: { 'private-token': token } });
  };

  test('one’s own is set, shown in every record, served, and taken away', async () => {
    const ada = await makeUser(app);
    const set = await upload('/user/avatar', 'PUT', ada.token, png, '../my “face”.png');
    expect(set.status).toBe(200);
    const { avatar_url } = (await set.json()) as { avatar_url: string };
    expect(avatar_url).toBe(`${app.url}/uploads/-/system/user/avatar/${ada.id}/my__face_.png`);
    expect(bodyOf(await app.call(`GET /users/${ada.id}`), 200).avatar_url).toBe(avatar_url);

    const served = await fetch(avatar_url);
    expect(Buffer.from(await served.arrayBuffer())).toEqual(png);
    expect(Object.fromEntries(served.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-disposition': 'inline',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    const other = avatar_url.replace(/[^/]+$/, '..%2F..%2F..%2Fconfig.png');
    expect((await fetch(other)).status).toBe(404);
    expect((await fetch(avatar_url.replace('/user/', '/constructor/'))).status).toBe(404);
    expect((await fetch(avatar_url.replace('my__face_', 'face'))).status).toBe(404);

    const { db } = app.app.services.database;
    const row = db.updateTable('users').where('id', '=', ada.id);
    const { avatar } = await db
      .selectFrom('users')
      .select('avatar')
      .where('id', '=', ada.id)
      .executeTakeFirstOrThrow();
    const [file = ''] = avatar?.split('/') ?? [];
    await row.set({ avatar: file }).execute();
    const older = bodyOf(await app.call(`GET /users/${ada.id}`), 200).avatar_url;
    expect(older).toBe(`${app.url}/uploads/-/system/user/avatar/${ada.id}/${file}`);
    expect((await fetch(older)).status).toBe(200);
    expect((await fetch(avatar_url)).status).toBe(404);
    await row.set({ avatar }).execute();

    bodyOf(await app.as(ada.token)('PUT /user/avatar', { body: { avatar: '' } }), 200);
    expect((await fetch(avatar_url)).status).toBe(404);
    expect((await app.as(ada.token)('PUT /user/avatar', { body: {} })).status).toBe(400);
  });

  test('administrators set others’; only pictures are taken', async () => {
    const ada = await makeUser(app);
    const token = 'glpat-root-token-of-the-tests';
    const set = await upload(`/users/${ada.id}`, 'PUT', token, png);
    expect(((await set.json()) as { avatar_url: string }).avatar_url).toContain(`/user/avatar/${ada.id}/`);
    const script = await upload('/user/avatar', 'PUT', ada.token, Buffer.from('<svg onload="alert(1)"/>'));
    expect(script.status).toBe(400);
    expect(await script.json()).toMatchObject({
      message: { avatar: [expect.stringContaining('not supported')] },
    });
    const big = await upload(
      '/user/avatar',
      'PUT',
      ada.token,
      Buffer.concat([png, Buffer.alloc(205 * 1_024)]),
    );
    expect([400, 413]).toContain(big.status);
  });

  test('by mail address: a shown one is its user’s, any other says nothing of who has it', async () => {
    const ada = await makeUser(app);
    await upload('/user/avatar', 'PUT', ada.token, png);
    const { email } = bodyOf(await app.root(`GET /users/${ada.id}`), 200);
    const find = async () =>
      bodyOf(await app.call('GET /avatar', { query: `email=${email}` }), 200).avatar_url;
    expect(await find()).toMatch(/^https:\/\/www\.gravatar\.com\/avatar\/[0-9a-f]{64}\?/);
    bodyOf(await app.root(`PUT /users/${ada.id}`, { body: { public_email: email } }), 200);
    expect(await find()).toBe(`${app.url}/uploads/-/system/user/avatar/${ada.id}/me.png`);
  });

  test('by mail address, in the width that is asked for; not without an account where nothing is public', async () => {
    const find = (query: string, call = app.call) => call('GET /avatar', { query });
    const url = bodyOf(await find('email=a@example.org&size=32'), 200).avatar_url;
    expect(url).toMatch(/^https:\/\/www\.gravatar\.com\/avatar\/[0-9a-f]{64}\?s=64&d=identicon$/);
    for (const size of ['0', '-1', 'x', '99999'])
      expect((await find(`email=a@example.org&size=${size}`)).status).toBe(400);

    const closed = { restricted_visibility_levels: ['public'] };
    bodyOf(await app.root('PUT /application/settings', { body: closed }), 200);
    expect((await find('email=a@example.org')).status).toBe(403);
    bodyOf(await find('email=a@example.org', app.root), 200);
    bodyOf(await app.root('PUT /application/settings', { body: { restricted_visibility_levels: [] } }), 200);
    bodyOf(await find('email=a@example.org'), 200);
  });
});
