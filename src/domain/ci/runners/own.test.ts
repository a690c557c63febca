/** What runners call over HTTP: they register, verify their token, change and return it; and what is kept of their processes. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { withSettings } from '../../../../test/support/browser.ts';
import { later } from '../../../../test/support/devices.ts';
import {
  bodyOf,
  type MadeGroup,
  type MadeProject,
  makeGroup,
  makeMembers,
  makeProject,
} from '../../../../test/support/factories.ts';
import { overtake } from '../../../../test/support/races.ts';
import { authenticateRunner } from './authenticate.ts';

const ashlar = useApp();
let group: MadeGroup;
let project: MadeProject;
const registration = { project: '', group: '', instance: '' };

const sql = () => ashlar.app.services.database.sql;

beforeAll(async () => {
  group = await makeGroup(ashlar);
  project = await makeProject(ashlar);
  const reset = async (path: string) =>
    bodyOf(await ashlar.root(`POST ${path}/reset_registration_token`), 201).token;
  registration.project = await reset(`/projects/${project.id}/runners`);
  registration.group = await reset(`/groups/${group.id}/runners`);
  registration.instance = await reset('/runners');
});

const register = (body: object) => ashlar.call('POST /runners', { body });
const verify = (body: object, headers: Record<string, string> = {}) =>
  ashlar.call('POST /runners/verify', { body, headers });
const made = async (body: object = {}): Promise<{ id: number; token: string }> =>
  bodyOf(await register({ token: registration.project, ...body }), 201);
const detailsOf = async (id: number) => bodyOf(await ashlar.root(`GET /runners/${id}`), 200);
const managersOf = async (id: number) => bodyOf(await ashlar.root(`GET /runners/${id}/managers`), 200);
const forbidden = { message: '403 Forbidden' };

/** A runner that a user made. */
const createdToken = async (): Promise<{ id: number; token: string }> => {
  const body = { runner_type: 'project_type', project_id: project.id };
  return bodyOf(await ashlar.root('POST /user/runners', { body }), 201);
};

