/** Project and group access tokens and their bots, and deploy tokens, over HTTP (facts: Tokens; Roles). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../test/support/app.ts';
import { overtake } from '../../../test/support/races.ts';
import { makeGroup, makeMember, makeProject, makeUser } from '../../../test/support/rows.ts';
import { migrationsFolder } from '../../instance.ts';
import { moveClock } from '../../platform/clock.ts';
import { retireUnusedBots } from './bot-actions.ts';

const DAY = 86_400_000;
const dayFromNow = (days: number): string => new Date(Date.now() + days * DAY).toISOString().slice(0, 10);

describe('project and group access tokens', () => {
  const ashlar = useApp();
  const context = async () => {
    const owner = await makeUser(ashlar);
    const group = await makeGroup(ashlar, { owner });
    const project = await makeProject(ashlar, { of: group });
    return { owner, group, project, asOwner: ashlar.as(owner.token) };
  };
  const body = { name: 'bot', scopes: ['api'] };
  const selectUser = (id: number) =>
    ashlar.app.services.database.db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst();
  const memberships = (userId: number) =>
    ashlar.app.services.database.db.selectFrom('members').selectAll().where('user_id', '=', userId).execute();

  it.each(['project', 'group'] as const)(
    'of a %s act as a bot with the role that they were given',
    async (of) => {
      const { asOwner, group, project } = await context();
      const place = of === 'project' ? project : group;
      const path = `/${of}s/${place.id}/access_tokens`;
      const guest = (await asOwner(`POST ${path}`, { body: { ...body, access_level: 10 } })).body;
      const made = await asOwner(`POST ${path}`, {
        body: { ...body, access_level: of === 'project' ? 40 : 50 },
      });
      expect(made.status).toBe(201);
      expect(made.body).toMatchObject({
        name: 'bot',
        active: true,
        access_level: of === 'project' ? 40 : 50,
        resource_type: of,
        resource_id: place.id,
        expires_at: dayFromNow(365),
      });
      const bot = await selectUser(made.body.user_id);
      expect(bot).toMatchObject({ kind: `${of}_bot`, admin: false, password_hash: null, projects_limit: 0 });
      expect(bot?.username).toMatch(new RegExp(`^${of}_${place.id}_bot_[0-9a-f]{32}$`));
      expect(bot?.email).toBe(`${bot?.username}@noreply.127.0.0.1`);
      expect(await memberships(made.body.user_id)).toMatchObject([{ expires_at: dayFromNow(365) }]);
      const read = `GET /projects/${project.id}`;
      expect((await ashlar.as(guest.token)(read)).status).toBe(200);
      expect((await ashlar.as(made.body.token)(read)).status).toBe(200);
      const manage = `GET /projects/${project.id}/deploy_tokens`;
      expect((await ashlar.as(guest.token)(manage)).status).toBe(403);
      expect((await ashlar.as(made.body.token)(manage)).status).toBe(200);
      const stranger = await context();
      expect((await ashlar.as(made.body.token)(`GET /projects/${stranger.project.id}`)).status).toBe(404);
      const listed = await asOwner(`GET ${path}`, { query: 'sort=created_desc' });
      expect(listed.body.map((token: { id: number }) => token.id)).toEqual([made.body.id, guest.id]);
      expect(listed.body[0]).not.toHaveProperty('token');
      expect((await asOwner(`GET ${path}/${made.body.id}`)).body.id).toBe(made.body.id);
      expect((await stranger.asOwner(`GET ${path}/${made.body.id}`)).status).toBe(404);
      expect((await asOwner(`GET /${of}s/${place.id}/access_tokens/99999999`)).status).toBe(404);
    },
  );

  it('are Maintainers unless asked otherwise, and never above their creator', async () => {
    const { project } = await context();
    const maintainer = await makeUser(ashlar);
    await makeMember(ashlar, { project_id: project.id }, maintainer, 40);
    const mine = ashlar.as(maintainer.token);
    const path = `/projects/${project.id}/access_tokens`;
    expect((await mine(`POST ${path}`, { body })).body.access_level).toBe(40);
    const refused = await mine(`POST ${path}`, { body: { ...body, access_level: 50 } });
    expect(refused.status).toBe(400);
    expect(refused.body.message).toBe(
      '400 Bad request - Could not provision owner access to project access token',
    );
    expect((await mine(`POST ${path}`, { body: { ...body, access_level: 35 } })).status).toBe(400);
    expect((await mine(`POST ${path}`, { body: { ...body, scopes: ['read_user'] } })).body.message).toEqual({
      scopes: ['can only contain available scopes'],
    });
  });

  it('are managed by Maintainers of projects and Owners of groups', async () => {
    const { group, project } = await context();
    const developer = await makeUser(ashlar);
    await makeMember(ashlar, { namespace_id: group.id }, developer, 30);
    const maintainer = await makeUser(ashlar);
    await makeMember(ashlar, { namespace_id: group.id }, maintainer, 40);
    const status = async (token: string, path: string) => (await ashlar.as(token)(`GET ${path}`)).status;
    expect(await status(developer.token, `/projects/${project.id}/access_tokens`)).toBe(403);
    expect(await status(maintainer.token, `/projects/${project.id}/access_tokens`)).toBe(200);
    expect(await status(maintainer.token, `/groups/${group.id}/access_tokens`)).toBe(403);
    const outsider = await makeUser(ashlar);
    expect(await status(outsider.token, `/projects/${project.id}/access_tokens`)).toBe(404);
    expect((await ashlar.call(`GET /projects/${project.id}/access_tokens`)).status).toBe(401);
  });

  it('make no tokens, and learn the value of none but their own', async () => {
    const { asOwner, project } = await context();
    const path = `/projects/${project.id}/access_tokens`;
    const bot = (await asOwner(`POST ${path}`, { body })).body;
    const other = (await asOwner(`POST ${path}`, { body })).body;
    const asBot = ashlar.as(bot.token);
    expect((await asBot(`POST ${path}`, { body })).status).toBe(403);
    expect(
      (await asBot('POST /user/personal_access_tokens', { body: { name: 'k', scopes: ['k8s_proxy'] } }))
        .status,
    ).toBe(403);
    expect((await asBot(`POST ${path}/${other.id}/rotate`)).status).toBe(403);
    expect((await asBot(`POST /personal_access_tokens/${other.id}/rotate`)).status).toBe(401);
    expect((await asBot(`POST ${path}/${bot.id}/rotate`)).status).toBe(200);
  });

  it("of an Owner's bot are not rotated by a Maintainer, who would learn the value", async () => {
    const { asOwner, project } = await context();
    const maintainer = await makeUser(ashlar);
    await makeMember(ashlar, { project_id: project.id }, maintainer, 40);
    const path = `/projects/${project.id}/access_tokens`;
    const { id } = (await asOwner(`POST ${path}`, { body: { ...body, access_level: 50 } })).body;
    const refused = await ashlar.as(maintainer.token)(`POST ${path}/${id}/rotate`);
    expect(refused.status).toBe(400);
    expect(refused.body.message).toContain('access level higher than the user');
  });

  it('are rotated in place: the same bot, a member for as long as the new token lives', async () => {
    const { asOwner, project } = await context();
    const path = `/projects/${project.id}/access_tokens`;
    const first = (await asOwner(`POST ${path}`, { body: { ...body, scopes: ['self_rotate', 'read_api'] } }))
      .body;
    const rotated = await ashlar.as(first.token)(`POST ${path}/self/rotate`, {
      body: { expires_at: dayFromNow(20) },
    });
    expect(rotated.status).toBe(200);
    expect(rotated.body).toMatchObject({
      user_id: first.user_id,
      access_level: 40,
      expires_at: dayFromNow(20),
    });
    expect(await memberships(first.user_id)).toMatchObject([
      { access_level: 40, expires_at: dayFromNow(20) },
    ]);
    expect((await ashlar.as(rotated.body.token)(`GET /projects/${project.id}`)).status).toBe(200);
    expect((await ashlar.as(first.token)(`GET /projects/${project.id}`)).status).toBe(401);
    expect((await ashlar.as(rotated.body.token)(`GET /projects/${project.id}`)).status).toBe(200);
    expect((await ashlar.as(first.token)(`POST ${path}/self/rotate`)).status).toBe(401);
    expect((await ashlar.as(rotated.body.token)(`GET /projects/${project.id}`)).status).toBe(401);
  });

  describe('of external users', () => {
    const setExternal = async (user: { id: number }, external: boolean) =>
      expect((await ashlar.root(`PUT /users/${user.id}`, { body: { external } })).status).toBe(200);
    /** A group of an owner, external or not, and an internal project elsewhere. */
    const world = async (external: boolean) => {
      const { owner, group, project, asOwner } = await context();
      if (external) await setExternal(owner, true);
      const internal = await makeProject(ashlar, { of: await makeGroup(ashlar), visibility: 10 });
      return { owner, group, project, asOwner, internal };
    };
    /**
     * Requests that an external user's token must not make, and another's may: by id, in lists, by search and
     * by git.
     */
    const reads = async (token: string, { id, path }: { id: number; path: string }) => {
      const as = ashlar.as(token);
      const listed = (await as('GET /projects', { query: 'per_page=100' })).body as { id: number }[];
      const search = `scope=projects&search=${path.split('/')[1]}`;
      const found = (await as('GET /search', { query: search })).body as { id: number }[];
      const git = await fetch(`${ashlar.url}/${path}.git/info/refs?service=git-upload-pack`, {
        headers: { authorization: `Basic ${Buffer.from(`bot:${token}`).toString('base64')}` },
      });
      return [
        (await as(`GET /projects/${id}`)).status,
        listed.some((each) => each.id === id),
        found.some((each) => each.id === id),
        git.status,
      ];
    };
    const open = [200, true, true, 200];
    const closed = [404, false, false, 404];
    const give = async (as: ReturnType<typeof ashlar.as>, path: string) => {
      const made = await as(`POST ${path}`, { body });
      expect(made.status).toBe(201);
      return made.body as { id: number; user_id: number; token: string };
    };

    it.each(['project', 'group'] as const)('of a %s are external too', async (of) => {
      const { asOwner, internal, ...places } = await world(true);
      const path = `/${of}s/${places[of].id}/access_tokens`;
      const { token } = await give(asOwner, path);
      expect(await reads(token, internal)).toEqual(closed);
      const plain = await world(false);
      const other = await give(plain.asOwner, `/${of}s/${plain[of].id}/access_tokens`);
      expect(await reads(other.token, internal)).toEqual(open);
    });

    it('become external with the person who made them, and plain again', async () => {
      const { owner, asOwner, project, internal } = await world(false);
      const path = `/projects/${project.id}/access_tokens`;
      const { token } = await give(asOwner, path);
      const selfMade = await give(asOwner, path);
      const rotated = (await ashlar.as(selfMade.token)(`POST ${path}/self/rotate`)).body.token;
      await setExternal(owner, true);
      expect(await reads(token, internal)).toEqual(closed);
      expect(await reads(rotated, internal)).toEqual(closed);
      await setExternal(owner, false);
      expect(await reads(token, internal)).toEqual(open);
      await setExternal(owner, true);
      const other = await makeUser(ashlar);
      const group = project.path.split('/')[0];
      const { id } = (await ashlar.root(`GET /groups/${group}`)).body;
      await makeMember(ashlar, { namespace_id: id }, other, 50);
      expect((await ashlar.root(`DELETE /users/${owner.id}`)).status).toBe(204);
      expect(await reads(token, internal)).toEqual(closed);
    });

    it('become external when an external member rotates them', async () => {
      const { asOwner, project, internal } = await world(false);
      const path = `/projects/${project.id}/access_tokens`;
      const { id, token } = await give(asOwner, path);
      expect(await reads(token, internal)).toEqual(open);
      const outside = await makeUser(ashlar);
      await setExternal(outside, true);
      await makeMember(ashlar, { project_id: project.id }, outside, 40);
      const rotated = await ashlar.as(outside.token)(`POST ${path}/${id}/rotate`);
      expect(rotated.status).toBe(200);
      expect(await reads(rotated.body.token, internal)).toEqual(closed);
      const again = await ashlar.as(rotated.body.token)(`POST ${path}/self/rotate`);
      expect(await reads(again.body.token, internal)).toEqual(closed);
    });

    it('are brought in line by the migration, and so are password grants of administrators', async () => {
      const { owner, asOwner, project, internal } = await world(true);
      const path = `/projects/${project.id}/access_tokens`;
      const { user_id, token } = await give(asOwner, path);
      const turned = (await ashlar.as(token)(`POST ${path}/self/rotate`)).body;
      const password = { userId: owner.id, scopes: ['api', 'sudo'] };
      const { sql } = ashlar.app.services.database;
      await sql`update users set external = false where id = ${user_id}`;
      await sql`update access_tokens set created_by_id = ${user_id} where id = ${turned.id}`;
      const [grant] = await sql<{ id: number }[]>`
        insert into oauth_grants (user_id, kind, scopes, created_at)
        values (${password.userId}, 'password', ${password.scopes}, now()) returning id`;
      await sql`
        insert into access_tokens (kind, digest, user_id, grant_id, name, scopes, expires_at, created_at, updated_at)
        values ('oauth', sha256('of-before'), ${owner.id}, ${grant?.id ?? 0}, 'password', ${password.scopes},
          now() + interval '1 hour', now(), now())`;
      const asBefore = () =>
        ashlar
          .call('GET /user', { headers: { authorization: 'Bearer of-before' } })
          .then(({ status }) => status);
      expect(await reads(turned.token, internal)).toEqual(open);
      expect(await asBefore()).toBe(200);
      await sql`drop index access_tokens_bot_holder`;
      await sql.unsafe(readFileSync(join(migrationsFolder, '0012_inherited_access.sql'), 'utf8'));
      expect(await reads(turned.token, internal)).toEqual(closed);
      expect(await asBefore()).toBe(401);
      await setExternal(owner, false);
      expect(await reads(turned.token, internal)).toEqual(open);
    });

    it('are external where the person becomes so while the token is made', async () => {
      const { owner, asOwner, project, internal } = await world(false);
      const made = await overtake(
        ashlar,
        (tx) => tx`update users set external = true where id = ${owner.id}`,
        () => asOwner(`POST /projects/${project.id}/access_tokens`, { body }),
      );
      expect(made.status).toBe(201);
      expect(await reads(made.body.token, internal)).toEqual(closed);
    });
  });

  it('of another kind do not rotate here: 405', async () => {
    const { asOwner, group, project } = await context();
    expect((await asOwner(`POST /projects/${project.id}/access_tokens/self/rotate`)).status).toBe(405);
    const { token } = (await asOwner(`POST /groups/${group.id}/access_tokens`, { body })).body;
    expect((await ashlar.as(token)(`POST /projects/${project.id}/access_tokens/self/rotate`)).status).toBe(
      405,
    );
    expect((await ashlar.as(token)(`POST /groups/${group.id}/access_tokens/self/rotate`)).status).toBe(200);
    expect((await ashlar.call(`POST /groups/${group.id}/access_tokens/self/rotate`)).status).toBe(401);
  });

  it('take their bot with them when the last one is revoked', async () => {
    const { asOwner, project } = await context();
    const path = `/projects/${project.id}/access_tokens`;
    const made = (await asOwner(`POST ${path}`, { body })).body;
    const early = { 'if-unmodified-since': 'Thu, 01 Jan 2015 00:00:00 GMT' };
    expect((await asOwner(`DELETE ${path}/${made.id}`, { headers: early })).status).toBe(412);
    expect((await asOwner(`DELETE ${path}/${made.id}`)).status).toBe(204);
    expect((await ashlar.as(made.token)(`GET /projects/${project.id}`)).status).toBe(401);
    expect(await memberships(made.user_id)).toEqual([]);
    const bot = await selectUser(made.user_id);
    expect(bot === undefined || (bot.deletion === 'reassign' && bot.state === 'blocked')).toBe(true);
    expect((await asOwner(`GET ${path}/${made.id}`)).status).toBe(404);
    const events = await ashlar.app.services.database.db
      .selectFrom('audit_events')
      .select('event_name')
      .where('entity_type', '=', 'Project')
      .where('entity_id', '=', project.id)
      .orderBy('id')
      .execute();
    expect(events.map(({ event_name }) => event_name)).toEqual([
      'member_created',
      'project_access_token_created',
      'project_access_token_revoked',
      'member_destroyed',
    ]);
  });

  it.each(['project', 'group'] as const)('of a %s may end today, but not before', async (of) => {
    const { asOwner, group, project } = await context();
    const path = `/${of}s/${of === 'project' ? project.id : group.id}/access_tokens`;
    const late = await asOwner(`POST ${path}`, { body: { ...body, expires_at: dayFromNow(-1) } });
    expect([late.status, late.body.message]).toEqual([400, { expires_at: ["can't be in the past"] }]);
    const made = await asOwner(`POST ${path}`, { body: { ...body, expires_at: dayFromNow(0) } });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ active: false, expires_at: dayFromNow(0) });
    expect((await ashlar.as(made.body.token)('GET /user')).status).toBe(401);
  });

  it('that ended a month ago leave no bot behind', async () => {
    const { asOwner, group } = await context();
    const path = `/groups/${group.id}/access_tokens`;
    const gone = (await asOwner(`POST ${path}`, { body: { ...body, expires_at: dayFromNow(2) } })).body;
    const alive = (await asOwner(`POST ${path}`, { body: { ...body, expires_at: dayFromNow(60) } })).body;
    const back = moveClock(34 * DAY);
    try {
      expect(await retireUnusedBots(ashlar.app.services.database.background)).toBeGreaterThan(0);
      expect(await memberships(gone.user_id)).toEqual([]);
      expect(await memberships(alive.user_id)).toHaveLength(1);
      expect((await asOwner(`GET ${path}`)).body).toMatchObject([{ id: alive.id }]);
    } finally {
      back();
    }
  });
});

