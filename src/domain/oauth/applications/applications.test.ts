import { setTimeout } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { type Browser, openBrowser, signInAs, withSettings } from '../../../../test/support/browser.ts';
import { addMember, bodyOf, makeGroup, makeUser } from '../../../../test/support/factories.ts';
import type { UserColumns } from '../../../../test/support/rows.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { digest } from '../../../platform/secret.ts';
import { insertGrant, issueTokens } from '../grants/actions.ts';

const app = useApp();
const PASSWORD = 'correct horse battery staple';
const OWN = '/-/profile/applications';
const ADMIN = '/admin/applications';

beforeAll(async () => {
  const { settings, database } = app.app.services;
  await settings.write(database.db, { throttle_protected_paths_enabled: false });
  settings.forget();
});

const client = { name: 'Client', redirect_uri: 'https://client.example/callback', scopes: 'api read_user' };
const create = async (changes: Record<string, unknown> = {}) =>
  bodyOf(await app.root('POST /applications', { body: { ...client, ...changes } }), 201);

async function person(columns: UserColumns = {}) {
  const user = await makeUser(app, columns);
  const browser = openBrowser(app);
  expect((await signInAs(browser, user.username, PASSWORD)).status).toBe(302);
  return { ...user, browser };
}

const rowOf = async (id: number) => {
  const [row] = await app.app.services.database.sql`select * from oauth_applications where id = ${id}`;
  return row;
};

const auditEvents = async (entity: string, entityId: number): Promise<string[]> => {
  const query = `entity_type=${entity}&entity_id=${entityId}&per_page=100`;
  const events = bodyOf(await app.root('GET /audit_events', { query }), 200);
  return events.map((event: { event_name: string }) => event.event_name);
};

/** A token that the user gave to the application, and the code of a grant that is under way. */
async function grantTo(applicationId: number | null, userId: number, scopes: string[], redirectUri?: string) {
  const { db } = app.app.services.database;
  return inTransaction(db, async (tx) => {
    const code = {
      value: `code-${Math.random()}`,
      redirect_uri: redirectUri ?? '',
      code_challenge: null,
      nonce: null,
    };
    const id = await insertGrant(tx, {
      kind: redirectUri === undefined ? 'password' : 'authorization_code',
      application_id: applicationId,
      user_id: userId,
      scopes,
      ...(redirectUri !== undefined && { code }),
    });
    const issued = await issueTokens(tx, { id, user_id: userId, scopes, name: 'test', renewable: true });
    return { id, token: issued.accessToken };
  });
}

const isRevoked = async (grantId: number): Promise<boolean> => {
  const [row] = await app.app.services.database
    .sql`select revoked_at from oauth_grants where id = ${grantId}`;
  return row?.revoked_at !== null;
};

const opens = async (token: string): Promise<number> =>
  (await app.call('GET /user', { headers: { authorization: `Bearer ${token}` } })).status;

/** Fills in the form of an owner's pages and registers an application; its page path and the page's text. */
async function register(browser: Browser, base: string, changes: Record<string, string> = {}) {
  const fields = {
    name: 'Client',
    redirect_uri: 'https://client.example/callback',
    scope_api: '1',
    confidential: '1',
    ...changes,
  };
  const response = await browser.submit(`${base}/new`, fields, base);
  const path = /action="([^"]*)\/delete"/.exec(response.text)?.[1] ?? '';
  return {
    answer: response,
    path,
    id: Number(path.split('/').at(-1)),
    secret: /id="secret">([^<]*)</.exec(response.text)?.[1],
  };
}