describe('registering', () => {
  test('by the token of a project, of a group and of the instance', async () => {
    const body = {
      ...{
        description: 'Kiln',
        maintainer_note: 'Sundays',
        active: false,
        locked: true,
        tag_list: 'stone, lime',
      },
      ...{ run_untagged: false, maximum_timeout: 900, access_level: 'ref_protected' },
      info: { name: 'gitlab-runner', version: '18.1.0', features: { variables: true } },
    };
    const one = bodyOf(await register({ ...body, token: registration.project }), 201);
    expect(one).toEqual({
      id: one.id,
      token: expect.stringMatching(/^glrtr-t3_[\w-]{27}$/),
      token_expires_at: null,
    });
    expect(await detailsOf(one.id)).toMatchObject({
      ...{
        description: 'Kiln',
        maintenance_note: 'Sundays',
        paused: true,
        locked: true,
        run_untagged: false,
      },
      ...{ tag_list: ['stone', 'lime'], maximum_timeout: 900, access_level: 'ref_protected' },
      ...{ name: 'gitlab-runner', created_by: null, status: 'never_contacted' },
      projects: [{ id: project.id }],
    });
    const ofGroup = await made({ token: registration.group });
    expect(await detailsOf(ofGroup.id)).toMatchObject({
      runner_type: 'group_type',
      groups: [{ id: group.id }],
    });
    const headers = { 'runner-token': registration.instance };
    const ofInstance = bodyOf(await ashlar.call('POST /runners', { headers }), 201);
    expect(await detailsOf(ofInstance.id)).toMatchObject({ runner_type: 'instance_type' });
  });

  test.each([
    [{}, 400, { error: 'token is missing' }],
    [{ token: 'GR1348941-wrong' }, 403, { message: '403 Forbidden - invalid token supplied' }],
    [{ token: 'x'.repeat(256) }, 400, {}],
  ])('without its token: %j', async (body, status, expected) => {
    const refused = await register(body);
    expect([refused.status, refused.body]).toEqual([status, expect.objectContaining(expected)]);
  });

  test.each([
    [{ active: true, paused: true }, { error: 'active, paused are mutually exclusive' }],
    [
      { maintainer_note: 'a', maintenance_note: 'b' },
      { error: 'maintainer_note, maintenance_note are mutually exclusive' },
    ],
    [
      { run_untagged: false },
      { message: { tags_list: ['can not be empty when runner is not allowed to pick untagged jobs'] } },
    ],
    [{ maximum_timeout: 1 }, { message: { maximum_timeout: ['needs to be at least 10 minutes'] } }],
  ])('as what cannot be: %j', async (body, expected) => {
    const refused = await register({ token: registration.project, ...body });
    expect([refused.status, refused.body]).toEqual([400, expect.objectContaining(expected)]);
  });

  test('is refused where the settings forbid it', async () => {
    const tried = async () =>
      Promise.all(Object.values(registration).map(async (token) => (await register({ token })).status));
    const invalid = await register({ token: 'wrong' });
    await withSettings(ashlar, { allow_runner_registration_token: false }, async () => {
      expect(await tried()).toEqual([410, 410, 410]);
      expect((await register({ token: registration.project })).body).toEqual({
        message: '410 Gone - runner registration disallowed',
      });
      expect((await register({ token: 'wrong' })).body).toEqual(invalid.body);
    });
    await withSettings(ashlar, { valid_runner_registrars: ['group'] }, async () => {
      expect(await tried()).toEqual([403, 201, 201]);
      expect((await register({ token: registration.project })).body).toEqual(invalid.body);
    });
  });

  test('by a token that was reset, no more; who may do that', async () => {
    const place = await makeProject(ashlar);
    const { developer, maintainer } = await makeMembers(
      ashlar,
      `projects/${place.id}`,
      'developer',
      'maintainer',
    );
    const path = `POST /projects/${place.id}/runners/reset_registration_token`;
    expect((await ashlar.as(developer.token)(path)).status).toBe(403);
    const before = bodyOf(await ashlar.as(maintainer.token)(path), 201);
    expect(before).toEqual({ token: expect.stringMatching(/^GR1348941[\w-]{27}$/), token_expires_at: null });
    const all = await Promise.all(
      [1, 2, 3].map(async () => bodyOf(await ashlar.as(maintainer.token)(path), 201)),
    );
    expect((await register({ token: before.token })).status).toBe(403);
    const statuses = await Promise.all(all.map(async ({ token }) => (await register({ token })).status));
    expect(statuses.sort()).toEqual([201, 403, 403]);
    expect((await ashlar.as(maintainer.token)('POST /runners/reset_registration_token')).status).toBe(403);
    const { owner, maintainer: ofGroup } = await makeMembers(
      ashlar,
      `groups/${group.id}`,
      'owner',
      'maintainer',
    );
    const reset = `POST /groups/${group.id}/runners/reset_registration_token`;
    expect((await ashlar.as(ofGroup.token)(reset)).status).toBe(403);
    registration.group = bodyOf(await ashlar.as(owner.token)(reset), 201).token;
    const [row] =
      await sql()`select t::text as text from runner_registration_tokens t where namespace_id = ${group.id}`;
    expect(row?.text).not.toContain(registration.group.slice(9));
  });

  test('two at once are two runners', async () => {
    const [one, two] = await Promise.all([made(), made()]);
    expect(one?.id).not.toBe(two?.id);
    expect(one?.token).not.toBe(two?.token);
  });
});

