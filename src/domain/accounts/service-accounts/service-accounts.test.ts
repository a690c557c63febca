/** Service accounts over HTTP: who makes them, what they are, their tokens, and how they end. */
import { afterEach, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeGroup,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../../test/support/factories.ts';
import { until } from '../../../../test/support/waiting.ts';
import { markNamespaceDeleting } from '../../../kernel/namespaces/erasure-actions.ts';
import { inTransaction } from '../../../platform/db/database.ts';

const app = useApp({ env: { ASHLAR_TIER: 'premium' } });
const set = async (body: Record<string, unknown>) =>
  bodyOf(await app.root('PUT /application/settings', { body }), 200);

afterEach(() =>
  set({
    allow_top_level_group_owners_to_create_service_accounts: false,
    service_access_tokens_expiration_enforced: true,
  }),
);

const path = (group: MadeGroup) => `/groups/${group.id}/service_accounts` as const;

async function makeOwned(): Promise<{ group: MadeGroup; owner: MadeUser; maintainer: MadeUser }> {
  const group = await makeGroup(app);
  return { group, ...(await makeMembers(app, `groups/${group.id}`, 'owner', 'maintainer')) };
}

const make = async (group: MadeGroup, body: Record<string, unknown> = {}) =>
  bodyOf(await app.root(`POST ${path(group)}`, { body }), 201);

const token = async (group: MadeGroup, id: number, body: Record<string, unknown> = {}) =>
  bodyOf(
    await app.root(`POST ${path(group)}/${id}/personal_access_tokens`, {
      body: { name: 'Token', scopes: ['api'], ...body },
    }),
    201,
  );

test('administrators make, list and change those of the instance', async () => {
  const made = bodyOf(await app.root('POST /service_accounts'), 201);
  const host = new URL(app.url).hostname;
  expect(made).toEqual({
    id: expect.any(Number),
    username: expect.stringMatching(/^service_account_[0-9a-f]{32}$/),
    name: 'Service account user',
    public_email: null,
    email: `${made.username}@noreply.${host}`,
  });
  const username = uniqueName('robot');
  const named = bodyOf(
    await app.root('POST /service_accounts', {
      body: { name: 'Robot', username, email: `${username}@example.com` },
    }),
    201,
  );
  expect(named).toMatchObject({ name: 'Robot', username, email: `${username}@example.com` });
  expect((await app.root('POST /service_accounts', { body: { username } })).status).toBe(409);
  expect((await app.root('POST /service_accounts', { body: { username: '-x' } })).status).toBe(400);
  const listed = bodyOf(await app.root('GET /service_accounts'), 200);
  expect(listed.slice(0, 2)).toEqual([named, made]);
  const query = 'order_by=username&sort=asc&per_page=100';
  const names = bodyOf(await app.root('GET /service_accounts', { query }), 200).map(
    (each: { username: string }) => each.username,
  );
  expect(names).toEqual([...names].sort());
  const body = { name: 'Other', email: `${uniqueName('other')}@example.com` };
  const changed = bodyOf(await app.root(`PATCH /service_accounts/${made.id}`, { body }), 200);
  expect(changed).toEqual({ ...made, ...body });
  const person = await makeUser(app);
  expect((await app.root(`PATCH /service_accounts/${person.id}`, { body })).status).toBe(404);
  for (const request of ['GET', 'POST'] as const)
    expect((await app.as(person.token)(`${request} /service_accounts`)).status).toBe(403);
});

test('are users of their own kind, whom nobody signs in to and no mail reaches', async () => {
  const { group } = await makeOwned();
  const { id, username } = await make(group, { name: 'Robot' });
  const { token: value } = await token(group, id);
  expect(bodyOf(await app.as(value)('GET /user'), 200)).toMatchObject({ id, username, bot: true });
  expect(bodyOf(await app.root(`GET /users/${id}`), 200)).toMatchObject({
    bot: true,
    provisioned_by_group_id: group.id,
    using_license_seat: false,
    can_create_group: false,
  });
  const ids = async (query: string): Promise<number[]> =>
    bodyOf(await app.root('GET /users', { query: `username=${username}&${query}` }), 200).map(
      (user: { id: number }) => user.id,
    );
  expect(await ids('')).toEqual([id]);
  expect(await ids('humans=true')).toEqual([]);
  expect(await ids('exclude_humans=true')).toEqual([id]);
  expect(await ids('exclude_internal=true')).toEqual([id]);
  expect(await ids('without_project_bots=true')).toEqual([id]);
  // A password is of no use to it.
  await app.root(`PUT /users/${id}`, { body: { password: 'correct horse 7 battery' } });
  const grant = { grant_type: 'password', username, password: 'correct horse 7 battery' };
  const response = await fetch(`${app.url}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(grant),
  });
  expect(response.status).toBe(400);
  expect((await app.as(value)('POST /groups', { body: { name: 'x', path: uniqueName('x') } })).status).toBe(
    403,
  );
});

test('are members where they are wanted, as people are', async () => {
  const { group, owner } = await makeOwned();
  const project = await makeProject(app);
  const { maintainer } = await makeMembers(app, `projects/${project.id}`, 'maintainer');
  const { id } = await make(group);
  const { token: value } = await token(group, id);
  const as = app.as(value);
  expect((await as(`GET /projects/${project.id}`)).status).toBe(404);
  const body = { user_id: id, access_level: 30 };
  bodyOf(await app.as(maintainer.token)(`POST /projects/${project.id}/members`, { body }), 201);
  bodyOf(await as(`GET /projects/${project.id}`), 200);
  bodyOf(await as(`POST /projects/${project.id}/issues`, { body: { title: 'By a program' } }), 201);
  const member = `/projects/${project.id}/members/${id}` as const;
  bodyOf(await app.as(maintainer.token)(`PUT ${member}`, { body: { access_level: 20 } }), 200);
  expect((await app.as(maintainer.token)(`DELETE ${member}`)).status).toBe(204);
  // It does not keep a group as its only owner.
  bodyOf(
    await app.as(owner.token)(`POST /groups/${group.id}/members`, {
      body: { user_id: id, access_level: 50 },
    }),
    201,
  );
  const root = bodyOf(await app.root('GET /user'), 200);
  await app.root(`DELETE /groups/${group.id}/members/${root.id}`);
  expect((await app.as(owner.token)(`DELETE /groups/${group.id}/members/${owner.id}`)).status).not.toBe(204);
});

test('owners make them where the instance says so, of their top-level group alone', async () => {
  const { group, owner, maintainer } = await makeOwned();
  const as = app.as(owner.token);
  expect((await as(`POST ${path(group)}`)).status).toBe(403);
  await set({ allow_top_level_group_owners_to_create_service_accounts: true });
  const made = bodyOf(await as(`POST ${path(group)}`, { body: { name: 'Ours' } }), 201);
  expect(bodyOf(await as(`GET ${path(group)}`), 200)).toEqual([made]);
  expect((await app.as(maintainer.token)(`GET ${path(group)}`)).status).toBe(403);
  expect((await app.as(maintainer.token)(`POST ${path(group)}`)).status).toBe(403);
  const inner = await makeGroup(app, { parent_id: group.id });
  expect((await as(`POST ${path(inner)}`)).body).toEqual({
    message: '400 Bad request - Service accounts are made by top-level groups',
  });
  const email = { email: 'robot@example.com' };
  expect((await as(`POST ${path(group)}`, { body: email })).status).toBe(400);
  expect((await as(`PATCH ${path(group)}/${made.id}`, { body: email })).status).toBe(400);
  const body = { name: 'Renamed', username: uniqueName('renamed') };
  expect(bodyOf(await as(`PATCH ${path(group)}/${made.id}`, { body }), 200)).toEqual({ ...made, ...body });
  // The token of a group is not to leave accounts behind.
  const bot = bodyOf(
    await as(`POST /groups/${group.id}/access_tokens`, {
      body: { name: 'Bot', scopes: ['api'], access_level: 50 },
    }),
    201,
  );
  const asBot = app.as(bot.token);
  expect((await asBot(`POST ${path(group)}`)).status).toBe(403);
  const tokens = `${path(group)}/${made.id}/personal_access_tokens` as const;
  const wanted = { body: { name: 'Lasting', scopes: ['api'] } };
  expect((await asBot(`POST ${tokens}`, wanted)).status).toBe(403);
  const ofOwner = bodyOf(await as(`POST ${tokens}`, wanted), 201);
  expect((await asBot(`POST ${tokens}/${ofOwner.id}/rotate`)).status).toBe(403);
  expect((await asBot(`DELETE ${tokens}/${ofOwner.id}`)).status).toBe(204);
  const external = await makeUser(app);
  await addMember(app, `groups/${group.id}`, external, 50);
  await app.root(`PUT /users/${external.id}`, { body: { external: true } });
  const { id } = bodyOf(await app.as(external.token)(`POST ${path(group)}`), 201);
  expect(bodyOf(await app.root(`GET /users/${id}`), 200)).toMatchObject({ external: true });
  // Who has the token of one that sees more would see it, too.
  const asExternal = app.as(external.token);
  const { id: known } = bodyOf(await as(`POST ${tokens}`, wanted), 201);
  expect((await asExternal(`POST ${tokens}`, wanted)).status).toBe(403);
  expect((await asExternal(`POST ${tokens}/${known}/rotate`)).status).toBe(403);
  bodyOf(await asExternal(`POST ${path(group)}/${id}/personal_access_tokens`, wanted), 201);
});

test('owners touch those of their group, and none that has the rights of an administrator', async () => {
  const [ours, theirs] = [await makeOwned(), await makeOwned()];
  const foreign = await make(theirs.group);
  const instance = bodyOf(await app.root('POST /service_accounts'), 201);
  const powerful = await make(ours.group);
  await app.root(`PUT /users/${powerful.id}`, { body: { admin: true } });
  const as = app.as(ours.owner.token);
  const body = { name: 'Token', scopes: ['api'] };
  for (const [id, status] of [
    [foreign.id, 404],
    [instance.id, 404],
    [ours.maintainer.id, 404],
    [powerful.id, 403],
  ] as const) {
    const one = `${path(ours.group)}/${id}` as const;
    const tokens = `${one}/personal_access_tokens` as const;
    expect((await as(`PATCH ${one}`, { body: { name: 'x' } })).status).toBe(status);
    expect((await as(`DELETE ${one}`)).status).toBe(status);
    expect((await as(`GET ${tokens}`)).status).toBe(status);
    expect((await as(`POST ${tokens}`, { body })).status).toBe(status);
  }
  // A token of one account is not found under another.
  const [first, second] = [await make(ours.group), await make(ours.group)];
  const { id } = await token(ours.group, first.id);
  const elsewhere = `${path(ours.group)}/${second.id}/personal_access_tokens/${id}` as const;
  expect((await as(`DELETE ${elsewhere}`)).status).toBe(404);
  expect((await as(`POST ${elsewhere}/rotate`)).status).toBe(404);
  const sudo = { name: 'Token', scopes: ['sudo'] };
  expect(
    (await as(`POST ${path(ours.group)}/${first.id}/personal_access_tokens`, { body: sudo })).status,
  ).toBe(400);
});

test('their tokens are made, listed, rotated and revoked, and live for ever where the instance says so', async () => {
  const { group, owner } = await makeOwned();
  const as = app.as(owner.token);
  const { id } = await make(group);
  const tokens = `${path(group)}/${id}/personal_access_tokens` as const;
  const body = { name: 'Token', scopes: ['read_api'], description: 'for CI' };
  const made = bodyOf(await as(`POST ${tokens}`, { body }), 201);
  expect(made).toMatchObject({ ...body, user_id: id, active: true, expires_at: expect.any(String) });
  expect((await as(`POST ${tokens}`, { body: { ...body, expires_at: null } })).status).toBe(400);
  const rotated = bodyOf(await as(`POST ${tokens}/${made.id}/rotate`), 200);
  expect((await app.as(made.token)('GET /user')).status).toBe(401);
  bodyOf(await app.as(rotated.token)('GET /user'), 200);
  const query = 'state=active';
  expect(bodyOf(await as(`GET ${tokens}`, { query }), 200).map(({ id }: { id: number }) => id)).toEqual([
    rotated.id,
  ]);
  expect((await as(`DELETE ${tokens}/${rotated.id}`)).status).toBe(204);
  expect((await app.as(rotated.token)('GET /user')).status).toBe(401);
  await set({ service_access_tokens_expiration_enforced: false });
  expect(bodyOf(await as(`POST ${tokens}`, { body }), 201).expires_at).toBeNull();
  const endless = bodyOf(await as(`POST ${tokens}`, { body: { ...body, expires_at: null } }), 201);
  const again = { body: { expires_at: null } };
  expect(bodyOf(await as(`POST ${tokens}/${endless.id}/rotate`, again), 200).expires_at).toBeNull();
  // People's still end.
  const person = await makeUser(app);
  const refused = await app.root(`POST /users/${person.id}/personal_access_tokens`, {
    body: { name: 'x', scopes: ['api'], expires_at: null },
  });
  expect(refused.status).toBe(400);
  bodyOf(await app.root(`POST /users/${id}/personal_access_tokens`, { body }), 201);
});

const isGone = (id: number) => async () => (await app.root(`GET /users/${id}`)).status === 404;

test('they end by an owner, and with their group', async () => {
  const { group, owner } = await makeOwned();
  const [first, second, third] = [await make(group), await make(group), await make(group)];
  const { token: value } = await token(group, third.id);
  const as = app.as(owner.token);
  expect((await as(`DELETE ${path(group)}/${first.id}`)).status).toBe(204);
  await until(isGone(first.id), 'it is still there');
  expect((await as(`DELETE ${path(group)}/${first.id}`)).status).toBe(404);
  expect((await as(`DELETE ${path(group)}/${second.id}`, { query: 'hard_delete=true' })).status).toBe(204);
  await until(isGone(second.id), 'it is still there');
  const { db } = app.app.services.database;
  await inTransaction(db, (tx) => markNamespaceDeleting(tx, group.id));
  await until(isGone(third.id), 'it is still there');
  expect((await app.as(value)('GET /user')).status).toBe(401);
});