describe('the endpoints', () => {
  test('create shows the secret once and stores its digest only', async () => {
    const made = await create();
    expect(made).toEqual({
      id: expect.any(Number),
      application_id: expect.stringMatching(/^[0-9a-f]{64}$/),
      application_name: 'Client',
      callback_url: 'https://client.example/callback',
      confidential: true,
      secret: expect.stringMatching(/^gloas-[0-9a-f]{64}$/),
    });
    const { secret, ...shown } = made;
    const listed = bodyOf(await app.root('GET /applications', { query: 'per_page=100' }), 200);
    expect(listed).toContainEqual(shown);
    const row = await rowOf(made.id);
    expect(row?.secret_digest).toEqual(digest(secret));
    expect(JSON.stringify(row)).not.toContain(secret);
    expect(await auditEvents('InstanceScope', 1)).toContain('oauth_application_created');
  });

  test('create takes several redirect URIs, a public client, loopback, and nothing that is not asked for', async () => {
    const redirect_uri = 'http://127.0.0.1:3000/a\nmy-app://b\nhttp://127.0.0.1:3000/a';
    const made = await create({
      redirect_uri,
      confidential: 'false',
      trusted: true,
      user_id: 1,
      dynamic: true,
    });
    expect([made.callback_url, made.confidential]).toEqual(['http://127.0.0.1:3000/a\nmy-app://b', false]);
    expect(await rowOf(made.id)).toMatchObject({ trusted: false, user_id: null, dynamic: false });
  });

  test.each([
    [{ name: '' }, { name: ["can't be blank"] }],
    [{ redirect_uri: '/callback' }, { redirect_uri: ['must be an absolute URI.'] }],
    [{ redirect_uri: 'javascript:alert(1)' }, { redirect_uri: ['is forbidden by the server.'] }],
    [{ scopes: '' }, { scopes: ["can't be blank"] }],
    [{ scopes: 'everything' }, { scopes: ["doesn't match configured on the server."] }],
  ])('create refuses %o', async (changes, message) => {
    const response = await app.root('POST /applications', { body: { ...client, ...changes } });
    expect([response.status, response.body]).toEqual([400, { message }]);
  });

  test('plain HTTP to another computer is taken, unless the instance insists on HTTPS', async () => {
    const redirect_uri = 'http://client.example/';
    expect((await create({ redirect_uri })).callback_url).toBe(redirect_uri);
    await withSettings(app, { oauth_plain_http_allowed: false }, async () => {
      const response = await app.root('POST /applications', { body: { ...client, redirect_uri } });
      expect([response.status, response.body.message]).toEqual([
        400,
        { redirect_uri: ['must be an HTTPS/SSL URI.'] },
      ]);
      // This machine needs none.
      for (const local of ['http://127.0.0.1:3000/a', 'http://localhost/', 'http://[::1]:1/'])
        expect((await create({ redirect_uri: local })).callback_url).toBe(local);
    });
  });

  test('renewing gives another secret; deleting ends every token at once', async () => {
    const user = await makeUser(app);
    const made = await create();
    const { token } = await grantTo(made.id, user.id, ['api']);
    const renewed = bodyOf(await app.root(`POST /applications/${made.id}/renew-secret`), 201);
    expect(renewed).toEqual({ ...made, secret: expect.stringMatching(/^gloas-[0-9a-f]{64}$/) });
    expect(renewed.secret).not.toBe(made.secret);
    expect((await rowOf(made.id))?.secret_digest).toEqual(digest(renewed.secret));
    expect(await opens(token)).toBe(200);
    expect((await app.root(`DELETE /applications/${made.id}`)).status).toBe(204);
    expect(await opens(token)).toBe(401);
    const events = await auditEvents('InstanceScope', 1);
    expect(events).toContain('oauth_application_secret_renewed');
    expect(events).toContain('oauth_application_deleted');
    for (const request of [`DELETE /applications/${made.id}`, `POST /applications/${made.id}/renew-secret`]) {
      const gone = await app.root(request);
      expect([gone.status, gone.body]).toEqual([404, { message: '404 Application Not Found' }]);
    }
  });

  test('deleted twice at once, it is gone once', async () => {
    const made = await create();
    const both = await Promise.all([1, 2].map(() => app.root(`DELETE /applications/${made.id}`)));
    expect(both.map(({ status }) => status).sort()).toEqual([204, 404]);
  });

  test("others than administrators are refused, and people's own applications are out of reach", async () => {
    const user = await person();
    const { id } = await register(user.browser, OWN);
    const made = await create();
    for (const request of [
      'GET /applications',
      'POST /applications',
      `DELETE /applications/${made.id}`,
      `POST /applications/${made.id}/renew-secret`,
    ]) {
      expect((await app.as(user.token)(request)).status).toBe(403);
      expect((await app.call(request)).status).toBe(401);
    }
    expect((await app.root(`DELETE /applications/${id}`)).status).toBe(404);
    expect(await rowOf(made.id)).toBeDefined();
    expect(await rowOf(id)).toMatchObject({ user_id: user.id });
  });
});

