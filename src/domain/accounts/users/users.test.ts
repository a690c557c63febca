import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeProject, makeUser, uniqueName } from '../../../../test/support/factories.ts';

const app = useApp();
const database = () => app.app.services.database.sql;

const newUser = (attributes: Record<string, unknown> = {}) => {
  const username = uniqueName('made');
  const email = `${username}@example.com`;
  return { username, name: username, email, password: 'a long enough password', ...attributes };
};
const create = async (attributes: Record<string, unknown> = {}) =>
  bodyOf(await app.root('POST /users', { body: newUser(attributes) }), 201);

const basicFields = [
  'id',
  'username',
  'public_email',
  'name',
  'state',
  'locked',
  'avatar_url',
  'web_url',
] as const;

describe('shapes', () => {
  test('an administrator is shown more of oneself than anybody else is', async () => {
    const root = bodyOf(await app.root('GET /user'), 200);
    expect(root).toMatchObject({
      id: 1,
      username: 'root',
      is_admin: true,
      bot: false,
      email: expect.any(String),
    });
    const ada = await makeUser(app);
    const own = bodyOf(await app.as(ada.token)('GET /user'), 200);
    expect(own).toMatchObject({
      id: ada.id,
      two_factor_enabled: false,
      can_create_project: true,
      identities: [],
    });
    expect(own).not.toHaveProperty('is_admin');
    expect(own).not.toHaveProperty('note');
  });

  test('the list is basic for others, anonymous too', async () => {
    const { id } = await create();
    const listed = bodyOf(await app.call('GET /users', { query: 'per_page=1' }), 200);
    expect(Object.keys(listed[0])).toEqual([...basicFields]);
    const { body } = await app.root('GET /users', { query: 'per_page=1' });
    expect(body[0]).toMatchObject({ id, is_admin: false, created_by: { username: 'root' } });
  });

  test('a profile tells no address; a private one keeps more to itself', async () => {
    const ada = await makeUser(app, { private_profile: true, bio: 'Mason' });
    const bob = await makeUser(app);
    const seen = bodyOf(await app.as(bob.token)(`GET /users/${ada.id}`), 200);
    expect(seen).toMatchObject({ username: ada.username, bio: 'Mason', bot: false });
    for (const hidden of [
      'created_at',
      'followers',
      'following',
      'is_followed',
      'email',
      'private_profile',
    ]) {
      expect(seen).not.toHaveProperty(hidden);
    }
    const own = bodyOf(await app.as(ada.token)(`GET /users/${ada.id}`), 200);
    expect(own).toMatchObject({ followers: 0, following: 0, created_at: expect.any(String) });
    expect(bodyOf(await app.call(`GET /users/${bob.id}`), 200)).not.toHaveProperty('is_followed');
    expect((await app.as(bob.token)(`GET /users/${ada.id}/followers`)).status).toBe(403);
    expect((await app.call('GET /users/999999')).body).toEqual({ message: '404 User Not Found' });
  });

  test('where public is restricted, nobody is shown to the anonymous', async () => {
    const put = (levels: string[]) =>
      app.root('PUT /application/settings', { body: { restricted_visibility_levels: levels } });
    bodyOf(await put(['public']), 200);
    expect((await app.call('GET /users')).status).toBe(403);
    expect((await app.call('GET /users/1')).status).toBe(404);
    bodyOf(await put([]), 200);
    expect((await app.call('GET /users/1')).status).toBe(200);
  });
});

