/** Personal access tokens over HTTP: made, listed, rotated, revoked, and who may do so (facts: Tokens). */
import { describe, expect, it } from 'vitest';
import { type Called, useApp } from '../../../test/support/app.ts';
import { makeGroup, makeMember, makeProject, makeUser } from '../../../test/support/rows.ts';
import { moveClock } from '../../platform/clock.ts';

const DAY = 86_400_000;
const dayFromNow = (days: number): string => new Date(Date.now() + days * DAY).toISOString().slice(0, 10);

describe('personal access tokens', () => {
  const ashlar = useApp();
  const give = (userId: number, body: Record<string, unknown> = {}): Promise<Called> =>
    ashlar.root(`POST /users/${userId}/personal_access_tokens`, {
      body: { name: 'given', scopes: ['api'], ...body },
    });
  const audited = async (event: string, targetId: number) =>
    (
      await ashlar.app.services.database.db
        .selectFrom('audit_events')
        .selectAll()
        .where('event_name', '=', event)
        .execute()
    ).filter(({ details }) => (details as { target_id?: number }).target_id === targetId);

  it('are made by an administrator for a user, shown once, and work', async () => {
    const user = await makeUser(ashlar);
    const made = await give(user.id, { description: 'for CI', scopes: 'read_api,read_user' });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      name: 'given',
      description: 'for CI',
      revoked: false,
      active: true,
      scopes: ['read_api', 'read_user'],
      user_id: user.id,
      last_used_at: null,
      expires_at: dayFromNow(365),
    });
    expect(made.body.token).toMatch(/^glpat-[\w-]{20}$/);
    const self = await ashlar.as(made.body.token)('GET /personal_access_tokens/self');
    expect(self.status).toBe(200);
    expect(self.body.id).toBe(made.body.id);
    expect(self.body).not.toHaveProperty('token');
    expect(self.body.last_used_at).not.toBeNull();
    expect(await audited('personal_access_token_created', made.body.id)).toMatchObject([
      { entity_type: 'User', entity_id: user.id, details: { entity_path: user.username } },
    ]);
    expect((await ashlar.as(user.token)(`POST /users/${user.id}/personal_access_tokens`)).status).toBe(403);
  });

  it('tell of the groups and projects that they reach, by role, a page of each', async () => {
    const user = await makeUser(ashlar);
    const [reached, other] = [await makeGroup(ashlar), await makeGroup(ashlar, { visibility: 20 })];
    const inside = await makeProject(ashlar, { of: reached });
    const direct = await makeProject(ashlar, { of: other });
    const [own] = [await ashlar.as(user.token)('POST /projects', { body: { name: 'mine' } })];
    await makeMember(ashlar, { namespace_id: reached.id }, user, 20);
    await makeMember(ashlar, { project_id: direct.id }, user, 30);
    const ask = (query = '') =>
      ashlar.as(user.token)('GET /personal_access_tokens/self/associations', { query });
    const all = await ask();
    expect(all.status).toBe(200);
    expect(all.body.groups).toEqual([
      expect.objectContaining({ id: reached.id, access_levels: 20, organization_id: 1, parent_id: null }),
    ]);
    const levels = (called: Called): unknown[] =>
      called.body.projects.map((project: Called['body']) => [
        project.id,
        project.access_levels.project_access_level,
        project.access_levels.group_access_level,
      ]);
    const expected = [
      [inside.id, null, 20],
      [direct.id, 30, null],
      [own.body.id, 50, null],
    ];
    expect(levels(all)).toEqual(expected);
    expect(levels(await ask('per_page=1&page=2'))).toEqual(expected.slice(1, 2));
    const developer = await ask('min_access_level=30');
    expect([developer.body.groups, levels(developer)]).toEqual([[], expected.slice(1)]);
    expect((await ask('min_access_level=7')).status).toBe(400);
    expect((await ashlar.call('GET /personal_access_tokens/self/associations')).status).toBe(401);
  });

  it('carry the prefix of the settings', async () => {
    const { settings, database } = ashlar.app.services;
    await settings.write(database.db, { personal_access_token_prefix: 'ours_' });
    settings.forget();
    const made = await give(1);
    await settings.write(database.db, { personal_access_token_prefix: 'glpat-' });
    settings.forget();
    expect(made.body.token).toMatch(/^ours_[\w-]{20}$/);
    expect((await ashlar.as(made.body.token)('GET /personal_access_tokens/self')).status).toBe(200);
  });

  it.each([
    ['no name', { name: undefined }, '400 Bad request - "name" not given'],
    ['a blank name', { name: ' ' }, { name: ["can't be blank"] }],
    ['a name of 256', { name: 'x'.repeat(256) }, { name: ['is too long (maximum is 255 characters)'] }],
    ['a scope that is none', { scopes: ['api', 'all'] }, { scopes: ['can only contain available scopes'] }],
    ['sudo for no administrator', { scopes: ['sudo'] }, { scopes: ['can only contain available scopes'] }],
    ['no scope', { scopes: [] }, { scopes: ["can't be blank"] }],
    ['far too late', { expires_at: '2999-01-01' }, { expires_at: [`must be before ${dayFromNow(366)}`] }],
    ['no day at all', { expires_at: 'soon' }, { expires_at: ['is invalid'] }],
  ])('are refused with %s', async (_, body, message) => {
    const user = await makeUser(ashlar);
    const refused = await give(user.id, body);
    expect(refused.status).toBe(400);
    expect(refused.body.message).toEqual(message);
  });

  it.each([0, -1, -4_000])('that end %i days from now are made, and are over', async (days) => {
    const user = await makeUser(ashlar);
    const made = await give(user.id, { expires_at: dayFromNow(days) });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ active: false, revoked: false, expires_at: dayFromNow(days) });
    expect((await ashlar.as(made.body.token)('GET /user')).status).toBe(401);
    const impersonation = await ashlar.root(`POST /users/${user.id}/impersonation_tokens`, {
      body: { name: 'i', scopes: ['api'], expires_at: dayFromNow(days) },
    });
    expect([impersonation.status, impersonation.body.active]).toEqual([201, false]);
    const other = (await give(user.id)).body.id;
    const rotated = await ashlar.root(`POST /personal_access_tokens/${other}/rotate`, {
      body: { expires_at: dayFromNow(days) },
    });
    expect([rotated.status, rotated.body.active]).toEqual([200, false]);
  });

  it('of one kind only are made by their user, for the rest of the day', async () => {
    const user = await makeUser(ashlar);
    const mine = ashlar.as(user.token);
    const made = await mine('POST /user/personal_access_tokens', {
      body: { name: 'k', scopes: ['k8s_proxy'] },
    });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ user_id: user.id, scopes: ['k8s_proxy'], expires_at: dayFromNow(1) });
    const more = await mine('POST /user/personal_access_tokens', { body: { name: 'k', scopes: ['api'] } });
    expect(more.status).toBe(400);
    expect((await ashlar.call('POST /user/personal_access_tokens')).status).toBe(401);
  });

  it('are listed to their user, and all to an administrator', async () => {
    const user = await makeUser(ashlar);
    const other = await makeUser(ashlar);
    const mine = ashlar.as(user.token);
    const made = (await give(user.id, { name: 'Needle 100%', expires_at: dayFromNow(3) })).body;
    const names = async (query: string, as = mine) =>
      (await as('GET /personal_access_tokens', { query })).body.map((token: { name: string }) => token.name);
    expect(await names('')).toEqual(['test', 'Needle 100%']);
    expect(await names('search=needle')).toEqual(['Needle 100%']);
    expect(await names('search=e_t')).toEqual([]);
    expect(await names('sort=name_asc')).toEqual(['Needle 100%', 'test']);
    expect(await names('sort=created_desc')).toEqual(['Needle 100%', 'test']);
    expect(await names('sort=expires_desc')).toEqual(['test', 'Needle 100%']);
    expect(await names(`expires_before=${dayFromNow(4)}`)).toEqual(['Needle 100%']);
    expect(await names(`expires_after=${dayFromNow(4)}`)).toEqual([]);
    expect(await names(`created_after=${dayFromNow(1)}`)).toEqual([]);
    expect(await names(`created_before=${dayFromNow(1)}`)).toEqual(['test', 'Needle 100%']);
    expect(await names('last_used_after=2020-01-01')).toEqual(['test']);
    expect((await mine(`DELETE /personal_access_tokens/${made.id}`)).status).toBe(204);
    expect(await names('state=active')).toEqual(['test']);
    expect(await names('state=inactive')).toEqual(['Needle 100%']);
    expect(await names('revoked=true')).toEqual(['Needle 100%']);
    expect(await names('revoked=false')).toEqual(['test']);
    expect(await names(`user_id=${user.id}`, ashlar.root)).toEqual(['test', 'Needle 100%']);
    expect((await mine('GET /personal_access_tokens', { query: `user_id=${other.id}` })).status).toBe(401);
    const all = await ashlar.root('GET /personal_access_tokens', { query: 'per_page=1' });
    expect(Number(all.headers.get('x-total'))).toBeGreaterThan(3);
    expect((await mine('GET /personal_access_tokens', { query: 'sort=size' })).status).toBe(400);
  });

  it('of others are unknown to a user: 401, and 404 to an administrator where there is none', async () => {
    const user = await makeUser(ashlar);
    const other = await makeUser(ashlar);
    const token = (await give(other.id)).body;
    for (const request of [
      `GET /personal_access_tokens/${token.id}`,
      'GET /personal_access_tokens/99999999',
      `DELETE /personal_access_tokens/${token.id}`,
      `POST /personal_access_tokens/${token.id}/rotate`,
    ]) {
      expect((await ashlar.as(user.token)(request)).status, request).toBe(401);
    }
    expect((await ashlar.root(`GET /personal_access_tokens/${token.id}`)).body.id).toBe(token.id);
    expect((await ashlar.root('GET /personal_access_tokens/99999999')).status).toBe(404);
  });

  it('end at once when revoked, by whoever has one with any scope', async () => {
    const user = await makeUser(ashlar);
    const { id, token } = (await give(user.id, { scopes: ['read_registry'] })).body;
    const asToken = ashlar.as(token);
    expect((await asToken('GET /personal_access_tokens')).status).toBe(403);
    const early = { 'if-unmodified-since': 'Thu, 01 Jan 2015 00:00:00 GMT' };
    expect((await asToken('DELETE /personal_access_tokens/self', { headers: early })).status).toBe(412);
    expect((await asToken('DELETE /personal_access_tokens/self')).status).toBe(204);
    const refused = await asToken('GET /personal_access_tokens/self');
    expect(refused.status).toBe(401);
    expect(refused.body).toMatchObject({
      message: '401 Unauthorized',
      error: 'invalid_token',
      error_description: 'Token was revoked. You have to re-authorize from the user.',
    });
    expect((await ashlar.root(`GET /personal_access_tokens/${id}`)).body).toMatchObject({
      revoked: true,
      active: false,
    });
    expect(await audited('personal_access_token_revoked', id)).toHaveLength(1);
    // A second time changes nothing.
    expect((await ashlar.root(`DELETE /personal_access_tokens/${id}`)).status).toBe(204);
    expect(await audited('personal_access_token_revoked', id)).toHaveLength(1);
  });

  it('end when their day starts', async () => {
    const user = await makeUser(ashlar);
    const { id, token } = (await give(user.id, { expires_at: dayFromNow(2) })).body;
    const back = moveClock(2 * DAY);
    try {
      const refused = await ashlar.as(token)('GET /personal_access_tokens/self');
      expect(refused.status).toBe(401);
      expect(refused.body.error_description).toBe(
        'Token is expired. You can either do re-authorization or token refresh.',
      );
      expect((await ashlar.root(`GET /personal_access_tokens/${id}`)).body).toMatchObject({
        active: false,
        revoked: false,
      });
      expect((await ashlar.root(`POST /personal_access_tokens/${id}/rotate`)).status).toBe(401);
    } finally {
      back();
    }
  });

  it('are replaced by rotation: same rights, new value, a week to live', async () => {
    const user = await makeUser(ashlar);
    const first = (await give(user.id, { scopes: ['self_rotate'], description: 'kept' })).body;
    const rotated = await ashlar.as(first.token)('POST /personal_access_tokens/self/rotate');
    expect(rotated.status).toBe(200);
    expect(rotated.body).toMatchObject({
      name: 'given',
      description: 'kept',
      scopes: ['self_rotate'],
      user_id: user.id,
      expires_at: dayFromNow(7),
      active: true,
    });
    expect(rotated.body.token).not.toBe(first.token);
    expect(await audited('personal_access_token_rotated', rotated.body.id)).toHaveLength(1);
    expect((await ashlar.as(rotated.body.token)('GET /personal_access_tokens/self')).status).toBe(200);
    const byId = await ashlar.root(`POST /personal_access_tokens/${rotated.body.id}/rotate`, {
      body: { expires_at: dayFromNow(30) },
    });
    expect(byId.status).toBe(200);
    expect(byId.body.expires_at).toBe(dayFromNow(30));
  });

  it('need api or self_rotate to rotate themselves', async () => {
    const user = await makeUser(ashlar);
    const { token } = (await give(user.id, { scopes: ['read_api'] })).body;
    const refused = await ashlar.as(token)('POST /personal_access_tokens/self/rotate');
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({ error: 'insufficient_scope', scope: 'api self_rotate' });
  });

  it('outlive an old copy of theirs that some job still uses', async () => {
    const user = await makeUser(ashlar);
    const first = (await give(user.id)).body;
    const second = (await ashlar.as(first.token)('POST /personal_access_tokens/self/rotate')).body;
    const third = (await ashlar.as(second.token)('POST /personal_access_tokens/self/rotate')).body;
    for (const old of [first.token, second.token]) {
      expect((await ashlar.as(old)('GET /metadata')).status).toBe(401);
      expect((await ashlar.as(old)('GET /personal_access_tokens/self')).status).toBe(401);
      expect((await ashlar.as(old)('POST /user/emails', { body: { email: 'a@b.test' } })).status).toBe(401);
      expect((await ashlar.as(old)(`DELETE /personal_access_tokens/${third.id}`)).status).toBe(401);
      const basic = `Basic ${Buffer.from(`git:${old}`).toString('base64')}`;
      const git = await fetch(`${ashlar.url}/some/project.git/info/refs?service=git-upload-pack`, {
        headers: { authorization: basic },
      });
      expect(git.status).toBe(401);
    }
    expect((await ashlar.as(third.token)('GET /personal_access_tokens/self')).status).toBe(200);
  });

  it.each([
    ['self/rotate', 'by itself'],
    [':id/rotate', 'by its id'],
  ])('take their family with them when one that was rotated away asks for %s', async (path) => {
    const user = await makeUser(ashlar);
    const first = (await give(user.id)).body;
    const second = (await ashlar.as(first.token)('POST /personal_access_tokens/self/rotate')).body;
    const third = (await ashlar.as(second.token)('POST /personal_access_tokens/self/rotate')).body;
    expect((await ashlar.as(third.token)('GET /personal_access_tokens/self')).status).toBe(200);
    const again = path.replace(':id', String(first.id));
    expect((await ashlar.as(first.token)(`POST /personal_access_tokens/${again}`)).status).toBe(401);
    expect((await ashlar.as(third.token)('GET /personal_access_tokens/self')).status).toBe(401);
    expect(await audited('personal_access_token_revoked', third.id)).toMatchObject([
      { author_id: -1, entity_type: 'User', entity_id: user.id },
    ]);
    expect((await ashlar.as(user.token)('GET /personal_access_tokens/self')).status).toBe(200);
  });

  it('take their family with them when one that was rotated away is rotated by its id', async () => {
    const user = await makeUser(ashlar);
    const first = (await give(user.id)).body;
    const second = (await ashlar.as(first.token)('POST /personal_access_tokens/self/rotate')).body;
    expect((await ashlar.as(user.token)(`POST /personal_access_tokens/${first.id}/rotate`)).status).toBe(401);
    expect((await ashlar.as(second.token)('GET /personal_access_tokens/self')).status).toBe(401);
  });

  it('leave the family alone when one that was simply revoked is used again', async () => {
    const user = await makeUser(ashlar);
    const first = (await give(user.id)).body;
    const bystander = (await give(user.id)).body;
    await ashlar.as(first.token)('DELETE /personal_access_tokens/self');
    expect((await ashlar.as(first.token)('GET /metadata')).status).toBe(401);
    expect((await ashlar.as(bystander.token)('GET /personal_access_tokens/self')).status).toBe(200);
  });

  it('are rotated once when asked twice at the same time, and nobody is left with two', async () => {
    const user = await makeUser(ashlar);
    const first = (await give(user.id)).body;
    const responses = await Promise.all(
      [1, 2, 3].map(() => ashlar.as(first.token)('POST /personal_access_tokens/self/rotate')),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    const active = await ashlar.root('GET /personal_access_tokens', {
      query: `user_id=${user.id}&search=given&state=active`,
    });
    expect(active.body.length).toBeLessThanOrEqual(1);
  });

  it('are neither made nor used where the settings refuse them', async () => {
    const { settings, database } = ashlar.app.services;
    const user = await makeUser(ashlar);
    const impersonation = (
      await ashlar.root('POST /users/1/impersonation_tokens', { body: { name: 'i', scopes: ['api'] } })
    ).body.token;
    await settings.write(database.db, { disable_personal_access_tokens: true });
    settings.forget();
    const used = await ashlar.as(user.token)('GET /metadata');
    const made = await ashlar.as(impersonation)(`POST /users/${user.id}/personal_access_tokens`, {
      body: { name: 'n', scopes: ['api'] },
    });
    await settings.write(database.db, { disable_personal_access_tokens: false });
    settings.forget();
    expect([used.status, made.status]).toEqual([401, 403]);
  });
});