describe("a user's own applications", () => {
  test('are registered, shown without the secret, changed, renewed and deleted without JavaScript', async () => {
    const { browser, id: userId } = await person();
    expect((await browser.get(OWN)).text).toContain(`href="${OWN}/new"`);
    const { answer: response, path, id, secret } = await register(browser, OWN, { scope_openid: '1' });
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(secret).toMatch(/^gloas-[0-9a-f]{64}$/);
    expect(await rowOf(id)).toMatchObject({
      user_id: userId,
      scopes: ['api', 'openid'],
      confidential: true,
      trusted: false,
      secret_digest: digest(secret ?? ''),
    });
    expect((await browser.get(OWN)).text).toContain(`href="${path}">Client</a>`);
    const shown = await browser.get(path);
    expect(shown.text).toContain('https://client.example/callback');
    expect(shown.text).not.toContain('gloas-');
    const edit = await browser.get(`${path}/edit`);
    expect(edit.text).toMatch(/id="scope_openid"[^>]* checked/);
    expect(edit.text).not.toMatch(/id="scope_sudo"[^>]* checked/);
    const changed = await browser.submit(
      `${path}/edit`,
      { name: 'Other', redirect_uri: 'https://b.example/\r\nhttps://c.example/', scope_read_user: '1' },
      path,
    );
    expect([changed.status, changed.location]).toEqual([303, path]);
    expect(await rowOf(id)).toMatchObject({
      name: 'Other',
      redirect_uris: ['https://b.example/', 'https://c.example/'],
      scopes: ['read_user'],
      confidential: false,
    });
    const renewed = await browser.submit(path, {}, `${path}/renew`);
    expect(renewed.text).toMatch(/gloas-[0-9a-f]{64}/);
    expect(renewed.text).not.toContain(secret);
    const removed = await browser.submit(path, {}, `${path}/delete`);
    expect([removed.status, removed.location]).toEqual([303, OWN]);
    expect((await browser.get(path)).status).toBe(404);
    const events = await auditEvents('User', userId);
    for (const what of ['created', 'updated', 'secret_renewed', 'deleted']) {
      expect(events).toContain(`oauth_application_${what}`);
    }
  });

  test.each([
    [{ name: '' }, "Name can't be blank"],
    [{ redirect_uri: 'javascript:alert(1)' }, 'Redirect URI is forbidden by the server.'],
    [{ redirect_uri: '/callback' }, 'Redirect URI must be an absolute URI.'],
    [{ scope_api: '' }, "Scopes can't be blank"],
  ])('are not registered with %o, and the form keeps what was typed', async (changes, alert) => {
    const { browser, id } = await person();
    const { answer: response } = await register(browser, OWN, { confidential: '', ...changes });
    expect([response.status, response.alert]).toEqual([422, alert]);
    expect(response.text).not.toMatch(/id="confidential"[^>]* checked/);
    const [made] = await app.app.services.database
      .sql`select id from oauth_applications where user_id = ${id}`;
    expect(made).toBeUndefined();
  });

  test('show what they are called as text', async () => {
    const { browser } = await person();
    const name = '<script>alert(1)</script>"\'&';
    const { path, answer: response } = await register(browser, OWN, { name });
    for (const page of [
      response,
      await browser.get(OWN),
      await browser.get(path),
      await browser.get(`${path}/edit`),
    ])
      expect(page.text).not.toContain('<script');
  });

  test("are nobody else's to see or change: not another user's, not an administrator's", async () => {
    const owner = await person();
    const { path, id } = await register(owner.browser, OWN);
    const before = await rowOf(id);
    for (const attributes of [{}, { admin: true }]) {
      const { browser } = await person(attributes);
      const { path: theirs } = await register(browser, OWN);
      const { authenticity_token = '' } = await tokenOf(browser, `${theirs}/edit`, theirs);
      for (const page of [path, `${path}/edit`, `${OWN}/x`, `${OWN}/0`])
        expect([page, (await browser.get(page)).status]).toEqual([page, 404]);
      const fields = {
        authenticity_token,
        name: 'Mine',
        redirect_uri: 'https://evil.example/',
        scope_api: '1',
      };
      for (const action of [path, `${path}/renew`, `${path}/delete`])
        expect([action, (await browser.post(action, fields)).status]).toEqual([action, 404]);
      if (attributes.admin) expect((await browser.get(`${ADMIN}/${id}`)).status).toBe(404);
    }
    expect(await rowOf(id)).toEqual(before);
  });

  test('cannot be made trusted, or given to somebody else, by fields that the form does not have', async () => {
    const { browser, id: userId } = await person();
    const { id, path } = await register(browser, OWN, { trusted: '1', user_id: '1', namespace_id: '1' });
    expect(await rowOf(id)).toMatchObject({ trusted: false, user_id: userId, namespace_id: null });
    await browser.submit(
      `${path}/edit`,
      { name: 'x', redirect_uri: 'https://a.example/', scope_api: '1', trusted: '1' },
      path,
    );
    expect(await rowOf(id)).toMatchObject({ name: 'x', trusted: false });
  });

  test('cross-site request forgery: without the token of the session nothing happens', async () => {
    const { browser } = await person();
    const { path, id } = await register(browser, OWN);
    const before = await rowOf(id);
    const fields = { name: 'x', redirect_uri: 'https://evil.example/', scope_api: '1', confidential: '1' };
    const other = await person();
    const { authenticity_token = '' } = await tokenOf(other.browser, `${OWN}/new`, OWN);
    for (const action of [OWN, path, `${path}/renew`, `${path}/delete`, `${OWN}/authorized/${id}/revoke`]) {
      expect((await browser.post(action, fields)).status).toBe(403);
      expect((await browser.post(action, { ...fields, authenticity_token })).status).toBe(403);
      const own = await tokenOf(browser, `${OWN}/new`, OWN);
      const site = { 'sec-fetch-site': 'cross-site' };
      expect((await browser.post(action, { ...fields, ...own }, site)).status).toBe(403);
    }
    expect(await rowOf(id)).toEqual(before);
  });

  test('need a session', async () => {
    const nobody = openBrowser(app);
    for (const path of [OWN, `${OWN}/new`, ADMIN]) {
      const { status, location } = await nobody.get(path);
      expect([status, location]).toEqual([303, `/users/sign_in?return_to=${encodeURIComponent(path)}`]);
    }
    expect((await nobody.post(OWN, { name: 'x' })).location).toBe('/users/sign_in');
  });

  test('are not registered where the instance has turned that off, but by administrators', () =>
    withSettings(app, { user_oauth_applications: false }, async () => {
      const { browser } = await person();
      const list = await browser.get(OWN);
      expect(list.text).toContain('turned off');
      expect(list.text).not.toContain(`${OWN}/new`);
      expect((await browser.get(`${OWN}/new`)).status).toBe(403);
      const authenticity_token = /name="authenticity_token" value="([^"]*)"/.exec(list.text)?.[1] ?? '';
      const fields = { authenticity_token, name: 'x', redirect_uri: 'https://a.example/', scope_api: '1' };
      expect((await browser.post(OWN, fields)).status).toBe(403);
      const admin = await person({ admin: true });
      expect((await register(admin.browser, OWN)).secret).toBeDefined();
    }));

  test('are in pages of fifty', async () => {
    const { browser, id } = await person();
    await app.app.services.database.sql`
      insert into oauth_applications (uid, name, redirect_uris, scopes, confidential, user_id, created_at, updated_at)
      select 'page-' || n, 'Number ' || n, '{https://a.example/}', '{api}', true, ${id}, now(), now()
      from generate_series(1, 51) n`;
    const first = await browser.get(OWN);
    expect(first.text).toContain('>Number 50<');
    expect(first.text).not.toContain('>Number 51<');
    expect(first.text).toContain(`href="${OWN}?page=2">Next`);
    const second = await browser.get(`${OWN}?page=2`);
    expect(second.text).toContain('>Number 51<');
    expect(second.text).toContain(`href="${OWN}?page=1">Previous`);
    expect(second.text).not.toContain('>Next<');
  });
});