describe('making users', () => {
  test('needs an administrator', async () => {
    const ada = await makeUser(app);
    expect((await app.as(ada.token)('POST /users', { body: newUser() })).status).toBe(403);
    expect((await app.call('POST /users', { body: newUser() })).status).toBe(401);
  });

  test.each([
    [{ username: undefined }, 400, /"username" not given/],
    [{ password: undefined }, 400, /"password" not given/],
    [{ password: 'short' }, 400, { password: ['is too short (minimum is 8 characters)'] }],
    [{ username: 'admin' }, 400, { username: [expect.stringContaining('reserved')] }],
    [{ username: '-dash' }, 400, { username: [expect.stringContaining('can contain only')] }],
    [{ name: ' ' }, 400, { name: ["can't be blank"] }],
    [{ email: 'nowhere' }, 400, { email: ['is invalid'] }],
    [{ public_email: 'other@example.com' }, 400, { public_email: ['is not an email you own'] }],
    [{ website_url: 'javascript:alert(1)' }, 400, { website_url: ['is not a valid URL'] }],
    [{ email: 'ADMIN@example.com' }, 409, /Email has already been taken/],
    [{ username: 'ROOT' }, 409, /Username has already been taken/],
  ])('%j is a %i', async (attributes, status, message) => {
    const refused = await app.root('POST /users', { body: newUser(attributes) });
    expect(refused.status).toBe(status);
    expect(refused.body.message).toEqual(
      message instanceof RegExp ? expect.stringMatching(message) : message,
    );
  });

  test('a group has the name already', async () => {
    const group = await makeGroup(app);
    const refused = await app.root('POST /users', { body: newUser({ username: group.full_path }) });
    expect(refused).toMatchObject({ status: 409, body: { message: 'Username has already been taken' } });
  });

  test('the same twice at once makes one', async () => {
    const body = newUser();
    const responses = await Promise.all([1, 2, 3].map(() => app.root('POST /users', { body })));
    expect(responses.map((response) => response.status === 201).filter(Boolean)).toHaveLength(1);
    expect(responses.every((response) => [201, 400, 409].includes(response.status))).toBe(true);
  });

  test('only what is named can be set', async () => {
    const made = await create({
      id: 9999,
      state: 'blocked',
      kind: 'ghost',
      deletion: 'hard',
      created_by_id: 7,
    });
    expect(made).toMatchObject({ state: 'active', bot: false, created_by: { id: 1 } });
    expect(made.id).not.toBe(9999);
  });

  test('private_profile null is the default of the instance; false, true and absent are themselves', async () => {
    const put = (value: boolean) =>
      app.root('PUT /application/settings', { body: { user_defaults_to_private_profile: value } });
    bodyOf(await put(true), 200);
    expect((await create({ private_profile: null })).private_profile).toBe(true);
    expect((await create()).private_profile).toBe(true);
    const open = await create({ private_profile: false });
    expect(open.private_profile).toBe(false);
    const change = (private_profile: boolean | null) =>
      app.root(`PUT /users/${open.id}`, { body: { private_profile } });
    expect(bodyOf(await change(null), 200).private_profile).toBe(true);
    bodyOf(await put(false), 200);
    expect(bodyOf(await change(null), 200).private_profile).toBe(false);
  });

  test('the limits and rights of new users are the settings’, unless given', async () => {
    bodyOf(
      await app.root('PUT /application/settings', {
        body: { default_projects_limit: 3, can_create_group: false },
      }),
      200,
    );
    expect(await create()).toMatchObject({ projects_limit: 3, can_create_group: false });
    expect(await create({ projects_limit: 0 })).toMatchObject({
      projects_limit: 0,
      can_create_project: false,
    });
    bodyOf(
      await app.root('PUT /application/settings', {
        body: { default_projects_limit: 100_000, can_create_group: true },
      }),
      200,
    );
  });

  test('a random password, and an identity that is nobody else’s', async () => {
    const identity = { provider: 'saml', extern_uid: uniqueName('uid') };
    const made = await create({ password: undefined, force_random_password: true, ...identity });
    expect(made.identities).toEqual([{ ...identity, saml_provider_id: null }]);
    const again = await app.root('POST /users', { body: newUser(identity) });
    expect(again.body.message).toEqual({ extern_uid: ['has already been taken'] });
    const query = new URLSearchParams(identity).toString();
    expect(bodyOf(await app.root('GET /users', { query }), 200)).toEqual([made]);
    expect((await app.call('GET /users', { query })).status).toBe(403);
    bodyOf(await app.root(`DELETE /users/${made.id}/identities/saml`), 204);
    expect((await app.root(`DELETE /users/${made.id}/identities/saml`)).status).toBe(404);
  });
});

