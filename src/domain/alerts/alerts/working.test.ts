/** Work on alerts: lists, status, assignees, notes and incidents, by role. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Call, useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';

const app = useApp();
let project: MadeProject;
let developer: MadeUser;
let other: MadeUser;
let reporter: MadeUser;
let integration: number;
let me: Call;

const alerts = (id = project.id): string => `/projects/${id}/alert_management_alerts`;

beforeAll(async () => {
  project = await makeProject(app);
  [developer, other] = [await makeUser(app), await makeUser(app)];
  for (const user of [developer, other]) await addMember(app, `projects/${project.id}`, user, 30);
  ({ reporter } = await makeMembers(app, `projects/${project.id}`, 'reporter'));
  me = app.as(developer.token);
  const body = { name: 'Tool', type: 'http' };
  const path = `/projects/${project.id}/alert_management_integrations`;
  integration = bodyOf(await app.root(`POST ${path}`, { body }), 201).id;
});

/** The number of a new alert. */
async function fire(payload: Record<string, unknown>): Promise<number> {
  const path = `/projects/${project.id}/alert_management_integrations/${integration}/test`;
  return bodyOf(await me(`POST ${path}`, { body: { payload } }), 200)[0].iid;
}

const update = (iid: number, body: Record<string, unknown>, call = me) =>
  call(`PUT ${alerts()}/${iid}`, { body });
const notesOn = async (iid: number): Promise<string[]> =>
  bodyOf(await me(`GET ${alerts()}/${iid}/notes`, { query: 'sort=asc' }), 200).map(
    (note: { body: string }) => note.body,
  );

test('one alert with all that it says', async () => {
  const payload = {
    title: 'Disk full',
    description: 'On all nodes',
    severity: 'high',
    service: 'store',
    monitoring_tool: 'Watcher',
    hosts: ['a', 'b'],
    service_environment_name: 'production',
    runbook: 'https://example.com/run',
    fingerprint: 'disk',
    start_time: '2026-01-02T03:04:05Z',
    extra: { nested: { deep: [1, null] } },
  };
  const iid = await fire(payload);
  expect(bodyOf(await me(`GET ${alerts()}/${iid}`), 200)).toEqual({
    id: expect.any(Number),
    iid,
    project_id: project.id,
    title: 'Disk full',
    description: 'On all nodes',
    severity: 'high',
    status: 'triggered',
    service: 'store',
    monitoring_tool: 'Watcher',
    hosts: ['a', 'b'],
    environment_name: 'production',
    runbook: 'https://example.com/run',
    query: null,
    y_label: null,
    fingerprint: expect.stringMatching(/^[0-9a-f]{40}$/),
    event_count: 1,
    started_at: '2026-01-02T03:04:05.000Z',
    ended_at: null,
    issue_iid: null,
    assignees: [],
    web_url: `${app.url}/${project.path_with_namespace}/-/alert_management/${iid}/details`,
    created_at: expect.any(String),
    updated_at: expect.any(String),
    details: payload,
  });
});

