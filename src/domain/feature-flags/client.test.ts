/** Programs that obey the flags of a project, over HTTP. */
import { beforeAll, expect, test } from 'vitest';
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
