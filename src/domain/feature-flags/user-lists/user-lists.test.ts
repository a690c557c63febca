/** Lists of users, and the strategies that go by them, over HTTP. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers, makeProject } from '../../../../test/support/factories.ts';

const ashlar = useApp();
let path: string;
let lists: string;

beforeAll(async () => {
  const { id } = await makeProject(ashlar);
  path = `/projects/${id}`;
  lists = `${path}/feature_flags_user_lists`;
});

const make = async (name: string, user_xids = 'ada,wren') =>
  bodyOf(await ashlar.root(`POST ${lists}`, { body: { name, user_xids } }), 201);

test('a list is made, found, changed and deleted; its number is not given again', async () => {
  const masons = await make('Masons', 'ada, wren,ada');
  expect(masons).toMatchObject({
    iid: 1,
    name: 'Masons',
    user_xids: 'ada,wren',
    project_id: expect.any(Number),
  });
  const second = await make('Carvers');
  const named = async (query: string) =>
    bodyOf(await ashlar.root(`GET ${lists}`, { query }), 200).map(({ name }: { name: string }) => name);
  expect(await named('')).toEqual(['Masons', 'Carvers']);
  expect(await named('search=CARV')).toEqual(['Carvers']);
  const changed = await ashlar.root(`PUT ${lists}/${second.iid}`, { body: { user_xids: 'vitruvius' } });
  expect(bodyOf(changed, 200)).toMatchObject({ name: 'Carvers', user_xids: 'vitruvius' });
  expect(bodyOf(await ashlar.root(`GET ${lists}/2`), 200).user_xids).toBe('vitruvius');
  expect((await ashlar.root(`DELETE ${lists}/2`)).status).toBe(204);
  expect((await ashlar.root(`GET ${lists}/2`)).status).toBe(404);
  expect((await make('Carvers')).iid).toBe(3);
});

test('a taken name, no name and no users are refused', async () => {
  await make('Taken');
  const refusal = async (body: object) => {
    const { status, body: refused } = await ashlar.root(`POST ${lists}`, { body });
    return [status, refused.message];
  };
  const user_xids = 'ada';
  expect(await refusal({ name: 'Taken', user_xids })).toEqual([400, { name: ['has already been taken'] }]);
  expect(await refusal({ name: 'x', user_xids: ' , ' })).toEqual([400, { user_xids: ["can't be blank"] }]);
  expect((await refusal({ name: 'x' }))[0]).toBe(400);
});

test('a strategy goes by a list of its project, and keeps it', async () => {
  const list = await make('Testers', 'ada');
  const flag = (strategies: object[]) => ({ name: `flag-${Math.floor(list.id)}`, strategies });
  const scopes = [{ environment_scope: '*' }];
  const other = await makeProject(ashlar);
  const theirs = bodyOf(
    await ashlar.root(`POST /projects/${other.id}/feature_flags_user_lists`, {
      body: { name: 'Theirs', user_xids: 'mallory' },
    }),
    201,
  );
  const refused = async (strategy: object) => {
    const body = flag([{ scopes, ...strategy }]);
    const answer = await ashlar.root(`POST ${path}/feature_flags`, { body });
    return [answer.status, answer.body.message];
  };
  expect(await refused({ name: 'gitlabUserList' })).toEqual([
    400,
    { strategies: ["user list can't be blank"] },
  ]);
  expect(await refused({ name: 'gitlabUserList', user_list_id: theirs.id })).toEqual([
    400,
    { strategies: ['user list must belong to the same project'] },
  ]);
  expect(await refused({ name: 'default', user_list_id: list.id })).toEqual([
    400,
    { strategies: ['user list must be blank'] },
  ]);
  const body = flag([{ name: 'gitlabUserList', user_list_id: list.id, scopes }]);
  const made = bodyOf(await ashlar.root(`POST ${path}/feature_flags`, { body }), 201);
  const { id, iid, name, user_xids } = list;
  expect(made.strategies).toMatchObject([
    { name: 'gitlabUserList', parameters: {}, user_list: { id, iid, name, user_xids } },
  ]);
  const [strategy] = made.strategies;
  const used = await ashlar.root(`DELETE ${lists}/${iid}`);
  expect([used.status, used.body.message]).toEqual([409, 'User list is associated with a strategy']);
  const client = bodyOf(await ashlar.root(`GET ${path}/feature_flags_client`), 200);
  const features = async () => {
    const headers = { 'unleash-instanceid': client.instance_id, 'unleash-appname': 'x' };
    const url = client.api_url.replace(`${ashlar.url}/api/v4`, '');
    return bodyOf(await ashlar.call(`GET ${url}/client/features`, { headers }), 200).features;
  };
  expect((await features())[0].strategies).toEqual([{ name: 'userWithId', parameters: { userIds: 'ada' } }]);
  bodyOf(await ashlar.root(`PUT ${lists}/${iid}`, { body: { user_xids: 'ada,wren' } }), 200);
  expect((await features())[0].strategies[0].parameters).toEqual({ userIds: 'ada,wren' });
  const without = { strategies: [{ id: strategy.id, _destroy: true }] };
  bodyOf(await ashlar.root(`PUT ${path}/feature_flags/${made.name}`, { body: without }), 200);
  expect((await ashlar.root(`DELETE ${lists}/${iid}`)).status).toBe(204);
});

test('developers keep lists, reporters do not see them', async () => {
  const { id } = await makeProject(ashlar, { visibility: 'public' });
  const { reporter, developer } = await makeMembers(ashlar, `projects/${id}`, 'reporter', 'developer');
  const call = { body: { name: 'Masons', user_xids: 'ada' } };
  const status = async (token: string, request: string) => (await ashlar.as(token)(request, call)).status;
  const all = `/projects/${id}/feature_flags_user_lists`;
  expect(await status(reporter.token, `POST ${all}`)).toBe(403);
  expect((await ashlar.as(reporter.token)(`GET ${all}`)).status).toBe(403);
  expect(await status(developer.token, `POST ${all}`)).toBe(201);
  expect((await ashlar.call(`GET ${all}`)).status).toBe(401);
});
