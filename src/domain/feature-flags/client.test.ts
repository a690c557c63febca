/** Programs that obey the flags of a project, over HTTP. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { bodyOf, type MadeUser, makeMembers, makeProject } from '../../../test/support/factories.ts';

const ashlar = useApp();
let path: string;
let client: string;
let members: Record<'reporter' | 'developer' | 'maintainer', MadeUser>;

beforeAll(async () => {
  const { id } = await makeProject(ashlar, { visibility: 'private' });
  path = `/projects/${id}`;
  client = `/feature_flags/unleash/${id}`;
  members = await makeMembers(ashlar, `projects/${id}`, 'reporter', 'developer', 'maintainer');
  const strategies = [
    { name: 'default', scopes: [{ environment_scope: 'production' }] },
    {
      name: 'flexibleRollout',
      parameters: { rollout: '50', groupId: 'masons', stickiness: 'userId' },
      scopes: [{ environment_scope: 'review/*' }],
    },
  ];
  const flags = [
    { name: 'arches', description: 'Round ones', strategies },
    {
      name: 'vaults',
      active: false,
      strategies: [{ name: 'default', scopes: [{ environment_scope: '*' }] }],
    },
  ];
  for (const body of flags) bodyOf(await ashlar.root(`POST ${path}/feature_flags`, { body }), 201);
});

const instanceId = async (): Promise<string> =>
  bodyOf(await ashlar.as(members.developer.token)(`GET ${path}/feature_flags_client`), 200).instance_id;
const read = (headers: Record<string, string>, below = '/client/features') =>
  ashlar.call(`GET ${client}${below}`, { headers });
const namesOf = async (headers: Record<string, string>): Promise<string[]> =>
  bodyOf(await read(headers), 200).features.map(({ name }: { name: string }) => name);

test('the flags of an environment, with the strategies that are for it', async () => {
  const headers = { 'unleash-instanceid': await instanceId(), 'unleash-appname': 'review/arch' };
  const rollout = {
    name: 'flexibleRollout',
    parameters: { rollout: '50', groupId: 'masons', stickiness: 'userId' },
  };
  const everywhere = { name: 'default', parameters: {} };
  const features = [
    { name: 'arches', description: 'Round ones', enabled: true, strategies: [rollout] },
    { name: 'vaults', description: '', enabled: false, strategies: [everywhere] },
  ];
  expect(bodyOf(await read(headers), 200)).toEqual({ version: 1, features });
  expect(bodyOf(await read(headers, '/features'), 200)).toEqual({ version: 1, features });
  expect(await namesOf({ ...headers, 'unleash-appname': 'staging' })).toEqual(['vaults']);
  const query = { instance_id: headers['unleash-instanceid'], app_name: 'production' };
  const asked = await ashlar.call(`GET ${client}/features`, { query: new URLSearchParams(query).toString() });
  expect(bodyOf(asked, 200).features[0].strategies).toEqual([everywhere]);
  const etag = (await read(headers)).headers.get('etag') ?? '';
  expect((await read({ ...headers, 'if-none-match': etag })).status).toBe(304);
});

test('a client starts, and tells its counts', async () => {
  const headers = { 'unleash-instanceid': await instanceId() };
  const body = { appName: 'production', instanceId: 'x', strategies: ['default'], started: '2026-01-01' };
  const statuses = [
    await ashlar.call(`GET ${client}`, { headers }),
    await ashlar.call(`POST ${client}/client/register`, { headers, body }),
    await ashlar.call(`POST ${client}/client/metrics`, { headers, body: { bucket: { toggles: {} } } }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200]);
});

test('no other token reads them, and no person does by theirs', async () => {
  const other = await makeProject(ashlar);
  const theirs = bodyOf(await ashlar.root(`GET /projects/${other.id}/feature_flags_client`), 200);
  for (const wrong of ['', 'glffct-', theirs.instance_id, `${await instanceId()}x`])
    expect((await read({ 'unleash-instanceid': wrong })).status).toBe(401);
  expect((await read({})).status).toBe(401);
  expect((await ashlar.as(members.maintainer.token)(`GET ${client}/features`)).status).toBe(401);
  const unknown = await ashlar.call('GET /feature_flags/unleash/999999/features', {
    headers: { 'unleash-instanceid': await instanceId() },
  });
  expect(unknown.status).toBe(401);
});

test('developers see the token, maintainers reset it: the one before is of no use then', async () => {
  const before = await instanceId();
  const { reporter, developer, maintainer } = members;
  expect((await ashlar.as(reporter.token)(`GET ${path}/feature_flags_client`)).status).toBe(403);
  const reset = `POST ${path}/feature_flags_client/reset_token`;
  expect((await ashlar.as(developer.token)(reset)).status).toBe(403);
  const { instance_id: after, api_url } = bodyOf(await ashlar.as(maintainer.token)(reset), 201);
  expect([after === before, api_url.endsWith(`/api/v4${client}`)]).toEqual([false, true]);
  expect((await read({ 'unleash-instanceid': before })).status).toBe(401);
  expect((await read({ 'unleash-instanceid': after })).status).toBe(200);
  expect(await instanceId()).toBe(after);
  expect((await ashlar.as(maintainer.token)(reset)).body.instance_id).not.toBe(after);
});

test('a project whose flags are off has none for programs', async () => {
  const { id } = await makeProject(ashlar);
  const { instance_id } = bodyOf(await ashlar.root(`GET /projects/${id}/feature_flags_client`), 200);
  const features = () =>
    ashlar.call(`GET /feature_flags/unleash/${id}/features`, {
      headers: { 'unleash-instanceid': instance_id, 'unleash-appname': 'x' },
    });
  const put = async (level: string) =>
    bodyOf(await ashlar.root(`PUT /projects/${id}`, { body: { feature_flags_access_level: level } }), 200);
  expect(bodyOf(await features(), 200)).toEqual({ version: 1, features: [] });
  await put('disabled');
  expect([
    (await features()).status,
    (await ashlar.root(`GET /projects/${id}/feature_flags`)).status,
  ]).toEqual([403, 403]);
  await put('private');
  expect((await features()).status).toBe(200);
});

test('what one list is repeated for by many strategies is bounded', async () => {
  const { id } = await makeProject(ashlar);
  const of = `/projects/${id}`;
  const user_xids = Array.from({ length: 1_000 }, (_, index) => String(index).padStart(250, 'u')).join(',');
  const body = { name: 'Masons', user_xids };
  const list = bodyOf(await ashlar.root(`POST ${of}/feature_flags_user_lists`, { body }), 201);
  const strategies = Array.from({ length: 90 }, () => ({
    name: 'gitlabUserList',
    user_list_id: list.id,
    scopes: [{ environment_scope: 'production' }],
  }));
  for (const name of ['arches', 'vaults'])
    expect((await ashlar.root(`POST ${of}/feature_flags`, { body: { name, strategies } })).status).toBe(201);
  const { instance_id } = bodyOf(await ashlar.root(`GET ${of}/feature_flags_client`), 200);
  const readAs = (environment: string) =>
    ashlar.call(`GET /feature_flags/unleash/${id}/features`, {
      headers: { 'unleash-instanceid': instance_id, 'unleash-appname': environment },
    });
  expect((await readAs('production')).status).toBe(429);
  expect(bodyOf(await readAs('staging'), 200).features).toEqual([]);
});

describe('what is read for programs that need nothing of it is bounded', () => {
  const clientOf = async (id: number) =>
    bodyOf(await ashlar.root(`GET /projects/${id}/feature_flags_client`), 200).instance_id;
  const statusOf = async (id: number): Promise<number> => {
    const headers = { 'unleash-instanceid': await clientOf(id), 'unleash-appname': 'staging' };
    return (await ashlar.call(`GET /feature_flags/unleash/${id}/features`, { headers })).status;
  };
  const fill = async (id: number, count: number, strategies: (place: number) => readonly object[]) => {
    const { sql } = ashlar.app.services.database;
    for (let place = 0; place < count; place += 1)
      await sql`insert into project_feature_flags (project_id, name, strategies, created_at, updated_at)
        values (${id}, ${`f${place}`}, ${JSON.stringify(strategies(place))}::text::jsonb, now(), now())`;
  };
  const scopes = [{ id: 1, environment_scope: 'production' }];

  test('flags with long lists of users', async () => {
    const { id } = await makeProject(ashlar);
    const parameters = { userIds: 'u'.repeat(400_000) };
    await fill(id, 101, () => [{ id: 1, name: 'userWithId', parameters, scopes }]);
    expect(await statusOf(id)).toBe(429);
    await ashlar.app.services.database.sql`
      update project_feature_flags set strategies = '[]' where project_id = ${id} and name <> 'f0'`;
    expect(await statusOf(id)).toBe(200);
  });

  test('lists of users that strategies name', async () => {
    const { id } = await makeProject(ashlar);
    const made = await ashlar.app.services.database.sql<{ id: number }[]>`
      insert into feature_flag_user_lists (project_id, iid, name, user_xids, created_at, updated_at)
      select ${id}, n, 'list ' || n, repeat('u', 250000), now(), now() from generate_series(1, 200) n returning id`;
    const strategiesFrom = (place: number) =>
      made.slice(place * 100, place * 100 + 100).map((list) => ({
        ...{ id: list.id, name: 'gitlabUserList', parameters: {}, scopes },
        user_list_id: list.id,
      }));
    await fill(id, 2, strategiesFrom);
    expect(await statusOf(id)).toBe(429);
    await ashlar.app.services.database
      .sql`delete from project_feature_flags where project_id = ${id} and name = 'f1'`;
    expect(await statusOf(id)).toBe(200);
  });

  test('flags are read to the last', async () => {
    const { id } = await makeProject(ashlar);
    await fill(id, 250, () => [{ id: 1, name: 'default', parameters: {}, scopes }]);
    const headers = { 'unleash-instanceid': await clientOf(id), 'unleash-appname': 'production' };
    const read = await ashlar.call(`GET /feature_flags/unleash/${id}/features`, { headers });
    const names = bodyOf(read, 200).features.map(({ name }: { name: string }) => name);
    expect(names).toEqual(Array.from({ length: 250 }, (_, place) => `f${place}`).sort());
  });
});
