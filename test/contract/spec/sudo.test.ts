/** Every rule of the spec's "Sudo", over HTTP. */
import { beforeAll, describe, expect, it } from 'vitest';
import { digest, randomText } from '../../../src/platform/secret.ts';
import { type Call, useApp } from '../../support/app.ts';
import { bodyOf, type MadeUser, makeProject, makeUser } from '../../support/factories.ts';

const ashlar = useApp();
let user: MadeUser;
beforeAll(async () => {
  user = await makeUser(ashlar, { username: 'Worker' });
});

/** A personal token of a user with these scopes. */
async function tokenOf(userId: number, scopes: string[]): Promise<Call> {
  const made = await ashlar.root(`POST /users/${userId}/personal_access_tokens`, {
    body: { name: 'sudo', scopes },
  });
  return ashlar.as(bodyOf(made, 201).token);
}

describe('Sudo', () => {
  describe('1. any request can be run as another user by an administrator whose token has the scope sudo', () => {
    it('with a personal access token', async () => {
      const call = await tokenOf(1, ['api', 'sudo']);
      expect(bodyOf(await call('GET /user', { headers: { sudo: user.username } }), 200).id).toBe(user.id);
    });

    it('with an OAuth access token', async () => {
      const token = randomText(15);
      const row = { kind: 'oauth', user_id: 1, name: 'oauth', scopes: ['sudo'], digest: digest(token) };
      const time = { created_at: new Date(), updated_at: new Date() };
      await ashlar.app.services.database.db
        .insertInto('access_tokens')
        .values({ ...row, ...time })
        .execute();
      const headers = { authorization: `Bearer ${token}`, sudo: user.username };
      expect(bodyOf(await ashlar.call('GET /user', { headers }), 200).id).toBe(user.id);
    });

    it('with the permissions of the impersonated user, and what is made is theirs', async () => {
      const { id } = await makeProject(ashlar);
      expect((await ashlar.root(`GET /projects/${id}`)).status).toBe(200);
      const headers = { sudo: user.username };
      expect((await ashlar.root(`GET /projects/${id}`, { headers })).status).toBe(404);
      expect((await ashlar.root('GET /application/settings', { headers })).status).toBe(403);
      const made = await ashlar.root('POST /projects', { headers, body: { name: 'by sudo' } });
      expect(bodyOf(made, 201)).toMatchObject({
        creator_id: user.id,
        path_with_namespace: `${user.username}/by-sudo`,
      });
    });
  });

  describe('2. the target is a user ID or a username, case-insensitive', () => {
    const targets: [string, () => string][] = [
      ['ID', () => String(user.id)],
      ['username', () => user.username],
      ['username in lower case', () => user.username.toLowerCase()],
      ['username in upper case', () => user.username.toUpperCase()],
    ];
    it.each(targets)('%s by the query parameter and by the header', async (_name, target) => {
      const byParameter = await ashlar.root('GET /user', { query: `sudo=${target()}` });
      const byHeader = await ashlar.root('GET /user', { headers: { Sudo: target() } });
      expect([bodyOf(byParameter, 200).id, bodyOf(byHeader, 200).id]).toEqual([user.id, user.id]);
    });
  });

  it('3. a non-administrator token gets 403 with the message', async () => {
    for (const scopes of [['api'], ['api', 'read_user']]) {
      const call = await tokenOf(user.id, scopes);
      const response = await call('GET /user', { headers: { sudo: 'root' } });
      expect([response.status, response.body]).toEqual([
        403,
        { message: '403 Forbidden - Must be admin to use sudo' },
      ]);
    }
  });

  it('4. a token without the sudo scope gets 403 insufficient_scope', async () => {
    const call = await tokenOf(1, ['api']);
    const response = await call('GET /user', { query: `sudo=${user.username}` });
    expect(response.status).toBe(403);
    expect(response.body).toMatchObject({
      error: 'insufficient_scope',
      error_description: 'The request requires higher privileges than provided by the access token.',
      scope: 'sudo',
    });
  });

  it.each(['999999', 'nobody.here'])(
    '5. unknown user %s: 404 with a message that says so',
    async (target) => {
      const response = await ashlar.root('GET /user', { query: `sudo=${target}` });
      const message = `404 User with ID or username '${target}' Not Found`;
      expect([response.status, response.body]).toEqual([404, { message }]);
    },
  );
});