describe('a token', () => {
  test('is verified, from the body or the header; the body’s comes first', async () => {
    const { id, token } = await made();
    const expected = { id, token, token_expires_at: null };
    expect(bodyOf(await verify({ token }), 200)).toEqual(expected);
    expect(bodyOf(await verify({}, { 'runner-token': token }), 200)).toEqual(expected);
    expect(bodyOf(await verify({ token }, { 'runner-token': 'wrong' }), 200)).toEqual(expected);
    expect((await verify({ token: 'wrong' }, { 'runner-token': token })).body).toEqual(forbidden);
  });

  test('that is wrong is refused alike everywhere', async () => {
    const token = 'glrt-t3_wrong';
    for (const request of [
      'POST /runners/verify',
      'DELETE /runners',
      'DELETE /runners/managers',
      'POST /runners/reset_authentication_token',
    ]) {
      const refused = await ashlar.call(request, { body: { token, system_id: 's_1' } });
      expect([request, refused.status, refused.body]).toEqual([request, 403, forbidden]);
      const without = await ashlar.call(request, { body: { system_id: 's_1' } });
      expect([request, without.status, without.body.error]).toEqual([request, 400, 'token is missing']);
    }
    const discovery = await ashlar.call('GET /runners/router/discovery', {
      headers: { 'runner-token': token },
    });
    expect([discovery.status, discovery.body]).toEqual([403, forbidden]);
  });

  test('of a runner opens nothing of the API, nor does an administrator’s open what runners call', async () => {
    const { token } = await made();
    for (const headers of [{ 'private-token': token }, { authorization: `Bearer ${token}` }])
      expect((await ashlar.call('GET /user', { headers })).status).toBe(401);
    expect((await ashlar.root('DELETE /runners')).status).toBe(400);
    expect((await ashlar.root('DELETE /runners', { body: { token: 'wrong' } })).status).toBe(403);
  });

  test('that has ended is unknown', async () => {
    await withSettings(ashlar, { project_runner_token_expiration_interval: 7_200 }, async () => {
      const { token } = await made();
      expect((await verify({ token })).status).toBe(200);
      await later(7_201, async () => expect((await verify({ token })).body).toEqual(forbidden));
    });
  });

  test('is changed by the runner, once', async () => {
    const { id, token } = await made();
    const reset = () => ashlar.call('POST /runners/reset_authentication_token', { body: { token } });
    const all = await Promise.all([reset(), reset(), reset()]);
    expect(all.map(({ status }) => status).sort()).toEqual([201, 403, 403]);
    const changed = all.find(({ status }) => status === 201)?.body;
    expect(changed).toEqual({ token: expect.stringMatching(/^glrtr-t3_/), token_expires_at: null });
    expect((await verify({ token })).status).toBe(403);
    expect(bodyOf(await verify({ token: changed.token }), 200).id).toBe(id);
    const again = bodyOf(await ashlar.root(`POST /runners/${id}/reset_authentication_token`), 201);
    expect((await verify({ token: changed.token })).status).toBe(403);
    expect((await verify({ token: again.token })).status).toBe(200);
  });

  test('deletes its runner, also one of several projects', async () => {
    const { id, token } = await made();
    const other = await makeProject(ashlar);
    bodyOf(await ashlar.root(`POST /projects/${other.id}/runners`, { body: { runner_id: id } }), 201);
    expect((await ashlar.call('DELETE /runners', { body: { token } })).status).toBe(204);
    expect((await ashlar.root(`GET /runners/${id}`)).status).toBe(404);
    expect((await ashlar.call('DELETE /runners', { body: { token } })).status).toBe(403);
  });

  test('is told of no router', async () => {
    const { token } = await made();
    const told = await ashlar.call('GET /runners/router/discovery', { headers: { 'runner-token': token } });
    expect([told.status, told.body]).toEqual([501, { message: '501 Not Implemented' }]);
  });
});