/** The hidden fields of the form of a page. */
async function tokenOf(browser: Browser, page: string, action: string): Promise<Record<string, string>> {
  const { text } = await browser.get(page);
  expect(text).toContain(`action="${action}"`);
  return { authenticity_token: /name="authenticity_token" value="([^"]*)"/.exec(text)?.[1] ?? '' };
}

describe("a group's applications", () => {
  test('are managed by its owners, by id and by path', async () => {
    const group = await makeGroup(app);
    const parent = await makeGroup(app, { path: `parent-of-${group.id}` });
    const child = await makeGroup(app, { parent_id: parent.id });
    const owner = await person();
    await addMember(app, `groups/${parent.id}`, owner, 50);
    const base = `/groups/${child.id}/-/settings/applications`;
    const byPath = `/groups/${encodeURIComponent(child.full_path)}/-/settings/applications`;
    expect((await owner.browser.get(byPath)).text).toContain(`href="${base}/new"`);
    const { path, id } = await register(owner.browser, base, { trusted: '1' });
    expect(path).toBe(`${base}/${id}`);
    expect(await rowOf(id)).toMatchObject({ namespace_id: child.id, user_id: null, trusted: false });
    const second = await person();
    await addMember(app, `groups/${child.id}`, second, 50);
    expect((await second.browser.get(path)).status).toBe(200);
    expect(await auditEvents('Group', child.id)).toContain('oauth_application_created');
    const removed = await second.browser.submit(path, {}, `${path}/delete`);
    expect([removed.status, removed.location]).toEqual([303, base]);
  });

  test.each([
    ['a maintainer', 40, 403],
    ['a guest', 10, 403],
    ['an outsider', undefined, 404],
  ])('are out of reach of %s', async (_, level, status) => {
    const group = await makeGroup(app);
    const owner = await person();
    await addMember(app, `groups/${group.id}`, owner, 50);
    const base = `/groups/${group.id}/-/settings/applications`;
    const { path, id } = await register(owner.browser, base);
    const before = await rowOf(id);
    const other = await person();
    if (level !== undefined) await addMember(app, `groups/${group.id}`, other, level);
    for (const page of [base, `${base}/new`, path, `${path}/edit`])
      expect([page, (await other.browser.get(page)).status]).toEqual([page, status]);
    const token = await tokenOf(other.browser, `${OWN}/new`, OWN);
    const fields = { ...token, name: 'x', redirect_uri: 'https://evil.example/', scope_api: '1' };
    for (const action of [base, path, `${path}/renew`, `${path}/delete`])
      expect([action, (await other.browser.post(action, fields)).status]).toEqual([action, status]);
    expect(await rowOf(id)).toEqual(before);
  });

  test("of another group are not reached through one's own", async () => {
    const [mine, theirs] = [await makeGroup(app), await makeGroup(app)];
    const [me, them] = [await person(), await person()];
    await addMember(app, `groups/${mine.id}`, me, 50);
    await addMember(app, `groups/${theirs.id}`, them, 50);
    const { id } = await register(them.browser, `/groups/${theirs.id}/-/settings/applications`);
    const base = `/groups/${mine.id}/-/settings/applications`;
    expect((await me.browser.get(`${base}/${id}`)).status).toBe(404);
    const token = await tokenOf(me.browser, `${base}/new`, base);
    expect((await me.browser.post(`${base}/${id}/delete`, token)).status).toBe(404);
    expect((await me.browser.post(`${base}/${id}/renew`, token)).status).toBe(404);
    expect(await rowOf(id)).toBeDefined();
  });
});

