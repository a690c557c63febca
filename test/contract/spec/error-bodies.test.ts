/** Every row of the spec's "Error bodies", over HTTP. */
import { describe, expect, it } from 'vitest';
import { useApp } from '../../support/app.ts';
import { bodyOf, makeGroup, makeUser } from '../../support/factories.ts';

const ashlar = useApp();

describe('Error bodies', () => {
  it('401: {message: <string>}', async () => {
    const missing = await ashlar.call('GET /user');
    expect([missing.status, missing.body]).toEqual([401, { message: '401 Unauthorized' }]);
    const wrong = await ashlar.as('no-such-token')('GET /user');
    expect([wrong.status, wrong.body.message]).toEqual([401, '401 Unauthorized']);
  });

  describe('Missing attribute (400): {message: <string>} naming the missing attribute', () => {
    it.each([
      ['POST /groups', { name: 'x' }, 'path'],
      ['POST /users', { username: 'x', name: 'x', password: 'x' }, 'email'],
      ['POST /user/keys', { title: 'x' }, 'key'],
      ['POST /projects', {}, 'name'],
    ])('%s without %j', async (line, body, attribute) => {
      const response = await ashlar.root(line, { body });
      expect([response.status, response.body.message]).toEqual([
        400,
        `400 Bad request - "${attribute}" not given`,
      ]);
    });
  });

  describe('Validation failure (400): messages by property, and by embedded entity', () => {
    it('{message: {<property>: [<error message>, ...]}}', async () => {
      const group = await makeGroup(ashlar);
      const taken = await ashlar.root('POST /groups', { body: { name: 'x', path: group.full_path } });
      expect([taken.status, taken.body.message]).toEqual([400, { path: ['has already been taken'] }]);
    });

    it('several properties at once, each with a list', async () => {
      const body = { username: 'not valid!', name: '', email: 'no address', password: 'short' };
      const { status, body: response } = await ashlar.root('POST /users', { body });
      expect(status).toBe(400);
      expect(Object.keys(response.message).length).toBeGreaterThan(1);
      for (const messages of Object.values(response.message)) expect(messages).toEqual([expect.any(String)]);
    });

    it('{<embedded_entity>: {<property>: [<error message>, ...]}}', async () => {
      const body = { default_branch_protection_defaults: { allow_force_push: 'perhaps' } };
      const group = await makeGroup(ashlar);
      const response = await ashlar.root(`PUT /groups/${group.id}`, { body });
      expect([response.status, response.body.message]).toEqual([
        400,
        { default_branch_protection_defaults: { allow_force_push: ['is invalid'] } },
      ]);
    });
  });

  it('Sudo, non-administrator (403): {message: <string>}', async () => {
    const user = await makeUser(ashlar);
    const response = await ashlar.as(user.token)('GET /user', { query: 'sudo=root' });
    const message = '403 Forbidden - Must be admin to use sudo';
    expect([response.status, response.body]).toEqual([403, { message }]);
  });

  it('Sudo, missing scope (403): {error: insufficient_scope, error_description: <string>, scope: sudo}', async () => {
    const body = { name: 'no sudo', scopes: ['api'] };
    const { token } = bodyOf(await ashlar.root('POST /users/1/personal_access_tokens', { body }), 201);
    const response = await ashlar.as(token)('GET /user', { query: 'sudo=root' });
    expect(response.status).toBe(403);
    const shape = { error: 'insufficient_scope', error_description: expect.any(String), scope: 'sudo' };
    expect(response.body).toMatchObject(shape);
  });

  it('Sudo, unknown user (404): {message: <string>}', async () => {
    const response = await ashlar.root('GET /user', { query: 'sudo=nobody.here' });
    const message = "404 User with ID or username 'nobody.here' Not Found";
    expect([response.status, response.body]).toEqual([404, { message }]);
  });

  it('OAuth errors: {error: <code>, error_description: <string>} for a token that has ended', async () => {
    const { token } = await makeUser(ashlar);
    expect((await ashlar.as(token)('DELETE /personal_access_tokens/self')).status).toBe(204);
    const response = await ashlar.call('GET /user', { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).toBe(401);
    expect(response.body).toMatchObject({ error: 'invalid_token', error_description: expect.any(String) });
  });
});

// Without a test, because their endpoints are not there yet: the errors of the OAuth endpoints and of the
// device flow (`authorization_pending`, `slow_down`, `expired_token`, `access_denied`, the token errors of
// OAuth 2.0).
