import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { openBrowser } from '../../../../test/support/browser.ts';
import { bodyOf, createUser, makeGroup, makeMembers, makeUser } from '../../../../test/support/factories.ts';
import { mailsTo, waitForMail } from '../../../../test/support/mailbox.ts';
import { passwordDisabledByGroup } from '../../../kernel/identity/passwords/enterprise-queries.ts';

const app = useApp();

test('owners look after the enterprise users of their group, and after nobody else', async () => {
  const group = await makeGroup(app);
  const { owner } = await makeMembers(app, `groups/${group.id}`, 'owner');
  const asOwner = app.as(owner.token);
  const ada = await createUser(app, { group_id_for_saml: group.id });
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

  // A group owner who changed an administrator's address could take over the account.
  bodyOf(await app.root(`PUT /users/${ada.id}`, { body: { admin: true } }), 200);
  const takeover = await asOwner(`PATCH ${path}/${ada.id}`, { body: { email: 'evil@example.com' } });
  expect(takeover.status).toBe(403);
  expect((await asOwner(`DELETE ${path}/${ada.id}`)).status).toBe(403);
  bodyOf(await app.root(`PUT /users/${ada.id}`, { body: { admin: false } }), 200);
  expect((await asOwner(`DELETE ${path}/${ada.id}`)).status).toBe(204);
  expect((await app.root(`GET /users/${ada.id}`)).status).toBe(404);
});

test('an address counts once it is confirmed, and nothing tells an owner which addresses accounts have', async () => {
  const group = await makeGroup(app);
  const { owner } = await makeMembers(app, `groups/${group.id}`, 'owner');
  const other = await makeUser(app);
  const primary = `${other.username}@example.com`;
  const second = `second-${primary}`;
  const unproven = `unproven-${primary}`;
  const added = { email: second, skip_confirmation: true };
  bodyOf(await app.root(`POST /users/${other.id}/emails`, { body: added }), 201);
  const waiting = await makeUser(app, { email: unproven });
  const { sql } = app.app.services.database;
  await sql`update emails set confirmed_at = null where user_id = ${waiting.id}`;

  const free = `free-${primary}`;
  const told: string[] = [];
  for (const email of [free, primary, second.toUpperCase(), unproven]) {
    const ada = await createUser(app, { group_id_for_saml: group.id });
    const one = `groups/${group.id}/enterprise_users/${ada.id}`;
    const change = { body: { email } };
    const responses = [
      await app.as(owner.token)(`PATCH /${one}`, change),
      await app.as(owner.token)(`PATCH /${one}`, change),
      await app.as(owner.token)(`GET /${one}`),
      await app.as(ada.token)('GET /user'),
      await app.as(ada.token)('GET /user/emails'),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(responses[2]?.body.email).toBe(`${ada.username}@example.com`);
    const text = JSON.stringify(responses.map(({ body }) => body))
      .replaceAll(ada.username, 'NAME')
      .replaceAll(/avatar\/[0-9a-f]{64}/g, 'avatar/HASH')
      .replaceAll(/"(id|namespace_id)":\d+/g, '"$1":0')
      .replaceAll(/\d{4}-\d\d-\d\d(T[\d:.]+Z)?/g, 'TIME');
    told.push(text);
    if (email !== free) {
      expect((await app.root(`PATCH /${one}`, change)).status).toBe(409);
      // An unconfirmed user may request a link.
      if (email !== unproven) await openBrowser(app).submit('/users/confirmation/new', { email });
    }
  }
  expect(new Set(told).size).toBe(1);

  // The other users keep theirs and get a notice; a link goes only to the free address.
  await waitForMail(app);
  const subject = 'Your address was added to another account';
  for (const address of [primary, second, unproven])
    expect(new Set(mailsTo(app, address).map((mail) => mail.subject))).toEqual(new Set([subject]));
  const mails = mailsTo(app, free);
  expect(mails.map((mail) => mail.subject)).not.toContain(subject);
  const token = new URL(mails.at(-1)?.link ?? '').searchParams.get('confirmation_token') ?? '';
  await openBrowser(app).post('/users/confirmation', { confirmation_token: token });
  const found = bodyOf(await app.root('GET /users', { query: `search=${free}` }), 200);
  expect(found).toMatchObject([{ email: free, enterprise_group_id: group.id }]);
  for (const address of [primary, second])
    expect(bodyOf(await app.root('GET /users', { query: `search=${address}` }), 200)[0].id).toBe(other.id);

  // An administrator can vouch for an address.
  const [{ id }] = found;
  const change = { body: { email: `new-${primary}` } };
  const changed = await app.root(`PATCH /groups/${group.id}/enterprise_users/${id}`, change);
  expect(bodyOf(changed, 200).email).toBe(`new-${primary}`);
});

test('the group says whether its users may use passwords', async () => {
  const { db, sql } = app.app.services.database;
  const group = await makeGroup(app);
  const ada = await createUser(app, { group_id_for_saml: group.id });
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