describe('a process', () => {
  const info = {
    ...{
      name: 'gitlab-runner',
      version: '18.1.0',
      revision: 'abc',
      platform: 'linux',
      architecture: 'amd64',
    },
    ...{ executor: 'shell', features: { variables: true, cache: 'no' }, config: { gpus: 'all' } },
  };

  test('is kept by its name; one without has the name of old', async () => {
    const { id, token } = await made();
    bodyOf(await verify({ token, system_id: 's_1', info }), 200);
    bodyOf(await verify({ token }), 200);
    const shown = await managersOf(id);
    expect(shown).toMatchObject([
      {
        ...{ system_id: 's_1', version: '18.1.0', revision: 'abc', platform: 'linux', architecture: 'amd64' },
        ...{
          status: 'online',
          job_execution_status: 'idle',
          ip_address: expect.stringMatching(/127\.0\.0\.1$/),
        },
      },
      { system_id: '<legacy>', version: null },
    ]);
    expect(await detailsOf(id)).toMatchObject({ ip_address: '', online: true, status: 'online' });
    const [row] =
      await sql()`select features, gpus, executor from runner_managers where runner_id = ${id} order by id limit 1`;
    expect(row).toEqual({ features: { variables: true }, gpus: 'all', executor: 'shell' });
  });

  test('of a runner that a user made is not heard of by verifying', async () => {
    const { id, token } = await createdToken();
    bodyOf(await verify({ token, system_id: 's_1', info }), 200);
    expect(await managersOf(id)).toMatchObject([
      { status: 'never_contacted', contacted_at: null, version: '18.1.0' },
    ]);
    expect(await detailsOf(id)).toMatchObject({ status: 'never_contacted', online: null, version: '18.1.0' });
  });

  test('is written when it is new, when it changes and now and then, and else not', async () => {
    const { id, token } = await createdToken();
    const statements: string[] = [];
    let watched = false;
    const { points, sql: pool } = ashlar.app.services.database;
    for (const each of [points, pool])
      each.watch((text) => {
        if (watched && /runner/.test(text)) statements.push(text);
      });
    const request = { headers: { 'runner-token': token }, address: '192.0.2.7' };
    /** How many statements it takes, and the writes among them. */
    const ask = async (given: object = {}) => {
      statements.length = 0;
      watched = true;
      const { runner, manager } = await authenticateRunner(
        ashlar.app.services,
        { system_id: 's_1', ...given },
        request,
      ).finally(() => {
        watched = false;
      });
      expect(runner.id).toBe(id);
      const writes = statements.filter((text) => !/^\s*select/.test(text));
      return { took: [statements.length, writes.length], manager };
    };
    const first = await ask({ info });
    expect(first.took).toEqual([3, 2]);
    expect(first.manager).toMatchObject({ version: '18.1.0', contacted_at: expect.any(Date) });
    expect((await ask({ info })).took).toEqual([1, 0]);
    expect((await ask()).took).toEqual([1, 0]);
    const changed = await ask({ info: { ...info, version: '18.2.0' } });
    expect(changed.took).toEqual([2, 1]);
    expect(changed.manager).toMatchObject({ id: first.manager.id, version: '18.2.0' });
    await later(39 * 60, async () => expect((await ask()).took).toEqual([1, 0]));
    await later(56 * 60, async () => expect((await ask()).took).toEqual([2, 1]));
    const [row] =
      await sql()`select r.contacted_at = m.contacted_at as same, r.updated_at < m.contacted_at as untouched
      from runners r join runner_managers m on m.runner_id = r.id where r.id = ${id}`;
    expect(row).toEqual({ same: true, untouched: true });
  });

  test('is one, where it asks twice at once', async () => {
    const { id, token } = await made();
    const all = await Promise.all(Array.from({ length: 6 }, () => verify({ token, system_id: 's_1', info })));
    expect(all.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(await managersOf(id)).toHaveLength(1);
  });

  test('that was not heard of for a week is forgotten when another comes, and so are the oldest of too many', async () => {
    const { id, token } = await made();
    await sql()`insert into runner_managers (runner_id, system_xid, features, ip_address, created_at)
      select ${id}::bigint, 'old-' || n, '{}'::jsonb, '', now() - interval '8 days' from generate_series(1, 3) n
      union all select ${id}::bigint, 'new-' || n, '{}'::jsonb, '', now() - n * interval '1 second' from generate_series(1, 1005) n`;
    bodyOf(await verify({ token, system_id: 's_1' }), 200);
    const [row] = await sql()`select count(*)::integer as count, bool_or(system_xid = 's_1') as latest,
      bool_or(system_xid like 'old-%') as stale, bool_or(system_xid = 'new-1000') as oldest
      from runner_managers where runner_id = ${id}`;
    expect(row).toEqual({ count: 1_000, latest: true, stale: false, oldest: false });
  });

  test('goes when it says so', async () => {
    const { id, token } = await made();
    bodyOf(await verify({ token, system_id: 's_1' }), 200);
    const remove = (body: object) => ashlar.call('DELETE /runners/managers', { body });
    expect((await remove({ token })).body.error).toBe('system_id is missing');
    expect((await remove({ token, system_id: 's_2' })).body).toEqual({ message: 'Runner manager not found' });
    expect((await remove({ token, system_id: 's_1' })).status).toBe(204);
    expect((await remove({ token, system_id: 's_1' })).status).toBe(404);
    expect(await managersOf(id)).toEqual([]);
  });

  test('has a name that is not empty, and not long', async () => {
    const { token } = await made();
    for (const system_id of ['', 'x'.repeat(65)])
      expect((await verify({ token, system_id })).status).toBe(400);
    expect((await verify({ token, info: { version: 'x'.repeat(256) } })).status).toBe(400);
    expect((await verify({ token, info: 'none' })).status).toBe(400);
  });

  test('asks for a runner that is deleted meanwhile: it is unknown', async () => {
    const { id, token } = await made();
    const refused = await overtake(
      ashlar,
      (tx) => tx`delete from runners where id = ${id}`,
      () => verify({ token, system_id: 's_1' }),
    );
    expect([refused.status, refused.body]).toEqual([403, forbidden]);
  });
});
