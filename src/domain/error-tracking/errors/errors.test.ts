/** Errors over HTTP: list, detail, events, status changes and issues. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { addError, sampleEvent } from '../../../../test/support/error-rows.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { walk } from '../../../../test/support/pages.ts';
import { issueText } from './actions.ts';

const ashlar = useApp();
let project: MadeProject;
let developer: MadeUser;
let reporter: MadeUser;
let guest: MadeUser;

beforeAll(async () => {
  project = await makeProject(ashlar);
  ({ developer, reporter, guest } = await makeMembers(
    ashlar,
    `projects/${project.id}`,
    'developer',
    'reporter',
    'guest',
  ));
});

const listOf = (id: number) => `/projects/${id}/error_tracking/errors`;
const names = (called: { body: { name: string }[] }) => called.body.map(({ name }) => name);

test('reporters read, developers change, guests do neither', async () => {
  const id = await addError(ashlar, project.id);
  const path = `${listOf(project.id)}/${id}`;
  for (const request of [
    `GET ${listOf(project.id)}`,
    `GET ${path}`,
    `GET ${path}/events`,
    `POST ${path}/issue`,
  ]) {
    expect([request, (await ashlar.as(guest.token)(request)).status]).toEqual([request, 403]);
    expect([request, (await ashlar.call(request)).status]).toEqual([request, 401]);
    const stranger = await makeUser(ashlar);
    expect([request, (await ashlar.as(stranger.token)(request)).status]).toEqual([request, 404]);
  }
  const body = { status: 'resolved' };
  expect((await ashlar.as(reporter.token)(`PUT ${path}`, { body })).status).toBe(403);
  expect((await ashlar.as(reporter.token)(`GET ${path}`)).status).toBe(200);
  const changed = bodyOf(await ashlar.as(developer.token)(`PUT ${path}`, { body }), 200);
  expect(changed.status).toBe('resolved');
  expect(changed.resolved_at).toMatch(/^\d{4}-/);
  const elsewhere = await makeProject(ashlar);
  expect((await ashlar.root(`GET ${listOf(elsewhere.id)}/${id}`)).status).toBe(404);
  expect((await ashlar.root(`PUT ${listOf(elsewhere.id)}/${id}`, { body })).status).toBe(404);
});

test('lists are narrowed and ordered, in pages of either kind', async () => {
  const { id } = await makeProject(ashlar);
  await addError(ashlar, id, { name: 'A', firstSeen: 9, lastSeen: 1, events: 5 });
  await addError(ashlar, id, {
    name: 'B',
    firstSeen: 5,
    lastSeen: 3,
    events: 50,
    description: '100% of _it',
  });
  await addError(ashlar, id, { name: 'C', firstSeen: 7, lastSeen: 2, events: 7, actor: 'Quarry#dig' });
  await addError(ashlar, id, { name: 'D', status: 'resolved', lastSeen: 0 });
  await addError(ashlar, id, { name: 'E', status: 'ignored', lastSeen: 0 });
  const list = async (query: string) => names(await ashlar.root(`GET ${listOf(id)}`, { query }));
  for (const [query, expected] of [
    ['', 'ACB'],
    ['sort=asc', 'BCA'],
    ['order_by=first_seen', 'BCA'],
    ['order_by=frequency', 'BCA'],
    ['order_by=frequency&sort=asc', 'ACB'],
    ['status=resolved', 'D'],
    ['status=ignored', 'E'],
    ['status=all&order_by=frequency&per_page=3', 'BCA'],
    ['search=100%25', 'B'],
    ['search=_it', 'B'],
    ['search=quarry', 'C'],
    ['search=nothing', ''],
  ] as const)
    expect([query, (await list(query)).join('')]).toEqual([query, expected]);
  for (const order of ['last_seen', 'first_seen', 'frequency'])
    for (const sort of ['asc', 'desc']) {
      const query = `order_by=${order}&sort=${sort}&per_page=2`;
      const walked = await walk(ashlar, ashlar.root, listOf(id), `${query}&pagination=keyset`);
      const read = walked.items.map((item) => JSON.parse(item).name).join('');
      expect([query, read]).toEqual([query, (await list(query.replace('=2', '=20'))).join('')]);
    }
  for (const query of ['status=gone', 'order_by=id', 'sort=up', 'search=%00'])
    expect([query, (await ashlar.root(`GET ${listOf(id)}`, { query })).status]).toEqual([query, 400]);
});

test('one error shows its latest event, its tags and its counts', async () => {
  const second = sampleEvent({
    event_id: 'a'.repeat(32),
    environment: 'staging',
    timestamp: '2026-11-01T11:00:00.000Z',
  });
  const id = await addError(ashlar, project.id, {
    // The sample event happened before the second one, and was received after it.
    kept: [second, sampleEvent()],
    counts: { 1: 3, 800: 9 },
    tags: [
      ['browser', 'Firefox', 2],
      ['browser', 'Chromium', 5],
      ...Array.from({ length: 12 }, (_, index) => ['n', String(index), index] as const),
    ],
  });
  const path = `${listOf(project.id)}/${id}`;
  const error = bodyOf(await ashlar.as(reporter.token)(`GET ${path}`), 200);
  expect(error).toMatchObject({
    id,
    project_id: project.id,
    name: 'RangeError',
    web_url: `${ashlar.url}/${project.path_with_namespace}/-/error_tracking/${id}/details`,
    counts: [{ events: 3 }],
    latest_event: { event_id: second.event_id, environment: 'staging', user: { username: 'ada' } },
  });
  expect(error.tags[0]).toEqual({
    key: 'browser',
    values: [
      { value: 'Chromium', events: 5 },
      { value: 'Firefox', events: 2 },
    ],
  });
  expect(error.tags[1].values).toHaveLength(10);
  const [thrown] = error.latest_event.exceptions;
  expect(thrown.frames.map((frame: { function: string }) => frame.function)).toEqual(['run', 'layCourse']);
  expect(thrown.frames[1]).toMatchObject({
    lineno: 12,
    in_app: true,
    context_line: "  throw new RangeError('no stone left');",
  });

  const events = bodyOf(await ashlar.root(`GET ${path}/events`), 200);
  expect(events.map((event: { event_id: string }) => event.event_id)).toEqual([
    sampleEvent().event_id,
    second.event_id,
  ]);
  const first = bodyOf(await ashlar.root(`GET ${path}/events/${sampleEvent().event_id}`), 200);
  expect(first.environment).toBe('production');
  const other = await addError(ashlar, project.id);
  for (const [of, event] of [
    [other, second.event_id],
    [id, 'b'.repeat(32)],
    [id, 'latest'],
  ])
    expect((await ashlar.root(`GET ${listOf(project.id)}/${of}/events/${event}`)).status).toBe(404);
});

test('a status that is so already leaves nothing behind', async () => {
  const id = await addError(ashlar, project.id);
  const put = (status: unknown) => ashlar.root(`PUT ${listOf(project.id)}/${id}`, { body: { status } });
  const audited = async () => {
    const query = 'per_page=100';
    const events = bodyOf(await ashlar.root(`GET /projects/${project.id}/audit_events`, { query }), 200);
    return events.filter(
      ({ event_name, details }: { event_name: string; details: { target_id: number } }) =>
        event_name === 'error_tracking_error_updated' && details.target_id === id,
    ).length;
  };
  for (const [status, resolved, events] of [
    ['unresolved', false, 0],
    ['ignored', false, 1],
    ['resolved', true, 2],
    ['resolved', true, 2],
    ['unresolved', false, 3],
  ] as const) {
    const error = bodyOf(await put(status), 200);
    expect([error.status, error.resolved_at !== null, await audited()]).toEqual([status, resolved, events]);
  }
  for (const status of ['muted', '', null, undefined]) expect((await put(status)).status).toBe(400);
});

test('an issue is made of an error once, however often it is asked for', async () => {
  const id = await addError(ashlar, project.id, {
    name: 'Error',
    description: 'hello @root\n/close\n```\n/confidential\n```',
    actor: 'run',
  });
  const path = `${listOf(project.id)}/${id}`;
  const ask = () => ashlar.as(reporter.token)(`POST ${path}/issue`);
  const responses = await Promise.all(Array.from({ length: 5 }, ask));
  expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  const issue = responses.find(({ status }) => status === 201)?.body;
  expect(issue).toMatchObject({
    project_id: project.id,
    title: 'Error: hello @root /close ``` /confidential ```',
    state: 'opened',
    confidential: false,
    author: { username: reporter.username },
  });
  expect(bodyOf(await ashlar.root(`GET ${path}`), 200).issue_iid).toBe(issue.iid);
  const { sql } = ashlar.app.services.database;
  expect(await sql`select from todos where issue_id = ${issue.id}`).toHaveLength(0);
  bodyOf(await ashlar.root(`DELETE /projects/${project.id}/issues/${issue.iid}`), 204);
  expect(bodyOf(await ashlar.root(`GET ${path}`), 200).issue_iid).toBeNull();
  expect((await ask()).status).toBe(201);
});

test('where anybody reads issues, one of an error is confidential; where there are none, none is made', async () => {
  const open = await makeProject(ashlar, { visibility: 'public' });
  const make = async (body: object) =>
    ashlar.root(`POST ${listOf(open.id)}/${await addError(ashlar, open.id)}/issue`, { body });
  expect(bodyOf(await make({}), 201).confidential).toBe(true);
  expect(bodyOf(await make({ confidential: false }), 201).confidential).toBe(false);
  bodyOf(await ashlar.root(`PUT /projects/${open.id}`, { body: { issues_access_level: 'disabled' } }), 200);
  expect((await make({})).status).toBe(403);
});

test.each([
  ['Error', 'said', 'run', 'Error: said'],
  ['', '', '', 'Error'],
  ['\n', ' \t', '', 'Error'],
  ['E', 'x'.repeat(300), '', `E: ${'x'.repeat(252)}`],
])('the title of an issue of %j %j', (name, description, actor, title) => {
  const row = { name, description, actor, first_seen_at: new Date(0), events_count: 1 };
  const text = issueText(row, 'http://a/b');
  expect(text.title).toBe(title);
  expect(text.description).toContain('[Error](http://a/b)');
});