describe("the instance's applications", () => {
  test('are for administrators, who alone mark one as trusted', async () => {
    const { browser } = await person({ admin: true });
    const { path, id } = await register(browser, ADMIN, { trusted: '1' });
    expect(await rowOf(id)).toMatchObject({ trusted: true, user_id: null, namespace_id: null });
    expect((await browser.get(path)).text).toContain('Confidential, trusted');
    const fields = { name: 'x', redirect_uri: 'https://a.example/', scope_api: '1', confidential: '1' };
    expect((await browser.submit(`${path}/edit`, fields, path)).status).toBe(303);
    expect(await rowOf(id)).toMatchObject({ trusted: false });
    const other = await person();
    const token = await tokenOf(other.browser, `${OWN}/new`, OWN);
    for (const page of [ADMIN, `${ADMIN}/new`, path, `${path}/edit`])
      expect([page, (await other.browser.get(page)).status]).toEqual([page, 404]);
    for (const action of [ADMIN, path, `${path}/renew`, `${path}/delete`])
      expect((await other.browser.post(action, { ...fields, ...token, trusted: '1' })).status).toBe(404);
    expect(await rowOf(id)).toMatchObject({ name: 'x', trusted: false });
  });
});

describe('changing an application ends what it may no longer have', () => {
  const fields = {
    name: 'Client',
    redirect_uri: 'https://a.example/ https://b.example/',
    scope_api: '1',
    scope_read_user: '1',
    confidential: '1',
  };
  const without = (name: keyof typeof fields) => ({ ...fields, [name]: '' });

  test.each([
    ['nothing taken away', { ...fields, name: 'Other', scope_openid: '1' }, [], 200],
    ['a scope taken away', without('scope_api'), ['wide', 'toA'], 401],
    ['an address taken away', { ...fields, redirect_uri: 'https://b.example/' }, ['toA'], 200],
    ['no longer confidential', without('confidential'), ['wide', 'narrow', 'toA'], 401],
  ])('%s', async (_, change, ended, opened) => {
    const { browser, id: userId } = await person();
    const { id, path } = await register(browser, OWN, fields);
    const grants = {
      wide: await grantTo(id, userId, ['api', 'read_user']),
      narrow: await grantTo(id, userId, ['read_user']),
      toA: await grantTo(id, userId, ['api'], 'https://a.example/'),
    };
    const elsewhere = await grantTo((await create()).id, userId, ['api']);
    const { sql } = app.app.services.database;
    await sql`
      insert into oauth_devices (application_id, digest, user_code, scopes, interval_seconds, expires_at, created_at)
      values (${id}, ${digest(`${id}`)}, ${`code-${id}`}, '{api}', 5, now() + interval '5 minutes', now())`;
    expect((await browser.submit(`${path}/edit`, change, path)).status).toBe(303);
    const revoked: string[] = [];
    for (const [name, grant] of Object.entries(grants)) if (await isRevoked(grant.id)) revoked.push(name);
    expect(revoked).toEqual(ended);
    expect(await opens(grants.wide.token)).toBe(opened);
    expect(await opens(elsewhere.token)).toBe(200);
    const devices = await sql`select id from oauth_devices where application_id = ${id}`;
    expect(devices.length).toBe(opened === 200 ? 1 : 0);
  });

  test('a code that was used goes on when its address is taken away', async () => {
    const { browser, id: userId } = await person();
    const { id, path } = await register(browser, OWN, fields);
    const { id: grantId, token } = await grantTo(id, userId, ['api'], 'https://a.example/');
    await app.app.services.database.sql`update oauth_grants set code_used_at = now() where id = ${grantId}`;
    await browser.submit(`${path}/edit`, { ...fields, redirect_uri: 'https://b.example/' }, path);
    expect([await isRevoked(grantId), await opens(token)]).toEqual([false, 200]);
  });
});

