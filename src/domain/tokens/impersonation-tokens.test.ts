/** Impersonation tokens over HTTP (spec: Authentication, 5). */
import { describe, expect, it } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../test/support/app.ts';
import { makeUser } from '../../../test/support/rows.ts';

describe('impersonation tokens', () => {
  const ashlar = useApp();

  it('act as the user, are made and seen by administrators only, and are no personal tokens', async () => {
    const user = await makeUser(ashlar);
    const path = `/users/${user.id}/impersonation_tokens`;
    const made = await ashlar.root(`POST ${path}`, { body: { name: 'i', scopes: ['api'] } });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ impersonation: true, user_id: user.id, active: true });
    const asUser = ashlar.as(made.body.token);
    expect((await asUser('GET /personal_access_tokens')).body).toMatchObject([
      { name: 'test', user_id: user.id },
    ]);
    expect((await ashlar.as(user.token)(`GET ${path}`)).status).toBe(403);
    expect((await ashlar.as(user.token)(`POST ${path}`)).status).toBe(403);
    expect((await ashlar.root(`GET ${path}`, { query: 'state=all' })).body).toHaveLength(1);
    expect((await ashlar.root(`GET ${path}`, { query: 'state=inactive' })).body).toEqual([]);
    expect((await ashlar.root(`GET /users/1/impersonation_tokens/${made.body.id}`)).status).toBe(404);
    const one = await ashlar.root(`GET ${path}/${made.body.id}`);
    expect(one.body).toMatchObject({ id: made.body.id, impersonation: true });
    expect(one.body).not.toHaveProperty('token');
    expect((await ashlar.root(`DELETE ${path}/${made.body.id}`)).status).toBe(204);
    expect((await asUser('GET /metadata')).status).toBe(401);
    expect((await ashlar.root(`GET ${path}`, { query: 'state=inactive' })).body).toHaveLength(1);
  });

  it('are refused while the setting impersonation_enabled is off', async () => {
    const { settings, database } = ashlar.app.services;
    const user = await makeUser(ashlar);
    const path = `/users/${user.id}/impersonation_tokens`;
    const body = { name: 'i', scopes: ['api'] };
    const { token } = (await ashlar.root(`POST ${path}`, { body })).body;
    await settings.write(database.db, { impersonation_enabled: false });
    settings.forget();
    const used = await ashlar.as(token)('GET /metadata');
    const made = await ashlar.root(`POST ${path}`, { body });
    await settings.write(database.db, { impersonation_enabled: true });
    settings.forget();
    expect(used.status).toBe(401);
    expect(used.body.error_description).toBe(
      'Token is an impersonation token but impersonation was disabled.',
    );
    expect(made.status).toBe(404);
    expect((await ashlar.call('GET /metadata', { headers: { 'private-token': ROOT_TOKEN } })).status).toBe(
      200,
    );
  });
});