describe('changing users', () => {
  test('a new username takes the namespace along, and old project paths redirect', async () => {
    const ada = await makeUser(app);
    const project = bodyOf(await app.as(ada.token)('POST /projects', { body: { name: 'stone' } }), 201);
    const username = uniqueName('renamed');
    const changed = await app.root(`PUT /users/${ada.id}`, { body: { username, name: 'Ada Lovelace' } });
    expect(bodyOf(changed, 200)).toMatchObject({ username, name: 'Ada Lovelace' });
    const seen = bodyOf(await app.as(ada.token)(`GET /projects/${project.id}`), 200);
    expect(seen).toMatchObject({
      path_with_namespace: `${username}/stone`,
      namespace: { full_path: username, name: 'Ada Lovelace' },
    });
    const old = await app.as(ada.token)(`GET /projects/${ada.username}%2Fstone`);
    expect(old.status).toBe(301);
    expect((await app.root(`PUT /users/${ada.id}`, { body: { username: 'root' } })).status).toBe(409);
  });

  test('a new address becomes the primary one, and the old one stays', async () => {
    const made = await create();
    const email = `${uniqueName('other')}@example.com`;
    expect(bodyOf(await app.root(`PUT /users/${made.id}`, { body: { email } }), 200)).toMatchObject({
      email,
      commit_email: email,
    });
    const addresses = bodyOf(await app.root(`GET /users/${made.id}/emails`), 200);
    expect(addresses.map((each: { email: string }) => each.email)).toEqual([made.email, email]);
    const shown = await app.root(`PUT /users/${made.id}`, { body: { public_email: made.email } });
    expect(bodyOf(shown, 200).public_email).toBe(made.email);
    expect(
      bodyOf(await app.root(`PUT /users/${made.id}`, { body: { public_email: '' } }), 200),
    ).toMatchObject({
      public_email: null,
    });
  });

  test('a new password ends the sessions', async () => {
    const made = await create();
    const time = new Date();
    await database()`insert into sessions (digest, user_id, created_at, last_used_at)
      values (${Buffer.from(made.username)}, ${made.id}, ${time}, ${time})`;
    bodyOf(await app.root(`PUT /users/${made.id}`, { body: { bio: 'still here' } }), 200);
    const count = () =>
      database()`select from sessions where user_id = ${made.id}`.then((rows) => rows.length);
    expect(await count()).toBe(1);
    bodyOf(await app.root(`PUT /users/${made.id}`, { body: { password: 'another long password' } }), 200);
    expect(await count()).toBe(0);
  });

  test('every change is in the audit log, secrets are not', async () => {
    const made = await create();
    const body = { admin: true, bio: 'x', password: 'a password nobody may read' };
    bodyOf(await app.root(`PUT /users/${made.id}`, { body }), 200);
    const rows = await database()<{ event_name: string; details: object }[]>`
      select event_name, details from audit_events where entity_type = 'User' and entity_id = ${made.id} order by id`;
    expect(rows.map((row) => row.event_name)).toEqual([
      'user_created',
      'user_access_level_updated',
      'user_password_updated',
      'user_profile_updated',
    ]);
    expect(JSON.stringify(rows)).not.toMatch(/nobody may read|argon2/);
  });

  test('nobody else may, and the ghost stays as it is', async () => {
    const ada = await makeUser(app);
    const asAda = app.as(ada.token);
    expect((await asAda(`PUT /users/${ada.id}`, { body: { admin: true } })).status).toBe(403);
    expect((await asAda('PUT /users/1', { body: { bio: 'x' } })).status).toBe(403);
  });
});