describe('what a user has authorised', () => {
  test('is listed below, and revoked at once', async () => {
    const { browser, id: userId } = await person();
    const other = await person();
    const made = await create({ name: 'Authorised client' });
    const mine = [await grantTo(made.id, userId, ['api']), await grantTo(made.id, userId, ['read_user'])];
    const theirs = await grantTo(made.id, other.id, ['api']);
    const list = await browser.get(OWN);
    expect(list.text.match(/Authorised client<\/strong>/g)).toHaveLength(1);
    expect(list.text).toContain('<code>api</code> <code>read_user</code>');
    const action = `${OWN}/authorized/${made.id}/revoke`;
    const response = await browser.submit(OWN, {}, action);
    expect([response.status, response.location]).toEqual([303, OWN]);
    for (const { token } of mine) expect(await opens(token)).toBe(401);
    expect(await opens(theirs.token)).toBe(200);
    const after = await browser.get(OWN);
    expect(after.text).not.toContain('Authorised client');
    expect((await browser.post(action, await tokenOf(browser, `${OWN}/new`, OWN))).status).toBe(404);
    expect(await auditEvents('User', userId)).toContain('oauth_authorization_revoked');
  });

  test('is also what a program got for a password without saying its name', async () => {
    const { browser, id: userId } = await person();
    const named = await grantTo((await create()).id, userId, ['api']);
    const unnamed = await grantTo(null, userId, ['api']);
    await browser.submit(OWN, {}, `${OWN}/authorized/password/revoke`);
    expect([await opens(unnamed.token), await opens(named.token)]).toEqual([401, 200]);
  });

  test('is not what was never redeemed', async () => {
    const { browser, id: userId } = await person();
    await grantTo((await create({ name: 'Never redeemed' })).id, userId, ['api'], 'https://a.example/');
    expect((await browser.get(OWN)).text).not.toContain('Never redeemed');
  });
});

