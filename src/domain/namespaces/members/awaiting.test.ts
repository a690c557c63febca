/** Members who wait for access: it is taken below a top-level group, and given back as it was. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';

const app = useApp({ env: { ASHLAR_TIER: 'ultimate' } });

/** A group with a subgroup and a project, of which a user is a member each, and its owner. */
async function makeWorld() {
  const group = await makeGroup(app);
  const inner = await makeGroup(app, { parent_id: group.id });
  const project = await makeProject(app, { namespace_id: inner.id });
  const { owner, maintainer } = await makeMembers(app, `groups/${group.id}`, 'owner', 'maintainer');
  const user = await makeUser(app);
  await addMember(app, `groups/${group.id}`, user, 20);
  await addMember(app, `projects/${project.id}`, user, 30);
  const set = (state: string, { by = owner, id = user.id }: { by?: MadeUser; id?: number } = {}) =>
    app.as(by.token)(`PUT /groups/${group.id}/members/${id}/state`, { body: { state } });
  const sees = async () =>
    Promise.all(
      [`/groups/${group.id}`, `/groups/${inner.id}`, `/projects/${project.id}`].map(
        async (path) => (await app.as(user.token)(`GET ${path}`)).status,
      ),
    );
  return { group, inner, project, owner, maintainer, user, set, sees };
}

test('access is taken whole, and given back as it was', async () => {
  const { group, project, owner, user, set, sees } = await makeWorld();
  expect(await sees()).toEqual([200, 200, 200]);
  expect(bodyOf(await set('awaiting'), 200)).toEqual({ success: true });
  expect(await sees()).toEqual([404, 404, 404]);
  expect(bodyOf(await app.as(user.token)('GET /projects', { query: 'membership=true' }), 200)).toEqual([]);
  expect(bodyOf(await app.as(user.token)('GET /groups'), 200)).toEqual([]);
  // A second time changes nothing.
  bodyOf(await set('awaiting'), 200);
  const as = app.as(owner.token);
  const members = `/groups/${group.id}/members` as const;
  expect(bodyOf(await as(`GET ${members}/${user.id}`), 200)).toMatchObject({
    access_level: 20,
    membership_state: 'awaiting',
  });
  const listed = async (path: string, query: string) =>
    bodyOf(await as(`GET ${path}`, { query }), 200).map(({ id }: { id: number }) => id);
  expect(await listed(members, '')).toContain(user.id);
  expect(await listed(members, 'state=awaiting')).toEqual([user.id]);
  expect(await listed(members, 'state=active')).not.toContain(user.id);
  expect(await listed(`/projects/${project.id}/members/all`, 'state=awaiting')).toEqual([user.id]);
  const pending = bodyOf(await as(`GET /groups/${group.id}/pending_members`), 200);
  expect(pending).toMatchObject([
    { user_id: user.id, approved: false, invited: false },
    { user_id: user.id },
  ]);
  // Nobody else lets the user in: not as a new member, nor by themselves.
  const body = { user_id: user.id, access_level: 30 };
  expect((await as(`POST ${members}`, { body })).status).toBe(409);
  expect((await as(`POST /projects/${project.id}/members`, { body })).status).toBe(409);
  expect(bodyOf(await set('active'), 200)).toEqual({ success: true });
  expect(await sees()).toEqual([200, 200, 200]);
  expect(bodyOf(await as(`GET ${members}/${user.id}`), 200)).toMatchObject({
    access_level: 20,
    membership_state: 'active',
  });
  expect(bodyOf(await as(`GET /projects/${project.id}/members/${user.id}`), 200).access_level).toBe(30);
  expect(bodyOf(await as(`GET /groups/${group.id}/pending_members`), 200)).toEqual([]);
  bodyOf(await set('active'), 200);
});

