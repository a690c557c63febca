/** Integrations over HTTP: creation, changes, tests and deletion, by role; and refusals. */
import { beforeAll, describe, expect, test } from 'vitest';
import { postAlert } from '../../../../test/support/alerts.ts';
import { type Call, useApp } from '../../../../test/support/app.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';

const app = useApp();
let project: MadeProject;
let maintainer: Call;
let developer: Call;
let reporter: MadeUser;

beforeAll(async () => {
  project = await makeProject(app);
  const members = await makeMembers(app, `projects/${project.id}`, 'maintainer', 'developer', 'reporter');
  maintainer = app.as(members.maintainer.token);
  developer = app.as(members.developer.token);
  reporter = members.reporter;
});

const integrations = (id = project.id): string => `/projects/${id}/alert_management_integrations`;
const make = async (body: Record<string, unknown>, call = maintainer, id = project.id) =>
  bodyOf(await call(`POST ${integrations(id)}`, { body: { name: 'Tool', type: 'http', ...body } }), 201);
const pathOf = (url: string): string => url.slice(app.url.length + 1);

test('an integration tells its address and key once, and takes alerts there', async () => {
  const made = await make({ name: 'My tool: Größe!' });
  expect(made).toEqual({
    id: expect.any(Number),
    type: 'http',
    name: 'My tool: Größe!',
    active: true,
    url: expect.stringMatching(
      new RegExp(
        `^${app.url}/${project.path_with_namespace}/alerts/notify/my-tool-gro-e/[0-9a-f]{16}\\.json$`,
      ),
    ),
    key: expect.stringMatching(/^[0-9a-f]{32}$/),
    payload_example: null,
    payload_attribute_mappings: [],
    payload_alert_fields: [],
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  const { key, ...rest } = made;
  const shown = bodyOf(await developer(`GET ${integrations()}/${made.id}`), 200);
  expect(shown).toEqual({ ...rest, key: null });
  const taken = await postAlert(app.url, pathOf(made.url), { title: 'Down' }, { key });
  expect(taken.status).toBe(200);
  expect(taken.body).toEqual([{ iid: expect.any(Number), title: 'Down' }]);
});

test('a list has no samples, and no keys', async () => {
  const { id } = await make({ payload_example: { a: 'b' } });
  const listed = bodyOf(await developer(`GET ${integrations()}`), 200);
  const found = listed.find((each: { id: number }) => each.id === id);
  expect(found).toMatchObject({ key: null, active: true });
  expect(found).not.toHaveProperty('payload_example');
});

test('another key ends the one before at once', async () => {
  const made = await make({});
  const reset = bodyOf(await maintainer(`POST ${integrations()}/${made.id}/reset_key`), 201);
  expect(reset.key).toMatch(/^[0-9a-f]{32}$/);
  expect(reset.key).not.toBe(made.key);
  expect(reset.url).toBe(made.url);
  const post = (key: string) => postAlert(app.url, pathOf(made.url), { title: 'Down' }, { key });
  expect((await post(made.key)).status).toBe(401);
  expect((await post(reset.key)).status).toBe(200);
});

test('one that is turned off takes nothing; removed it is gone, and its alerts stay', async () => {
  const made = await make({});
  const path = `${integrations()}/${made.id}`;
  const [alert] = bodyOf(await developer(`POST ${path}/test`, { body: { payload: { title: 'Kept' } } }), 200);
  bodyOf(await maintainer(`PUT ${path}`, { body: { active: false } }), 200);
  expect((await postAlert(app.url, pathOf(made.url), {}, { key: made.key })).status).toBe(403);
  expect((await developer(`POST ${path}/test`, { body: { payload: {} } })).status).toBe(403);
  expect((await maintainer(`DELETE ${path}`)).status).toBe(204);
  expect((await maintainer(`GET ${path}`)).status).toBe(404);
  const kept = await developer(`GET /projects/${project.id}/alert_management_alerts/${alert.iid}`);
  expect(kept.body.title).toBe('Kept');
});

test('one metrics integration is active: making or turning on one stops the other', async () => {
  const { id } = await makeProject(app);
  const [first, second] = [
    await make({ type: 'metrics' }, app.root, id),
    await make({ type: 'metrics' }, app.root, id),
  ];
  const http = await make({}, app.root, id);
  expect(second.url).toMatch(/\/metrics\/alerts\/notify\.json$/);
  const active = async () =>
    bodyOf(await app.root(`GET ${integrations(id)}`), 200)
      .filter((each: { active: boolean }) => each.active)
      .map((each: { id: number }) => each.id);
  expect(await active()).toEqual([second.id, http.id]);
  bodyOf(await app.root(`PUT ${integrations(id)}/${first.id}`, { body: { active: true } }), 200);
  expect(await active()).toEqual([first.id, http.id]);
});

test('made at once, one metrics integration is active in the end', async () => {
  const { id } = await makeProject(app);
  await Promise.all(Array.from({ length: 6 }, () => make({ type: 'metrics' }, app.root, id)));
  const listed = bodyOf(await app.root(`GET ${integrations(id)}`), 200);
  expect(listed).toHaveLength(6);
  expect(listed.filter((each: { active: boolean }) => each.active)).toHaveLength(1);
});

describe('custom mapping', () => {
  const payload_example = { event: { name: 'Disk', tags: ['a'] }, level: 3 };
  const title = { field_name: 'title', path: ['event', 'name'] };

  test('the mapped place gives the property', async () => {
    const made = await make({ payload_example, payload_attribute_mappings: [title] });
    expect(made.payload_attribute_mappings).toEqual([{ ...title, label: 'event.name', type: 'string' }]);
    expect(made.payload_alert_fields).toContainEqual({ path: ['level'], label: 'level', type: 'numeric' });
    const post = (payload: unknown) => postAlert(app.url, pathOf(made.url), payload, { key: made.key });
    expect((await post({ event: { name: 'Full' }, title: 'Plain' })).body[0].title).toBe('Full');
    expect((await post({ title: 'Plain' })).body[0].title).toBe('Plain');
  });

  test('a changed sample needs a new mapping', async () => {
    const made = await make({ payload_example, payload_attribute_mappings: [title] });
    const put = (body: unknown) => maintainer(`PUT ${integrations()}/${made.id}`, { body });
    const refused = await put({ payload_example: { event: { name: 'Other' } } });
    expect(refused.status).toBe(400);
    expect(refused.body.message).toEqual({
      payload_attribute_mappings: ['a changed payload_example needs a new mapping'],
    });
    expect((await put({ payload_example })).status).toBe(200);
    const other = { payload_example: { summary: 'x' } };
    const moved = { field_name: 'title', path: ['summary'] };
    const changed = await put({ ...other, payload_attribute_mappings: [moved] });
    expect(changed.body.payload_attribute_mappings).toMatchObject([moved]);
    const cleared = await put({ payload_example: null, payload_attribute_mappings: [] });
    expect(cleared.body).toMatchObject({ payload_example: null, payload_attribute_mappings: [] });
  });

  test.each([
    ['no sample', { payload_attribute_mappings: [title] }, 'payload_example'],
    [
      'a place that the sample lacks',
      { payload_example, payload_attribute_mappings: [{ field_name: 'title', path: ['nowhere'] }] },
      'payload_attribute_mappings',
    ],
    [
      'a property twice',
      { payload_example, payload_attribute_mappings: [title, title] },
      'payload_attribute_mappings',
    ],
    ['another type', { type: 'metrics', payload_example }, 'payload_example'],
    ['no name', { name: ' ' }, 'name'],
  ])('400 for %s', async (_what, body, property) => {
    const given = { name: 'Tool', type: 'http', ...body };
    const refused = await maintainer(`POST ${integrations()}`, { body: given });
    expect(refused.status).toBe(400);
    expect(Object.keys(refused.body.message)).toEqual([property]);
  });

  test('the places of a sample are told without an integration', async () => {
    const path = `/projects/${project.id}/alert_management_payload_fields`;
    const told = bodyOf(await maintainer(`POST ${path}`, { body: { payload_example: { a: 'b' } } }), 200);
    expect(told).toEqual([{ path: ['a'], label: 'a', type: 'string' }]);
    expect((await developer(`POST ${path}`, { body: { payload_example: {} } })).status).toBe(403);
  });
});

test('a test is JSON, no deeper and larger than what receivers take', async () => {
  const made = await make({});
  const request = `POST ${integrations()}/${made.id}/test`;
  const headers = { 'content-type': 'application/json' };
  expect((await developer(request, { form: '{"payload": {', headers })).status).toBe(400);
  expect((await developer(request, { body: { payload: 'text' } })).status).toBe(400);
  expect((await developer(request, { body: { payload: { a: 'x'.repeat(1_100_000) } } })).status).toBe(400);
  const done = await developer(request, { body: { payload: { title: 'Try' } } });
  expect(done.body).toEqual([{ iid: expect.any(Number), title: 'Try' }]);
});

test('the metrics integration is tested by a metrics payload', async () => {
  const { id } = await makeProject(app);
  const made = await make({ type: 'metrics' }, app.root, id);
  const refused = await app.root(`POST ${integrations(id)}/${made.id}/test`, { body: { payload: {} } });
  expect(refused.status).toBe(422);
});

test('who may what', async () => {
  const made = await make({});
  const own = `${integrations()}/${made.id}`;
  const body = { name: 'x', type: 'http', payload: {} };
  const requests = [
    `GET ${integrations()}`,
    `POST ${own}/test`,
    `PUT ${own}`,
    `POST ${own}/reset_key`,
    `POST ${integrations()}`,
  ];
  const requested = async (call: Call) => {
    const statuses: number[] = [];
    for (const request of requests)
      statuses.push((await call(request, request.startsWith('GET') ? {} : { body })).status);
    return statuses;
  };
  const stranger = await makeUser(app);
  expect(await requested(app.call)).toEqual([401, 401, 401, 401, 401]);
  expect(await requested(app.as(stranger.token))).toEqual([404, 404, 404, 404, 404]);
  expect(await requested(app.as(reporter.token))).toEqual([403, 403, 403, 403, 403]);
  expect(await requested(developer)).toEqual([200, 200, 403, 403, 403]);
  expect(await requested(maintainer)).toEqual([200, 200, 200, 201, 201]);
});

test('an integration of another project is not there', async () => {
  const { id } = await makeProject(app);
  const made = await make({});
  expect((await app.root(`GET ${integrations(id)}/${made.id}`)).status).toBe(404);
  expect((await app.root(`DELETE ${integrations(id)}/${made.id}`)).status).toBe(404);
  expect((await app.root(`POST ${integrations(id)}/${made.id}/reset_key`)).status).toBe(404);
});

test('every change is audited', async () => {
  const { id } = await makeProject(app);
  const made = await make({}, app.root, id);
  bodyOf(await app.root(`PUT ${integrations(id)}/${made.id}`, { body: { name: 'New' } }), 200);
  bodyOf(await app.root(`POST ${integrations(id)}/${made.id}/reset_key`), 201);
  await app.root(`DELETE ${integrations(id)}/${made.id}`);
  const events = bodyOf(await app.root(`GET /projects/${id}/audit_events`), 200);
  expect(events.slice(0, 4).map((each: { event_name: string }) => each.event_name)).toEqual([
    'alert_integration_deleted',
    'alert_integration_key_reset',
    'alert_integration_updated',
    'alert_integration_created',
  ]);
  expect(JSON.stringify(events)).not.toContain(made.key);
  const stopped = await make({ type: 'metrics', name: 'Stopped' }, app.root, id);
  await make({ type: 'metrics', name: 'Going' }, app.root, id);
  const later = bodyOf(await app.root(`GET /projects/${id}/audit_events`), 200).slice(0, 3);
  expect(
    later
      .filter((each: { details: { target_id: number } }) => each.details.target_id === stopped.id)
      .map((each: { event_name: string }) => each.event_name),
  ).toEqual(['alert_integration_updated', 'alert_integration_created']);
});

test('settings of incidents: those of the public product until others are chosen', async () => {
  const path = `/projects/${project.id}/incident_management_settings`;
  const defaults = {
    create_issue: false,
    issue_template_key: null,
    send_email: false,
    auto_close_incident: true,
  };
  expect(bodyOf(await maintainer(`GET ${path}`), 200)).toEqual(defaults);
  const put = (body: Record<string, unknown>) => maintainer(`PUT ${path}`, { body });
  expect((await put({ create_issue: true })).body).toEqual({ ...defaults, create_issue: true });
  const changed = { ...defaults, create_issue: true, issue_template_key: 'incident', send_email: true };
  expect((await put({ send_email: true, issue_template_key: 'incident' })).body).toEqual(changed);
  expect(bodyOf(await maintainer(`GET ${path}`), 200)).toEqual(changed);
  expect((await developer(`GET ${path}`)).status).toBe(403);
});