/** Returns when a statement waits for a row that another has locked. */
async function untilWaiting(): Promise<void> {
  for (let times = 0; times < 500; times++) {
    const [row] = await app.app.services.database.sql<{ waiting: boolean }[]>`
      select exists (select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock') as waiting`;
    if (row?.waiting) return;
    await setTimeout(10);
  }
  throw new Error('nothing waits');
}

describe('security', () => {
  test('a refresh that is under way while scopes are taken away gives nothing that lives', async () => {
    const { browser, id: userId } = await person();
    const { path, id } = await register(browser, OWN, { scope_read_user: '1' });
    const grant = await grantTo(id, userId, ['api']);
    const { db } = app.app.services.database;
    const fields = { ...(await tokenOf(browser, `${path}/edit`, path)), name: 'Client', confidential: '1' };
    let updated: Promise<unknown> = Promise.resolve();
    const late = await inTransaction(db, async (tx) => {
      await tx.selectFrom('oauth_grants').select('id').where('id', '=', grant.id).forUpdate().execute();
      const redirect_uri = 'https://client.example/callback';
      updated = browser.post(path, { ...fields, redirect_uri, scope_read_user: '1' });
      await untilWaiting();
      const of = { id: grant.id, user_id: userId, scopes: ['api'], name: 'late', renewable: true };
      return (await issueTokens(tx, of)).accessToken;
    });
    await updated;
    expect([await isRevoked(grant.id), await opens(grant.token), await opens(late)]).toEqual([
      true,
      401,
      401,
    ]);
  });

  test('resource exhaustion: a user has a thousand applications at most', async () => {
    const { browser, id: userId } = await person();
    await app.app.services.database.sql`
      insert into oauth_applications (uid, name, redirect_uris, scopes, confidential, user_id, created_at, updated_at)
      select 'many-' || n, 'Many', '{https://a.example/}', '{api}', false, ${userId}, now(), now()
      from generate_series(1, 1000) n`;
    const fields = { name: 'One more', redirect_uri: 'https://a.example/', scope_api: '1' };
    expect((await browser.submit(`${OWN}/new`, fields, OWN)).status).toBe(400);
  });

  test('a name that reads as something else is refused', async () => {
    for (const name of ['Good\u202elive', 'Two\nlines', 'a\u2066b']) {
      const response = await app.root('POST /applications', { body: { ...client, name } });
      expect([response.status, response.body.message.name]).toEqual([
        400,
        ['contains characters that are not allowed'],
      ]);
    }
  });

  test('a NUL in the path of a group is malformed', async () => {
    const { browser } = await person();
    expect((await browser.get('/groups/a%00b/-/settings/applications')).status).toBe(400);
  });
});
