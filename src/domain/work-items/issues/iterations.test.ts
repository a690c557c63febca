/** Iterations: empty lists in the public shape, for readers of the project or group. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { addMember, bodyOf, makeGroup, makeProject, makeUser } from '../../../../test/support/factories.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });
const free = useApp({ env: { ASHLAR_TIER: 'free' } });

let group = 0;
let project = 0;
let guest = '';
let stranger = '';

beforeAll(async () => {
  const member = await makeUser(ashlar);
  guest = member.token;
  stranger = (await makeUser(ashlar)).token;
  group = (await makeGroup(ashlar)).id;
  project = (await makeProject(ashlar, { namespace_id: group })).id;
  await addMember(ashlar, `groups/${group}`, member, 10);
  for (const body of [{ title: 'Open' }, { title: 'Secret', confidential: true }])
    bodyOf(await ashlar.root(`POST /projects/${project}/issues`, { body }), 201);
});

const lists = (): string[] => [`/groups/${group}/iterations`, `/projects/${project}/iterations`];
const events = (iid: number): string => `/projects/${project}/issues/${iid}/resource_iteration_events`;

describe('lists', () => {
  test.each([
    '',
    ...['opened', 'upcoming', 'current', 'closed', 'all'].map((state) => `state=${state}`),
    'search=sprint&in[]=title&in[]=cadence_title',
    'search=sprint&in=title',
    'include_ancestors=false&include_descendants=true',
    'updated_after=2026-01-01&updated_before=2026-02-01T00:00:00Z',
  ])('for ?%s are empty pages', async (query) => {
    for (const path of lists()) {
      const { status, body, headers } = await ashlar.as(guest)(`GET ${path}`, { query });
      expect([path, status, body, headers.get('x-total'), headers.get('x-next-page')]).toEqual([
        ...[path, 200, [], '0', ''],
      ]);
    }
  });

  test.each([
    ['state=active', 'state does not have a valid value'],
    ['in=description', 'in does not have a valid value'],
    ['include_ancestors=perhaps', 'include_ancestors is invalid'],
    ['updated_after=yesterday', 'updated_after is invalid'],
  ])('refuse ?%s', async (query, error) => {
    for (const path of lists()) {
      const { status, body } = await ashlar.as(guest)(`GET ${path}`, { query });
      expect([path, status, body.error]).toEqual([path, 400, error]);
    }
  });

  test('are not there for those who do not see the place', async () => {
    for (const path of lists())
      expect([path, (await ashlar.as(stranger)(`GET ${path}`)).status]).toEqual([path, 404]);
  });
});

test('the events of an issue are those of whoever sees the issue', async () => {
  const root = await ashlar.root(`GET ${events(2)}`);
  expect([root.status, root.body, root.headers.get('x-total')]).toEqual([200, [], '0']);
  expect((await ashlar.root(`GET ${events(2)}/1`)).status).toBe(404);
  const call = ashlar.as(guest);
  expect((await call(`GET ${events(1)}`)).body).toEqual([]);
  for (const path of [events(2), `${events(2)}/1`, events(3)])
    expect([path, (await call(`GET ${path}`)).status]).toEqual([path, 404]);
});

test('an issue is in none, and shows so', async () => {
  expect((await ashlar.root(`GET /projects/${project}/issues/1`)).body.iteration).toBeNull();
});

test('the free tier refuses them', async () => {
  const { id } = await makeGroup(free);
  const { id: inside } = await makeProject(free, { namespace_id: id });
  bodyOf(await free.root(`POST /projects/${inside}/issues`, { body: { title: 'One' } }), 201);
  const about = `/projects/${inside}/issues/1/resource_iteration_events`;
  for (const path of [`/groups/${id}/iterations`, `/projects/${inside}/iterations`, about, `${about}/1`])
    expect([path, (await free.root(`GET ${path}`)).status]).toEqual([path, 403]);
});