test('a pending membership is approved by its id, and all at once; those of others are not there', async () => {
  const { group, owner, user, set, sees } = await makeWorld();
  const other = await makeWorld();
  bodyOf(await set('awaiting'), 200);
  bodyOf(await other.set('awaiting'), 200);
  const as = app.as(owner.token);
  const [first] = bodyOf(await as(`GET /groups/${group.id}/pending_members`), 200);
  const [foreign] = bodyOf(
    await app.as(other.owner.token)(`GET /groups/${other.group.id}/pending_members`),
    200,
  );
  expect((await as(`PUT /groups/${group.id}/members/${foreign.id}/approve`)).status).toBe(404);
  expect((await as(`PUT /groups/${group.id}/members/${user.id + 1_000_000}/approve`)).status).toBe(404);
  expect(bodyOf(await as(`PUT /groups/${group.id}/members/${first.id}/approve`), 200)).toEqual({
    success: true,
  });
  expect(await sees()).toEqual([200, 200, 200]);
  bodyOf(await set('awaiting'), 200);
  expect(bodyOf(await as(`POST /groups/${group.id}/members/approve_all`), 201)).toEqual({ success: true });
  expect(await sees()).toEqual([200, 200, 200]);
  expect(await other.sees()).toEqual([404, 404, 404]);
});

test('who may not: others than owners, of those above them, of the last owner, of subgroups, below Premium', async () => {
  const { group, inner, owner, maintainer, user, set } = await makeWorld();
  const stranger = await makeUser(app);
  expect((await set('awaiting', { by: maintainer })).status).toBe(403);
  expect((await set('awaiting', { by: stranger })).status).toBe(404);
  expect((await set('awaiting', { id: stranger.id })).status).toBe(404);
  expect((await set('active', { id: stranger.id })).status).toBe(404);
  const root = bodyOf(await app.root('GET /user'), 200);
  await app.root(`DELETE /groups/${group.id}/members/${root.id}`);
  expect((await set('awaiting', { id: owner.id })).body).toEqual({
    message: '403 Forbidden - the member is the last owner of the group',
  });
  const as = app.as(owner.token);
  const state = { body: { state: 'awaiting' } };
  expect((await as(`PUT /groups/${inner.id}/members/${user.id}/state`, state)).status).toBe(400);
  const bot = bodyOf(
    await as(`POST /groups/${group.id}/access_tokens`, {
      body: { name: 'Bot', scopes: ['api'], access_level: 10 },
    }),
    201,
  );
  expect((await set('awaiting', { id: bot.user_id })).status).toBe(403);
  // A role that manages members is below a maintainer.
  const role = bodyOf(
    await app.root('POST /member_roles', {
      body: { name: `Managers ${group.id}`, base_access_level: 20, admin_group_member: true },
    }),
    201,
  );
  const body = { access_level: 20, member_role_id: role.id };
  bodyOf(await app.root(`PUT /groups/${group.id}/members/${user.id}`, { body }), 200);
  expect((await set('awaiting', { by: user, id: maintainer.id })).status).toBe(403);
  bodyOf(await set('awaiting', { id: maintainer.id }), 200);
  expect((await set('active', { by: user, id: maintainer.id })).status).toBe(403);
  bodyOf(await app.as(user.token)(`POST /groups/${group.id}/members/approve_all`), 201);
  expect((await app.as(maintainer.token)(`GET /groups/${group.id}`)).status).toBe(404);
  // A role stays with who waits.
  bodyOf(await set('awaiting'), 200);
  expect((await app.root(`DELETE /member_roles/${role.id}`)).status).toBe(400);
  bodyOf(await set('active'), 200);
  expect(bodyOf(await as(`GET /groups/${group.id}/members/${user.id}`), 200).member_role).toEqual(role);
  const { config } = app.app.services;
  Object.assign(config, { tier: 'free' });
  try {
    expect((await set('awaiting')).status).toBe(403);
  } finally {
    Object.assign(config, { tier: 'ultimate' });
  }
});

test('who waits is removed with all that waits, and an end is an end', async () => {
  const { group, project, owner, user, set, sees } = await makeWorld();
  const as = app.as(owner.token);
  bodyOf(await set('awaiting'), 200);
  expect((await as(`DELETE /groups/${group.id}/members/${user.id}`)).status).toBe(204);
  expect(bodyOf(await as(`GET /groups/${group.id}/pending_members`), 200)).toEqual([]);
  expect((await set('active')).status).toBe(404);
  expect(await sees()).toEqual([404, 404, 404]);
  await addMember(app, `projects/${project.id}`, user, 30);
  const { db } = app.app.services.database;
  bodyOf(await set('awaiting'), 200);
  await db
    .updateTable('awaiting_members')
    .set({ expires_at: '2020-01-01' })
    .where('user_id', '=', user.id)
    .execute();
  bodyOf(await set('active'), 200);
  expect(await sees()).toEqual([404, 404, 404]);
});
