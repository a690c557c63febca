/** Incident timelines: members write entries, and can change and delete only members' entries. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeUser,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';

const ashlar = useApp();
let project = 0;
let developer: MadeUser;
let reporter: MadeUser;
let outsider: MadeUser;
let path = '';

beforeAll(async () => {
  project = (await makeProject(ashlar)).id;
  outsider = await makeUser(ashlar);
  ({ developer, reporter } = await makeMembers(ashlar, `projects/${project}`, 'developer', 'reporter'));
  const issue = { title: 'Down', issue_type: 'incident' };
  bodyOf(await ashlar.root(`POST /projects/${project}/issues`, { body: issue }), 201);
  bodyOf(await ashlar.root(`POST /projects/${project}/issues`, { body: { title: 'Plain' } }), 201);
  path = `/projects/${project}/issues/1/timeline_events`;
});

const as = (user: MadeUser) => ashlar.as(user.token);

test('what people tell stands among what the program saw, in the order in which it happened', async () => {
  const body = { note: 'Called **@root** about #2', occurred_at: '2026-01-01T10:00:00+02:00' };
  const told = bodyOf(await as(developer)(`POST ${path}`, { body }), 201);
  expect(told).toMatchObject({
    note: 'Called **@root** about #2',
    action: null,
    editable: true,
    author: { username: developer.username },
    occurred_at: '2026-01-01T08:00:00.000Z',
  });
  expect(told.note_html).toMatch(/<strong>.*root.*<\/strong> about <a [^>]*issues\/2/);
  const events = bodyOf(await as(reporter)(`GET ${path}`), 200);
  expect(events.map((each: { note: string }) => each.note)).toEqual([body.note, 'created the incident']);
  expect(events[1]).toMatchObject({ action: 'created', editable: false, author: { username: 'root' } });
  const backwards = bodyOf(await as(reporter)(`GET ${path}`, { query: 'sort=desc' }), 200);
  expect(backwards.map((each: { id: number }) => each.id)).toEqual([events[1].id, told.id]);
});

test('what people told is changed and taken back', async () => {
  const { id } = bodyOf(await as(developer)(`POST ${path}`, { body: { note: 'Restarted' } }), 201);
  const changed = bodyOf(await ashlar.root(`PUT ${path}/${id}`, { body: { note: 'Restarted twice' } }), 200);
  expect(changed).toMatchObject({ note: 'Restarted twice', author: { username: developer.username } });
  expect((await as(developer)(`PUT ${path}/${id}`, { body: { note: ' ' } })).body).toEqual({
    message: { note: ["can't be blank"] },
  });
  expect((await as(developer)(`DELETE ${path}/${id}`)).status).toBe(204);
  expect((await as(developer)(`DELETE ${path}/${id}`)).status).toBe(404);
});

test.each([
  ['PUT', { note: 'It never happened' }],
  ['DELETE', undefined],
])('what the program saw stays: %s', async (method, body) => {
  const events = bodyOf(await ashlar.root(`GET ${path}`), 200);
  const { id } = events.find((each: { action: string }) => each.action === 'created');
  expect((await ashlar.root(`${method} ${path}/${id}`, body ? { body } : {})).status).toBe(403);
});

test('only developers tell, only of incidents, and nobody of what they do not see', async () => {
  const body = { note: 'Mine' };
  expect((await as(reporter)(`POST ${path}`, { body })).status).toBe(403);
  expect((await as(outsider)(`POST ${path}`, { body })).status).toBe(404);
  expect((await as(outsider)(`GET ${path}`)).status).toBe(404);
  expect((await ashlar.call(`POST ${path}`, { body })).status).toBe(401);
  expect((await as(developer)(`POST ${path.replace('/1/', '/2/')}`, { body })).status).toBe(404);
  expect((await as(developer)(`GET ${path.replace('/1/', '/2/')}`)).status).toBe(404);
  const [other] = bodyOf(await ashlar.root(`GET ${path}`), 200);
  const elsewhere = bodyOf(
    await ashlar.root(`POST /projects/${project}/issues`, {
      body: { title: 'Else', issue_type: 'incident' },
    }),
    201,
  );
  const foreign = `/projects/${project}/issues/${elsewhere.iid}/timeline_events/${other.id}`;
  expect((await as(developer)(`DELETE ${foreign}`)).status).toBe(404);
});

test('changes of the incident are told by themselves', async () => {
  const changes = { severity: 'HIGH', assignee_ids: [developer.id] };
  bodyOf(await ashlar.root(`PUT /projects/${project}/issues/1`, { body: changes }), 200);
  const events = bodyOf(await ashlar.root(`GET ${path}`), 200);
  expect(
    events.slice(-2).map(({ action, note }: { action: string; note: string }) => [action, note]),
  ).toEqual([
    ['assignees', `assigned to @${developer.username}`],
    ['severity', 'changed the severity to **High - S2**'],
  ]);
});
