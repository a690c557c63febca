/** Lists of alerts over HTTP: orders, filters and counts. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
} from '../../../test/support/factories.ts';

const app = useApp();
let developer: MadeUser;
const alerts = (id: number): string => `/projects/${id}/alert_management_alerts`;
let place: MadeProject;
const list = async (query: string) =>
  bodyOf(await app.root(`GET ${alerts(place.id)}`, { query }), 200).map((each: { iid: number }) => each.iid);

beforeAll(async () => {
  place = await makeProject(app);
  const path = `/projects/${place.id}/alert_management_integrations`;
  const made = bodyOf(await app.root(`POST ${path}`, { body: { name: 'Tool', type: 'http' } }), 201);
  const payloads = [
    { title: 'First', severity: 'low', start_time: '2026-01-03T00:00:00Z', fingerprint: '1' },
    { title: 'Second', severity: 'critical', service: '50%', start_time: '2026-01-01T00:00:00Z' },
    { title: 'Third', severity: 'info', monitoring_tool: 'first tool', start_time: '2026-01-02T00:00:00Z' },
  ];
  for (const payload of [...payloads, payloads[0]])
    await app.root(`POST ${path}/${made.id}/test`, { body: { payload } });
  ({ developer } = await makeMembers(app, `projects/${place.id}`, 'developer'));
  const put = (iid: number, body: unknown) => app.root(`PUT ${alerts(place.id)}/${iid}`, { body });
  await put(2, { status: 'acknowledged', assignee_ids: [developer.id] });
  await put(3, { status: 'resolved' });
});

test.each([
  ['', [3, 2, 1]],
  ['sort=asc', [1, 2, 3]],
  ['order_by=iid&sort=asc', [1, 2, 3]],
  ['order_by=started_at', [1, 3, 2]],
  ['order_by=event_count', [1, 3, 2]],
  ['order_by=severity', [2, 1, 3]],
  ['order_by=severity&sort=asc', [3, 1, 2]],
  ['order_by=status', [1, 2, 3]],
  ['status=resolved', [3]],
  ['statuses=triggered,acknowledged', [2, 1]],
  ['severity[]=low&severity[]=info', [3, 1]],
  ['search=first', [3, 1]],
  ['search=50%25', [2]],
  ['search=_', []],
  ['iids[]=2&iids[]=9', [2]],
  ['pagination=keyset&per_page=2', [3, 2]],
  ['pagination=keyset&order_by=iid&sort=asc', [1, 2, 3]],
  ['page=2&per_page=2', [1]],
])('%s', async (query, expected) => {
  expect(await list(query)).toEqual(expected);
});

test('of one assignee', async () => {
  expect(await list(`assignee_username=${developer.username.toUpperCase()}`)).toEqual([2]);
  expect(await list('assignee_username=nobody-here')).toEqual([]);
});

test('a list has no payloads', async () => {
  const [first] = bodyOf(await app.root(`GET ${alerts(place.id)}`), 200);
  expect(first).not.toHaveProperty('details');
});

test('how many there are of each status', async () => {
  const counts = async (query: string) =>
    bodyOf(await app.root(`GET ${alerts(place.id)}/status_counts`, { query }), 200);
  const all = { triggered: 1, acknowledged: 1, resolved: 1, ignored: 0, open: 2, all: 3 };
  expect(await counts('')).toEqual(all);
  const critical = { ...all, triggered: 0, resolved: 0, open: 1, all: 1 };
  expect(await counts('severity=critical')).toEqual(critical);
});

test.each(['status=open', 'severity=bad', 'order_by=title', 'iids=x'])('400 for %s', async (query) => {
  expect((await app.root(`GET ${alerts(place.id)}`, { query })).status).toBe(400);
});