describe('status', () => {
  test('changes are told under the alert; the end comes and goes with the resolution', async () => {
    const iid = await fire({ title: 'Slow' });
    const before = (await notesOn(iid)).length;
    expect((await update(iid, { status: 'acknowledged' })).body).toMatchObject({
      status: 'acknowledged',
      ended_at: null,
    });
    expect((await update(iid, { status: 'resolved' })).body.ended_at).toEqual(expect.any(String));
    expect((await update(iid, { status: 'resolved' })).body.status).toBe('resolved');
    expect((await update(iid, { status: 'ignored' })).body.ended_at).toBeNull();
    expect((await notesOn(iid)).slice(before)).toEqual([
      'changed the status to **Acknowledged**',
      'changed the status to **Resolved**',
      'changed the status to **Ignored**',
    ]);
  });

  test('the end can be told, with a resolution and after the start', async () => {
    const iid = await fire({ title: 'Past', start_time: '2026-01-02T00:00:00Z' });
    expect((await update(iid, { ended_at: '2026-01-03T00:00:00Z' })).status).toBe(400);
    expect((await update(iid, { status: 'resolved', ended_at: '2026-01-01T00:00:00Z' })).status).toBe(400);
    const told = await update(iid, { status: 'resolved', ended_at: '2026-01-03T00:00:00Z' });
    expect(told.body.ended_at).toBe('2026-01-03T00:00:00.000Z');
  });

  test('of one group no two are open', async () => {
    const payload = { title: 'Again', fingerprint: 'again' };
    const first = await fire(payload);
    await update(first, { status: 'resolved' });
    const second = await fire(payload);
    expect(second).not.toBe(first);
    const refused = await update(first, { status: 'triggered' });
    expect(refused.status).toBe(400);
    expect(refused.body.message).toEqual({ fingerprint: ['Cannot have multiple unresolved alerts'] });
    await update(second, { status: 'resolved' });
    const both = await Promise.all([first, second].map((iid) => update(iid, { status: 'triggered' })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
  });
});

test('people are assigned who read the alert, and hear of it', async () => {
  const iid = await fire({ title: 'Mine' });
  const given = await update(iid, { assignee_ids: [other.id, reporter.id, 999_999, developer.id] });
  expect(given.body.assignees.map((each: { id: number }) => each.id).sort()).toEqual(
    [developer.id, other.id].sort(),
  );
  const [todo] = bodyOf(
    await app.as(other.token)('GET /todos', { query: 'type=AlertManagement::Alert' }),
    200,
  );
  expect(todo).toMatchObject({
    action_name: 'assigned',
    target_type: 'AlertManagement::Alert',
    target: { iid, title: 'Mine' },
    body: 'Mine',
    project: { id: project.id },
  });
  expect(todo.target_url).toBe(todo.target.web_url);
  expect((await update(iid, { assignee_ids: [] })).body.assignees).toEqual([]);
  expect((await notesOn(iid)).at(-1)).toMatch(/^unassigned @/);
});

test('a reminder of one’s own, once, done with the resolution', async () => {
  const iid = await fire({ title: 'Later' });
  const mark = () => me(`POST ${alerts()}/${iid}/todo`);
  expect((await mark()).body).toMatchObject({ action_name: 'marked', target: { iid } });
  expect((await mark()).status).toBe(304);
  const mine = async () =>
    bodyOf(await me('GET /todos', { query: 'type=AlertManagement::Alert&action=marked' }), 200).filter(
      (todo: { target: { iid: number } }) => todo.target.iid === iid,
    );
  expect(await mine()).toHaveLength(1);
  await update(iid, { status: 'resolved' });
  expect(await mine()).toHaveLength(0);
});

describe('conversation', () => {
  test('notes and threads are on alerts as elsewhere', async () => {
    const iid = await fire({ title: 'Talk' });
    const path = `${alerts()}/${iid}`;
    const note = bodyOf(await me(`POST ${path}/notes`, { body: { body: `Hello @${other.username}` } }), 201);
    expect(note).toMatchObject({
      noteable_type: 'AlertManagement::Alert',
      noteable_iid: iid,
      project_id: project.id,
      internal: false,
      resolvable: false,
    });
    const called = bodyOf(await app.as(other.token)('GET /todos'), 200)[0];
    expect(called).toMatchObject({ action_name: 'mentioned', body: `Hello @${other.username}` });
    expect(called.target_url).toMatch(new RegExp(`/details#note_${note.id}$`));
    const thread = bodyOf(await me(`POST ${path}/discussions`, { body: { body: 'Why?' } }), 201);
    const response = await app.as(other.token)(`POST ${path}/discussions/${thread.id}/notes`, {
      body: { body: 'Heat' },
    });
    expect(response.body.type).toBe('DiscussionNote');
    const changed = await me(`PUT ${path}/notes/${note.id}`, { body: { body: 'Bye' } });
    expect(changed.body.body).toBe('Bye');
    expect((await me(`DELETE ${path}/notes/${note.id}`)).status).toBe(204);
    expect((await notesOn(iid)).slice(-2)).toEqual(['Why?', 'Heat']);
  });

  test('who may not read alerts reads and says nothing there, and finds nothing of it elsewhere', async () => {
    const iid = await fire({ title: 'Hidden' });
    const body = { body: `Psst @${reporter.username}` };
    const note = bodyOf(await me(`POST ${alerts()}/${iid}/notes`, { body }), 201);
    const stranger = app.as(reporter.token);
    for (const request of ['GET', 'POST'] as const)
      for (const what of ['notes', 'discussions'])
        expect(
          (await stranger(`${request} ${alerts()}/${iid}/${what}`, request === 'POST' ? { body } : {}))
            .status,
        ).toBe(403);
    expect(bodyOf(await stranger('GET /todos'), 200)).toEqual([]);
    const seen = async (call: Call) =>
      bodyOf(await call(`GET /projects/${project.id}/events`, { query: 'per_page=100' }), 200).some(
        (event: { target_id: number }) => event.target_id === note.id,
      );
    expect(await seen(me)).toBe(true);
    expect(await seen(stranger)).toBe(false);
  });

  test('a reminder is gone with the right to read', async () => {
    const iid = await fire({ title: 'Left' });
    const leaver = await makeUser(app);
    await addMember(app, `projects/${project.id}`, leaver, 30);
    await update(iid, { assignee_ids: [leaver.id] });
    const count = async () => bodyOf(await app.as(leaver.token)('GET /todos'), 200).length;
    expect(await count()).toBe(1);
    const lower = { access_level: 20 };
    bodyOf(await app.root(`PUT /projects/${project.id}/members/${leaver.id}`, { body: lower }), 200);
    expect(await count()).toBe(0);
  });
});

test('an incident is made of an alert once', async () => {
  const iid = await fire({ title: 'Serious', severity: 'critical' });
  const issue = bodyOf(await me(`POST ${alerts()}/${iid}/issue`), 201);
  expect(issue).toMatchObject({ issue_type: 'incident', title: 'Serious' });
  expect(bodyOf(await me(`GET ${alerts()}/${iid}`), 200).issue_iid).toBe(issue.iid);
  const [found, ...others] = bodyOf(await me(`GET ${alerts()}`, { query: `issue_iid=${issue.iid}` }), 200);
  expect([found.iid, others]).toEqual([iid, []]);
  expect((await me(`POST ${alerts()}/${iid}/issue`)).status).toBe(400);
});

test('who may what', async () => {
  const iid = await fire({ title: 'Rights' });
  const requests = [
    `GET ${alerts()}`,
    `GET ${alerts()}/status_counts`,
    `GET ${alerts()}/${iid}`,
    `PUT ${alerts()}/${iid}`,
    `POST ${alerts()}/${iid}/todo`,
    `POST ${alerts()}/${iid}/issue`,
  ];
  const requested = async (call: Call) =>
    Promise.all(
      requests.map(
        async (request) => (await call(request, request.startsWith('GET') ? {} : { body: {} })).status,
      ),
    );
  const stranger = await makeUser(app);
  expect(await requested(app.call)).toEqual(requests.map(() => 401));
  expect(await requested(app.as(stranger.token))).toEqual(requests.map(() => 404));
  expect(await requested(app.as(reporter.token))).toEqual(requests.map(() => 403));
  expect(await requested(me)).toEqual([200, 200, 200, 200, 201, 201]);
});

test('an alert of another project is not there', async () => {
  const iid = await fire({ title: 'Elsewhere' });
  const { id } = await makeProject(app);
  for (const request of [
    `GET ${alerts(id)}/${iid}`,
    `PUT ${alerts(id)}/${iid}`,
    `GET ${alerts(id)}/${iid}/notes`,
  ])
    expect((await app.root(request, request.startsWith('PUT') ? { body: {} } : {})).status).toBe(404);
});

test('who goes works on no alert any more, and their words stay', async () => {
  const iid = await fire({ title: 'Remains' });
  const leaver = await makeUser(app);
  await addMember(app, `projects/${project.id}`, leaver, 30);
  await update(iid, { assignee_ids: [leaver.id] });
  await app.as(leaver.token)(`POST ${alerts()}/${iid}/notes`, { body: { body: 'I was here' } });
  bodyOf(await app.root(`DELETE /users/${leaver.id}`), 204);
  await expect
    .poll(async () => bodyOf(await me(`GET ${alerts()}/${iid}`), 200).assignees, { timeout: 10_000 })
    .toEqual([]);
  expect(await notesOn(iid)).toContain('I was here');
});
