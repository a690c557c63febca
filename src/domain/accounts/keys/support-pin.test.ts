/** Support PINs, and revoked OpenPGP keys, over HTTP. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeUser } from '../../../../test/support/factories.ts';
import { gpgKey } from '../../../../test/support/sample-keys.ts';
import { moveClock } from '../../../platform/clock.ts';

const app = useApp();

test('a PIN is given, read by its user and administrators, replaced and revoked', async () => {
  const user = await makeUser(app);
  const call = app.as(user.token);
  expect((await call('GET /user/support_pin')).body).toEqual({ message: '404 Support PIN Not Found' });
  const first = bodyOf(await call('POST /user/support_pin'), 201);
  expect(first).toEqual({ pin: expect.stringMatching(/^\d{6}$/), expires_at: expect.any(String) });
  const days = (Date.parse(first.expires_at) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(7);
  const second = bodyOf(await call('POST /user/support_pin'), 201);
  expect(bodyOf(await call('GET /user/support_pin'), 200)).toEqual(second);
  const of = `/users/${user.id}/support_pin`;
  expect(bodyOf(await app.root(`GET ${of}`), 200)).toEqual(second);
  const { sql } = app.app.services.database;
  const [row] = await sql`select pin_sealed from support_pins where user_id = ${user.id}`;
  expect(String(row?.pin_sealed)).not.toContain(second.pin);
  const other = await makeUser(app);
  for (const request of [`GET ${of}`, `POST ${of}/revoke`])
    expect((await app.as(other.token)(request)).status).toBe(403);
  const revoked = await Promise.all([1, 2].map(() => app.root(`POST ${of}/revoke`)));
  expect(revoked.map(({ status }) => status).sort()).toEqual([204, 404]);
  expect((await call('GET /user/support_pin')).status).toBe(404);
});

test('a PIN ends after seven days', async () => {
  const user = await makeUser(app);
  bodyOf(await app.as(user.token)('POST /user/support_pin'), 201);
  const moveBack = moveClock(7 * 86_400_000 + 1_000);
  try {
    expect((await app.root(`GET /users/${user.id}/support_pin`)).status).toBe(404);
    expect((await app.root(`POST /users/${user.id}/support_pin/revoke`)).status).toBe(404);
  } finally {
    moveBack();
  }
});

test('an OpenPGP key is revoked by its user, and by administrators', async () => {
  const user = await makeUser(app);
  const other = await makeUser(app);
  for (const [call, path] of [
    [app.as(user.token), '/user/gpg_keys'],
    [app.root, `/users/${user.id}/gpg_keys`],
  ] as const) {
    const { id } = bodyOf(
      await app.as(user.token)('POST /user/gpg_keys', { body: { key: gpgKey.key } }),
      201,
    );
    expect((await app.as(other.token)(`POST /user/gpg_keys/${id}/revoke`)).status).toBe(404);
    expect((await app.as(other.token)(`POST /users/${user.id}/gpg_keys/${id}/revoke`)).status).toBe(403);
    expect((await call(`POST ${path}/${id}/revoke`)).status).toBe(201);
    expect((await call(`POST ${path}/${id}/revoke`)).status).toBe(404);
    expect(bodyOf(await call(`GET ${path}`), 200)).toEqual([]);
  }
});
