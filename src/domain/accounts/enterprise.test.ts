import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { addMember, bodyOf, makeGroup, makeUser } from '../../../test/support/factories.ts';
import { passwordDisabledByGroup } from '../../core/identity/enterprise.ts';

const app = useApp();

test('owners look after the enterprise users of their group, and after nobody else', async () => {
  const group = await makeGroup(app);
  const owner = await makeUser(app);
  await addMember(app, `groups/${group.id}`, owner, 50);
  const asOwner = app.as(owner.token);
  const ada = await makeUser(app, { group_id_for_saml: group.id });
  const bob = await makeUser(app);
  const path = `/groups/${group.id}/enterprise_users`;

  const listed = bodyOf(await asOwner(`GET ${path}`), 200);
  expect(listed).toMatchObject([{ id: ada.id, username: ada.username, email: expect.any(String) }]);
  expect(listed[0]).not.toHaveProperty('note');
  expect(bodyOf(await asOwner(`GET ${path}`, { query: `search=${bob.username}` }), 200)).toEqual([]);
  expect(bodyOf(await asOwner(`GET ${path}/${ada.id}`), 200)).toEqual(listed[0]);
  expect((await asOwner(`GET ${path}/${bob.id}`)).status).toBe(404);
  expect((await asOwner(`DELETE ${path}/${bob.id}`)).status).toBe(404);
  const body = { name: 'Ada of the group', admin: true };
  const changed = bodyOf(await asOwner(`PATCH ${path}/${ada.id}`, { body }), 200);
  expect(changed.name).toBe('Ada of the group');
  expect(bodyOf(await app.root(`GET /users/${ada.id}`), 200)).toMatchObject({
    is_admin: false,
    enterprise_group_id: group.id,
  });
  expect((await asOwner(`PATCH ${path}/${ada.id}/disable_two_factor`)).status).toBe(400);
  expect((await app.as(ada.token)(`GET ${path}`)).status).toBe(404);

  // Changing an administrator's address would be the way to become one.
  bodyOf(await app.root(`PUT /users/${ada.id}`, { body: { admin: true } }), 200);
  const takeover = await asOwner(`PATCH ${path}/${ada.id}`, { body: { email: 'evil@example.com' } });
  expect(takeover.status).toBe(403);
  expect((await asOwner(`DELETE ${path}/${ada.id}`)).status).toBe(403);
  bodyOf(await app.root(`PUT /users/${ada.id}`, { body: { admin: false } }), 200);
  expect((await asOwner(`DELETE ${path}/${ada.id}`)).status).toBe(204);
  expect((await app.root(`GET /users/${ada.id}`)).status).toBe(404);
});

test('the group says whether its users may use passwords', async () => {
  const { db, sql } = app.app.services.database;
  const group = await makeGroup(app);
  const ada = await makeUser(app, { group_id_for_saml: group.id });
  expect(await passwordDisabledByGroup(db, ada.id)).toBe(false);
  await sql`
    update namespaces set settings = settings || '{"disable_password_authentication_for_enterprise_users": true}'
    where id = ${group.id}`;
  expect(await passwordDisabledByGroup(db, ada.id)).toBe(true);
  expect(await passwordDisabledByGroup(db, 1)).toBe(false);
});

test('only top-level groups have enterprise users', async () => {
  const group = await makeGroup(app);
  const inner = await makeGroup(app, { parent_id: group.id });
  const body = { group_id_for_saml: inner.id };
  expect((await app.root('PUT /users/1', { body })).body.message).toEqual({
    group_id_for_saml: ['must be a top-level group'],
  });
  expect((await app.root('PUT /users/1', { body: { group_id_for_saml: 999_999 } })).status).toBe(404);
});
