/** Feeds: their kinds, filters, retention and deletion. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Call, type Called, useApp } from '../../../test/support/app.ts';
import { withSettings } from '../../../test/support/browser.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeGroup,
  makeProject,
  makeUser,
} from '../../../test/support/factories.ts';
import { makeIssue } from '../../../test/support/planning.ts';
import { sweepEvents } from './retention-actions.ts';

const ashlar = useApp();

type Event = Called['body'];

const list = async (call: Call, path: string, query = ''): Promise<Event[]> =>
  bodyOf(await call(`GET ${path}`, { query: `per_page=100&${query}` }), 200);
const titles = (events: readonly Event[]): string[] =>
  events.map(({ target_title, action_name }) => target_title ?? action_name);

const runTask = async (name: string): Promise<void> => {
  const task = ashlar.app.capabilities.flatMap(({ tasks }) => tasks?.[name] ?? [])[0];
  if (!task) throw new Error(`no task is named ${name}`);
  await task({});
};

/** Inserts events of some days ago by SQL, because the API writes only present ones. */
async function insertEvents(
  project: { id: number },
  author: { id: number },
  count: number,
  createdAt: Date,
): Promise<void> {
  const { sql } = ashlar.app.services.database;
  await sql`
    insert into activity_events (project_id, author_id, action, created_at)
    select ${project.id}::bigint, ${author.id}::bigint, 'joined', ${createdAt}::timestamptz
    from generate_series(1, ${count}::integer)`;
}

describe('people', () => {
  let ada: MadeUser;
  let ben: MadeUser;
  let open: { id: number };
  let shut: { id: number };
  beforeAll(async () => {
    [ada, ben] = [await makeUser(ashlar), await makeUser(ashlar)];
    const group = await makeGroup(ashlar, { visibility: 'public' });
    await addMember(ashlar, `groups/${group.id}`, ada, 30);
    open = await makeProject(ashlar, { namespace_id: group.id, visibility: 'public' });
    shut = await makeProject(ashlar, { namespace_id: group.id });
    await makeIssue(ashlar, open, { title: 'open by ada' }, ada);
    await makeIssue(ashlar, open, { title: 'open by ben' }, ben);
    await makeIssue(ashlar, shut, { title: 'shut by ada' }, ada);
    await makeIssue(ashlar, shut, { title: 'shut by root' });
    bodyOf(await ashlar.as(ada.token)(`POST /groups/${group.id}/epics`, { body: { title: 'Epic' } }), 201);
    bodyOf(
      await ashlar.as(ada.token)(`POST /groups/${group.id}/epics/1/notes`, { body: { body: 'On it' } }),
      201,
    );
  });

  test('everybody reads their own, of all projects, without epics', async () => {
    expect(titles(await list(ashlar.as(ada.token), '/events'))).toEqual(['shut by ada', 'open by ada']);
    expect(titles(await list(ashlar.as(ben.token), '/events'))).toEqual(['open by ben']);
    expect(await list(ashlar.as(ada.token), '/events', 'target_type=epic')).toEqual([]);
    expect((await ashlar.call('GET /events')).status).toBe(401);
  });

  test('scope=all: of everybody, in the projects that one is in', async () => {
    expect(titles(await list(ashlar.as(ada.token), '/events', 'scope=all'))).toEqual([
      'shut by root',
      'shut by ada',
      'open by ben',
      'open by ada',
      'created',
      'created',
    ]);
    expect(await list(ashlar.as(ben.token), '/events', 'scope=all')).toEqual([]);
    expect(titles(await list(ashlar.as(ben.token), '/events', 'scope=mine'))).toEqual(['open by ben']);
  });

  test('of others what is visible, by id or name; and counted so', async () => {
    for (const path of [`/users/${ada.id}/events`, `/users/${ada.username.toUpperCase()}/events`]) {
      const own = ['shut by ada', 'open by ada'];
      expect(titles(await list(ashlar.root, path))).toEqual(own);
      expect(titles(await list(ashlar.as(ada.token), path))).toEqual(own);
      expect(titles(await list(ashlar.as(ben.token), path))).toEqual(['open by ada']);
      const { headers, body } = await ashlar.call(`GET ${path}`);
      expect([titles(body), headers.get('x-total')]).toEqual([['open by ada'], '1']);
    }
  });

  test('who left sees nothing of the project any more, also of what they did', async () => {
    const eve = await makeUser(ashlar);
    await addMember(ashlar, `projects/${shut.id}`, eve, 30);
    await makeIssue(ashlar, shut, { title: 'by eve' }, eve);
    expect(titles(await list(ashlar.as(eve.token), '/events'))).toEqual(['by eve', 'joined']);
    expect((await ashlar.root(`DELETE /projects/${shut.id}/members/${eve.id}`)).status).toBe(204);
    expect(await list(ashlar.as(eve.token), '/events')).toEqual([]);
  });

  test('nobody is there: 404', async () => {
    for (const who of ['0', '999999', 'nobody-of-this-name']) {
      const { status, body } = await ashlar.call(`GET /users/${who}/events`);
      expect([who, status, body]).toEqual([who, 404, { message: '404 User Not Found' }]);
    }
  });

  test('a private profile shows nothing to others', async () => {
    const eve = await makeUser(ashlar, { private_profile: true });
    await makeIssue(ashlar, open, { title: 'by eve' }, eve);
    const path = `/users/${eve.id}/events`;
    for (const call of [ashlar.call, ashlar.as(ben.token)]) {
      const { status, body, headers } = await call(`GET ${path}`);
      expect([status, body, headers.get('x-total')]).toEqual([200, [], '0']);
    }
    for (const call of [ashlar.as(eve.token), ashlar.root])
      expect(titles(await list(call, path))).toEqual(['by eve']);
    // A project's feed has the events of private users too.
    expect(titles(await list(ashlar.call, `/projects/${open.id}/events`))).toContain('by eve');
  });

  test('where public is restricted, people are not there for those who are not signed in', () =>
    withSettings(ashlar, { restricted_visibility_levels: ['public'] }, async () => {
      const path = `/users/${ada.id}/events`;
      const { status, body } = await ashlar.call(`GET ${path}`);
      expect([status, body]).toEqual([404, { message: '404 User Not Found' }]);
      expect(titles(await list(ashlar.as(ben.token), path))).toEqual(['open by ada']);
    }));

  test.each([
    [['read_user'], 200, 403],
    [['api'], 200, 200],
    [['read_api'], 200, 200],
    [['read_repository'], 403, 403],
  ])('a token with %o', async (scopes, people, project) => {
    const made = await ashlar.root(`POST /users/${ada.id}/personal_access_tokens`, {
      body: { name: 'x', scopes },
    });
    const call = ashlar.as(bodyOf(made, 201).token);
    const statuses = await Promise.all(
      ['/events', `/users/${ada.id}/events`, `/projects/${open.id}/events`].map(
        async (path) => (await call(`GET ${path}`)).status,
      ),
    );
    expect(statuses).toEqual([people, people, project]);
  });
});