describe('the list', () => {
  const ids = async (query: string, call = app.root) =>
    bodyOf(await call('GET /users', { query }), 200).map((user: { id: number }) => user.id);

  test('filters', async () => {
    const word = uniqueName('filtered');
    const plain = await create({ name: `${word} one` });
    const admin = await create({ name: `${word} two`, admin: true });
    const external = await create({ name: `${word} three`, external: true });
    const owner = await create({ name: `${word} four` });
    bodyOf(await app.root(`POST /projects/user/${owner.id}`, { body: { name: 'thing' } }), 201);
    bodyOf(await app.root(`POST /users/${plain.id}/block`), 201);
    const search = (rest: string) => ids(`search=${word}&sort=asc&${rest}`);
    expect(await search('')).toEqual([plain.id, admin.id, external.id, owner.id]);
    expect(await search('active=true')).toEqual([admin.id, external.id, owner.id]);
    expect(await search('exclude_active=true')).toEqual([plain.id]);
    expect(await search('blocked=true')).toEqual([plain.id]);
    expect(await search('admins=true')).toEqual([admin.id]);
    expect(await search('external=true')).toEqual([external.id]);
    expect(await search('exclude_external=true')).toEqual([plain.id, admin.id, owner.id]);
    expect(await search('without_projects=true')).toEqual([plain.id, admin.id, external.id]);
    expect(await search('exclude_humans=true')).toEqual([]);
    expect(await search('two_factor=enabled')).toEqual([]);
    expect(await search('two_factor=disabled&humans=true')).toHaveLength(4);
    expect(await search('created_before=2020-01-01')).toEqual([]);
    expect(await search('created_after=2020-01-01')).toHaveLength(4);
    expect(await ids(`username=${admin.username.toUpperCase()}`)).toEqual([admin.id]);
    expect(await ids(`search=${admin.email}`)).toEqual([admin.id]);
    // Other callers cannot filter by data that only administrators see.
    expect(await ids(`search=${word}&admins=true`, app.call)).toHaveLength(3);
    expect(await ids(`search=${admin.email}`, app.call)).toEqual([]);
    expect(await ids('search=%25%25%25')).toEqual([]);
    expect((await app.call('GET /users', { query: 'external=true' })).status).toBe(403);
  });

  test('bots and those who wait or are banned', async () => {
    const project = await makeProject(app);
    const expires_at = new Date(Date.now() + 86_400_000 * 7).toISOString().slice(0, 10);
    bodyOf(
      await app.root(`POST /projects/${project.id}/access_tokens`, {
        body: { name: 'robot', scopes: ['api'], expires_at },
      }),
      201,
    );
    const search = `search=project_${project.id}_bot`;
    expect(await ids(search)).toHaveLength(1);
    expect(await ids(`${search}&without_project_bots=true`)).toEqual([]);
    expect(await ids(`${search}&humans=true`)).toEqual([]);
    expect(await ids(`${search}&exclude_humans=true`)).toHaveLength(1);
    const banned = await create();
    bodyOf(await app.root(`POST /users/${banned.id}/ban`), 201);
    const ada = await makeUser(app);
    expect(await ids(`username=${banned.username}`, app.as(ada.token))).toEqual([]);
    expect(await ids(`username=${banned.username}`)).toEqual([banned.id]);
  });

  test('offset pages end at 50,000 records (spec: Limits, Users listing)', async () => {
    const query = 'per_page=100&page=501';
    const refused = await app.root('GET /users', { query });
    expect(refused.status).toBe(405);
    expect(refused.body.error).toContain('maximum allowed offset of 50000');
    expect(refused.body.error).toContain('type User');
    expect((await app.root('GET /users', { query: 'per_page=100&page=500' })).status).toBe(200);
  });

  const orders = ['id', 'name', 'username', 'created_at', 'updated_at'];
  test.each(orders)('keyset by %s reaches everybody once, both ways', async (order) => {
    for (const [call, sort] of [
      [app.root, 'asc'],
      [app.call, 'desc'],
    ] as const) {
      const expected = await ids(`order_by=${order}&sort=${sort}&per_page=100`, call);
      const walked: number[] = [];
      let query: string | undefined = `pagination=keyset&order_by=${order}&sort=${sort}&per_page=7`;
      for (let page = 0; query !== undefined && page < 30; page++) {
        const response = await call('GET /users', { query });
        walked.push(...bodyOf(response, 200).map((user: { id: number }) => user.id));
        query = /\?(.*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
        expect(response.headers.get('x-total')).toBeNull();
      }
      expect(walked).toEqual(expected);
    }
  });

  test('custom attributes are for administrators', async () => {
    const made = await create();
    bodyOf(
      await app.root(`PUT /users/${made.id}/custom_attributes/team`, { body: { value: 'masons' } }),
      200,
    );
    expect(await ids('custom_attributes[team]=masons')).toEqual([made.id]);
    expect(await ids('custom_attributes[team]=others')).toEqual([]);
    // A key of digits alone is not an array index.
    for (const key of ['9', '2040']) {
      const numbered = `users/${made.id}/custom_attributes/${key}`;
      bodyOf(await app.root(`PUT /${numbered}`, { body: { value: 'x' } }), 200);
      expect(await ids(`custom_attributes[${key}]=x&custom_attributes[team]=masons`)).toEqual([made.id]);
      expect(await ids(`custom_attributes[${key}]=x`)).toEqual([made.id]);
      expect(await ids(`custom_attributes[${key}]=y`)).toEqual([]);
      expect((await app.root(`DELETE /${numbered}`)).status).toBe(204);
    }
    expect((await app.root('GET /users', { query: 'custom_attributes[]=x' })).status).toBe(400);
    const query = `with_custom_attributes=true&username=${made.username}`;
    const attributes = [{ key: 'team', value: 'masons' }];
    expect((await app.root('GET /users', { query })).body[0].custom_attributes).toEqual(attributes);
    expect((await app.call('GET /users', { query })).body[0]).not.toHaveProperty('custom_attributes');
    expect((await app.root(`GET /users/${made.id}`, { query })).body.custom_attributes).toEqual(attributes);
  });

  test('a list of many takes as many statements as a list of one', async () => {
    const statements = () =>
      app.app.services.database.uses().find(({ name }) => name === 'requests')?.statements ?? 0;
    const counted = async (perPage: number) => {
      const before = statements();
      await app.root('GET /users', { query: `per_page=${perPage}&with_custom_attributes=true` });
      return statements() - before;
    };
    await counted(1);
    expect(await counted(100)).toBeLessThanOrEqual(await counted(1));
  });
});
