/** Custom roles of top-level groups, where the offering is hosted. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeMembers, makeUser, uniqueName } from '../../../../test/support/factories.ts';

const app = useApp({ env: { ASHLAR_TIER: 'ultimate', ASHLAR_OFFERING: 'hosted' } });

test('owners of a top-level group make ten at most, for members of its hierarchy alone', async () => {
  const [group, elsewhere] = [await makeGroup(app), await makeGroup(app)];
  const inner = await makeGroup(app, { parent_id: group.id });
  const { owner, maintainer } = await makeMembers(app, `groups/${group.id}`, 'owner', 'maintainer');
  const path = `/groups/${group.id}/member_roles` as const;
  const as = app.as(owner.token);
  const make = () =>
    as(`POST ${path}`, { body: { name: uniqueName('Role'), base_access_level: 10, read_code: true } });
  const role = bodyOf(await make(), 201);
  expect(role).toMatchObject({ group_id: group.id, read_code: true });
  expect(bodyOf(await as(`GET ${path}`), 200)).toEqual([role]);
  expect((await app.as(maintainer.token)(`GET ${path}`)).status).toBe(403);
  expect((await as(`GET /groups/${inner.id}/member_roles`)).body).toEqual({
    message: '400 Bad request - Custom roles are of top-level groups',
  });
  expect((await app.root('GET /member_roles')).status).toBe(404);
  const guest = await makeUser(app);
  const body = { user_id: guest.id, access_level: 10, member_role_id: role.id };
  expect(bodyOf(await as(`POST /groups/${inner.id}/members`, { body }), 201).member_role).toEqual(role);
  expect((await app.root(`POST /groups/${elsewhere.id}/members`, { body })).status).toBe(400);
  expect((await app.root(`DELETE /groups/${elsewhere.id}/member_roles/${role.id}`)).status).toBe(404);
  const made = await Promise.all(Array.from({ length: 12 }, make));
  expect(made.filter(({ status }) => status === 201)).toHaveLength(9);
  expect(made.find(({ status }) => status !== 201)).toMatchObject({ status: 400 });
});
