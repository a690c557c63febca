import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeMembers, makeProject, makeUser } from '../../../../test/support/factories.ts';

const app = useApp();

const makers = {
  users: () => makeUser(app),
  groups: () => makeGroup(app),
  projects: () => makeProject(app),
};

describe.each(Object.entries(makers))('custom attributes of %s', (kind, make) => {
  test('are set, replaced, listed by key and removed', async () => {
    const { id } = await make();
    const path = `/${kind}/${id}/custom_attributes`;
    const set = (key: string, value: string) => app.root(`PUT ${path}/${key}`, { body: { value } });
    expect(bodyOf(await app.root(`GET ${path}`), 200)).toEqual([]);
    expect(bodyOf(await set('zone', 'a'), 200)).toEqual({ key: 'zone', value: 'a' });
    bodyOf(await set('zone', 'b'), 200);
    bodyOf(await set('city%2Fpart', ''), 200);
    const all = [
      { key: 'city/part', value: '' },
      { key: 'zone', value: 'b' },
    ];
    expect(bodyOf(await app.root(`GET ${path}`), 200)).toEqual(all);
    expect(bodyOf(await app.root(`GET ${path}/zone`), 200)).toEqual(all[1]);
    expect((await app.root(`GET ${path}/none`)).status).toBe(404);
    expect((await app.root(`PUT ${path}/zone`, { body: {} })).status).toBe(400);
    const headers = { 'if-unmodified-since': 'Thu, 01 Jan 2015 00:00:00 GMT' };
    expect((await app.root(`DELETE ${path}/zone`, { headers })).status).toBe(412);
    expect((await app.root(`DELETE ${path}/zone`)).status).toBe(204);
    expect((await app.root(`DELETE ${path}/zone`)).status).toBe(404);
  });

  test('are for administrators, and of one owner', async () => {
    const { id } = await make();
    const other = await make();
    const ada = await makeUser(app);
    bodyOf(await app.root(`PUT /${kind}/${id}/custom_attributes/secret`, { body: { value: 'x' } }), 200);
    expect((await app.root(`GET /${kind}/${other.id}/custom_attributes/secret`)).status).toBe(404);
    expect((await app.as(ada.token)(`GET /${kind}/${id}/custom_attributes`)).status).toBe(403);
    expect((await app.call(`GET /${kind}/${id}/custom_attributes`)).status).toBe(401);
    expect((await app.root(`GET /${kind}/999999/custom_attributes`)).status).toBe(404);
  });

  test('the same key at once is one attribute', async () => {
    const { id } = await make();
    const path = `/${kind}/${id}/custom_attributes`;
    const responses = await Promise.all(
      ['a', 'b', 'c'].map((value) => app.root(`PUT ${path}/same`, { body: { value } })),
    );
    expect(responses.map((response) => response.status)).toEqual([200, 200, 200]);
    expect(bodyOf(await app.root(`GET ${path}`), 200)).toHaveLength(1);
  });
});

test('groups that a project is shared with have them, and are found by them, for administrators', async () => {
  const [project, one, other] = [await makeProject(app), await makeGroup(app), await makeGroup(app)];
  for (const group of [one, other])
    bodyOf(
      await app.root(`POST /projects/${project.id}/share`, {
        body: { group_id: group.id, group_access: 30 },
      }),
      201,
    );
  bodyOf(await app.root(`PUT /groups/${one.id}/custom_attributes/cost`, { body: { value: '7' } }), 200);
  const line = `GET /projects/${project.id}/invited_groups`;
  const query = 'with_custom_attributes=true&custom_attributes[cost]=7';
  const found = bodyOf(await app.root(line, { query }), 200);
  expect(found).toMatchObject([{ id: one.id, custom_attributes: [{ key: 'cost', value: '7' }] }]);
  expect(bodyOf(await app.root(line), 200)).toHaveLength(2);
  const { maintainer } = await makeMembers(app, `projects/${project.id}`, 'maintainer');
  const shown = bodyOf(await app.as(maintainer.token)(line, { query }), 200);
  for (const group of shown) expect(group).not.toHaveProperty('custom_attributes');
});