describe('project access tokens of the hosted offering (spec: Authentication, 6)', () => {
  const ashlar = useApp({ env: { ASHLAR_OFFERING: 'hosted', ASHLAR_TIER: 'free' } });

  it('need Premium', async () => {
    const project = await makeProject(ashlar, { of: await makeGroup(ashlar) });
    const body = { name: 'bot', scopes: ['api'] };
    expect((await ashlar.root(`POST /projects/${project.id}/access_tokens`, { body })).status).toBe(403);
  });
});

describe('deploy tokens', () => {
  const ashlar = useApp();

  it.each(['project', 'group'] as const)('of a %s are made, shown, listed and deleted', async (of) => {
    const owner = await makeUser(ashlar);
    const group = await makeGroup(ashlar, { owner });
    const project = await makeProject(ashlar, { of: group });
    const path = `/${of}s/${of === 'project' ? project.id : group.id}/deploy_tokens`;
    const asOwner = ashlar.as(owner.token);
    const body = { name: 'deploy', scopes: ['read_repository'], expires_at: '2999-01-01T10:00:00Z' };
    const made = await asOwner(`POST ${path}`, { body });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      name: 'deploy',
      username: `deploy-token-${made.body.id}`,
      expires_at: '2999-01-01T10:00:00.000Z',
      revoked: false,
      expired: false,
    });
    expect(made.body.token).toMatch(/^gldt-[\w-]{20}$/);
    expect((await asOwner(`POST ${path}`, { body: { ...body, username: 'me' } })).body.username).toBe('me');
    for (const wrong of [{ scopes: ['api'] }, { scopes: [] }, { name: '' }, { username: 'a b' }]) {
      expect(
        (await asOwner(`POST ${path}`, { body: { ...body, ...wrong } })).status,
        JSON.stringify(wrong),
      ).toBe(400);
    }
    expect((await asOwner(`GET ${path}`, { query: 'active=true' })).body).toHaveLength(2);
    expect((await asOwner(`GET ${path}`, { query: 'active=false' })).body).toEqual([]);
    const over = await asOwner(`POST ${path}`, { body: { ...body, expires_at: '2020-01-01' } });
    expect([over.status, over.body.expired]).toEqual([201, true]);
    expect((await asOwner(`GET ${path}`, { query: 'active=false' })).body).toHaveLength(1);
    expect((await asOwner(`GET ${path}/${made.body.id}`)).body).not.toHaveProperty('token');
    const outsider = await makeUser(ashlar);
    expect((await ashlar.as(outsider.token)(`GET ${path}`)).status).toBe(404);
    expect((await asOwner('GET /deploy_tokens')).status).toBe(403);
    expect((await ashlar.root('GET /deploy_tokens')).body.length).toBeGreaterThanOrEqual(2);
    expect((await asOwner(`DELETE ${path}/${made.body.id}`)).status).toBe(204);
    expect((await asOwner(`GET ${path}/${made.body.id}`)).status).toBe(404);
    expect((await asOwner(`DELETE ${path}/${made.body.id}`)).status).toBe(404);
  });

  it('of one project are not reached through another', async () => {
    const [one, other] = [await makeUser(ashlar), await makeUser(ashlar)];
    const mine = await makeProject(ashlar, { of: one });
    const theirs = await makeProject(ashlar, { of: other });
    const body = { name: 'deploy', scopes: ['read_repository'] };
    const { id } = (await ashlar.as(other.token)(`POST /projects/${theirs.id}/deploy_tokens`, { body })).body;
    expect((await ashlar.as(one.token)(`DELETE /projects/${mine.id}/deploy_tokens/${id}`)).status).toBe(404);
    expect((await ashlar.as(other.token)(`GET /projects/${theirs.id}/deploy_tokens/${id}`)).status).toBe(200);
  });

  it('are refused by this API in every form (spec: Authentication, 2)', async () => {
    const project = await makeProject(ashlar, { of: await makeGroup(ashlar) });
    const { token } = (
      await ashlar.root(`POST /projects/${project.id}/deploy_tokens`, {
        body: { name: 'deploy', scopes: ['read_repository'] },
      })
    ).body;
    const forms: Record<string, string>[] = [
      { 'deploy-token': token },
      { 'private-token': token },
      { authorization: `Bearer ${token}` },
      { 'job-token': token },
    ];
    for (const headers of forms) {
      expect((await ashlar.call('GET /projects', { headers })).status, Object.keys(headers)[0]).toBe(401);
    }
    expect((await ashlar.call('GET /projects', { query: `private_token=${token}` })).status).toBe(401);
    expect((await ashlar.call('GET /projects', { headers: { 'private-token': ROOT_TOKEN } })).status).toBe(
      200,
    );
  });
});