describe('filters', () => {
  let project: { id: number };
  const days = ['2020-02-28', '2020-02-29', '2020-03-01'] as const;
  beforeAll(async () => {
    project = await makeProject(ashlar);
    const { iid } = await makeIssue(ashlar, project, { title: 'Arch' });
    const path = `/projects/${project.id}/issues/${iid}`;
    bodyOf(await ashlar.root(`POST ${path}/notes`, { body: { body: 'Well' } }), 201);
    bodyOf(await ashlar.root(`POST ${path}/discussions`, { body: { body: 'Well' } }), 201);
    bodyOf(await ashlar.root(`PUT ${path}`, { body: { state_event: 'close' } }), 200);
    for (const day of days)
      for (const time of ['00:00:00.000', '23:59:59.999'])
        await insertEvents(project, { id: 1 }, 1, new Date(`${day}T${time}Z`));
  });

  const old = ['joined', 'joined', 'joined', 'joined', 'joined', 'joined'];
  const notes = ['commented on', 'commented on'];
  test.each([
    ['', ['closed', ...notes, 'opened', 'created', ...old]],
    ['sort=desc', ['closed', ...notes, 'opened', 'created', ...old]],
    ['sort=asc', [...old, 'created', 'opened', ...notes, 'closed']],
    ['action=closed', ['closed']],
    ['action=created', ['opened', 'created']],
    ['action=commented', notes],
    ['action=joined', old],
    ['action=merged', []],
    ['action=approved', []],
    ['action=expired', []],
    ['target_type=issue', ['closed', 'opened']],
    ['target_type=note', notes],
    ['target_type=milestone', []],
    ['target_type=merge_request', []],
    ['target_type=project', []],
    ['target_type=snippet', []],
    ['target_type=user', []],
    ['target_type=wiki', []],
    ['target_type=design', []],
    ['target_type=epic', []],
    ['target_type=issue&action=closed', ['closed']],
    ['target_type=note&action=closed', []],
    ['before=2020-02-28', []],
    ['before=2020-02-29', ['joined', 'joined']],
    ['before=2020-03-02', old],
    ['after=2020-02-28&action=joined', old.slice(0, 4)],
    ['after=2020-02-29&action=joined', old.slice(0, 2)],
    ['after=2020-03-01&action=joined', []],
    ['after=2020-02-28&before=2020-03-01', old.slice(0, 2)],
    ['after=2020-02-28T23:00:00Z&before=2020-03-01', old.slice(0, 2)],
    ['after=2020-02-29&before=2020-02-29', []],
    ['after=0001-01-01&before=9999-12-31', ['closed', ...notes, 'opened', 'created', ...old]],
    ['after=9999-12-31', []],
    ['before=0001-01-01', []],
  ])('%s', async (query, names) => {
    const found = await list(ashlar.root, `/projects/${project.id}/events`, query);
    expect(found.map(({ action_name }) => action_name)).toEqual(names);
  });

  test.each([
    ['action=danced', { action: ['does not have a valid value'] }],
    ['action=Closed', { action: ['does not have a valid value'] }],
    ['target_type=DiscussionNote', { target_type: ['does not have a valid value'] }],
    ['target_type=Issue', { target_type: ['does not have a valid value'] }],
    ['sort=up', { sort: ['does not have a valid value'] }],
    ['before=yesterday', { before: ['is invalid'] }],
    ['after=2020-02-30', { after: ['is invalid'] }],
    ['after=0000-01-01', { after: ['is invalid'] }],
  ])('%s is refused by each list', async (query, message) => {
    for (const path of ['/events', '/users/1/events', `/projects/${project.id}/events`]) {
      const { status, body } = await ashlar.root(`GET ${path}`, { query });
      expect([path, status, body.message]).toEqual([path, 400, message]);
    }
  });
});

describe('how long they stay', () => {
  const DAY = 86_400_000;
  const countOf = async (project: { id: number }): Promise<number> => {
    const { sql } = ashlar.app.services.database;
    const [row] = await sql<{ count: number }[]>`
      select count(*) as count from activity_events where project_id = ${project.id}`;
    return row?.count ?? 0;
  };

  test('three years, unless the setting says otherwise; 0 is for ever', async () => {
    const project = await makeProject(ashlar);
    await insertEvents(project, { id: 1 }, 3, new Date(Date.now() - 1_094 * DAY));
    await insertEvents(project, { id: 1 }, 5, new Date(Date.now() - 1_096 * DAY));
    const set = (activity_retention_days: number) =>
      ashlar.root('PUT /application/settings', { body: { activity_retention_days } });
    bodyOf(await set(0), 200);
    await runTask('activity.sweep_events');
    expect(await countOf(project)).toBe(9);
    bodyOf(await set(1_095), 200);
    await runTask('activity.sweep_events');
    expect(await countOf(project)).toBe(4);
    bodyOf(await set(30), 200);
    await runTask('activity.sweep_events');
    expect(await countOf(project)).toBe(1);
    bodyOf(await set(1_095), 200);
    expect((await set(-1)).status).toBe(400);
  });

  test('many go, batch by batch', async () => {
    const project = await makeProject(ashlar);
    const { background } = ashlar.app.services.database;
    // Old events have newer ids here, which no clock produces; the sweep must end anyway.
    await insertEvents(project, { id: 1 }, 4_500, new Date(Date.now() - 2_000 * DAY));
    const { sql } = ashlar.app.services.database;
    await sql`delete from activity_events where project_id <> ${project.id} or action <> 'joined'`;
    await insertEvents(project, { id: 1 }, 10, new Date());
    expect(await sweepEvents(background, 1_095)).toBe(4_500);
    expect(await countOf(project)).toBe(10);
    expect(await sweepEvents(background, 1_095)).toBe(0);
  });

  test('as long as their project; those of a person who goes are the ghost’s', async () => {
    const project = await makeProject(ashlar);
    const other = await makeProject(ashlar);
    const ada = await makeUser(ashlar);
    for (const each of [project, other]) {
      await addMember(ashlar, `projects/${each.id}`, ada, 30);
      await makeIssue(ashlar, each, { title: 'by ada' }, ada);
    }
    const erasers = ashlar.app.capabilities.flatMap(({ erase }) => erase ?? []);
    const { db } = ashlar.app.services.database;
    await db.transaction().execute(async (tx) => {
      for (const erase of erasers) await erase(tx, { projectIds: [project.id], namespaceIds: [] });
    });
    expect([await countOf(project), await countOf(other)]).toEqual([0, 3]);
    await ashlar.root(`DELETE /users/${ada.id}`);
    await runTask('users.resume_deletions');
    const authors = async () =>
      (await list(ashlar.root, `/projects/${other.id}/events`)).map(({ author_username }) => author_username);
    await expect.poll(authors, { timeout: 30_000 }).toEqual(['ghost', 'ghost', 'root']);
  });
});

test('no totals above the limit of what is counted', async () => {
  const project = await makeProject(ashlar);
  await insertEvents(project, { id: 1 }, 10_000, new Date());
  const { headers } = await ashlar.root(`GET /projects/${project.id}/events`);
  expect([headers.get('x-total'), headers.get('x-next-page')]).toEqual([null, '2']);
  const some = await ashlar.root(`GET /projects/${project.id}/events`, { query: 'action=created' });
  expect(some.headers.get('x-total')).toBe('1');
});
