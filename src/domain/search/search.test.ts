/** Requests and responses of search: parameters, words, pages, limits. */
import { setTimeout } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { addMember, bodyOf, makeGroup, makeProject, makeUser } from '../../../test/support/factories.ts';

const app = useApp();
let group = 0;
let project = 0;

beforeAll(async () => {
  group = (await makeGroup(app)).id;
  project = (await makeProject(app, { namespace_id: group, name: 'Blue whale', path: 'blue_whale' })).id;
  await makeProject(app, { name: 'Red 100 fox', path: 'red-fox', description: 'a whale of a fox, 100% red' });
});

const search = (at: string, query: Record<string, string>) =>
  app.root(`GET ${at}`, { query: new URLSearchParams(query).toString() });

test('what is missing or unknown is refused', async () => {
  const cases: [at: string, query: Record<string, string>, error: string][] = [
    ['/search', { scope: 'projects' }, 'search is missing'],
    ['/search', { search: 'x' }, 'scope is missing'],
    ['/search', { search: 'x', scope: 'epics' }, 'scope does not have a valid value'],
    [
      `/groups/${group}/search`,
      { search: 'x', scope: 'snippet_titles' },
      'scope does not have a valid value',
    ],
    [`/projects/${project}/search`, { search: 'x', scope: 'projects' }, 'scope does not have a valid value'],
    [
      `/projects/${project}/search`,
      { search: 'x', scope: 'issues', state: 'odd' },
      'state does not have a valid value',
    ],
  ];
  for (const [at, query, error] of cases) {
    const { status, body } = await search(at, query);
    expect([at, status, body.error]).toEqual([at, 400, error]);
  }
  const empty = await search('/search', { scope: 'users', search: '  ' });
  expect([empty.status, empty.body.message]).toEqual([400, '400 Bad request - search is empty']);
});

test('what only an index over everything could tell is refused, but in a project', async () => {
  for (const at of ['/search', `/groups/${group}/search`, `/groups/${group}/-/search`])
    for (const scope of ['blobs', 'commits', 'wiki_blobs', 'notes']) {
      const { status, body } = await search(at, { scope, search: 'whale' });
      const text = `Scope supported only with advanced search${scope === 'blobs' ? ' or exact code search' : ''}`;
      expect([status, body]).toEqual([400, { message: text, error: text }]);
    }
  for (const scope of ['blobs', 'commits', 'wiki_blobs', 'notes', 'merge_requests', 'issues', 'milestones'])
    expect([scope, (await search(`/projects/${project}/search`, { scope, search: 'whale' })).text]).toEqual([
      scope,
      '[]',
    ]);
});

test('all words must be there, in one property, as the letters that they are', async () => {
  const names = async (text: string) =>
    bodyOf(await search('/search', { scope: 'projects', search: text }), 200)
      .map(({ name }: { name: string }) => name)
      .sort()
      .join();
  const cases: [text: string, names: string][] = [
    ['WHALE', 'Blue whale,Red 100 fox'],
    ['whale blue', 'Blue whale'],
    ['"whale blue"', ''],
    ['"whale of"', 'Red 100 fox'],
    ['blue fox', ''],
    ['"100 red"', ''],
    ['100', 'Red 100 fox'],
    ['100%', 'Red 100 fox'],
    ['1%%', ''],
    ['blue_whale', 'Blue whale'],
    ['blue%whale', ''],
    ['red_fox', ''],
    ['bl', ''],
    ['%', ''],
    ["'; drop table projects; --", ''],
  ];
  for (const [text, found] of cases) expect([text, await names(text)]).toEqual([text, found]);
});

test('a short text finds what is called just so', async () => {
  const { id } = await makeUser(app, { username: 'xq', name: 'Some Body', email: 'xq@example.com' });
  const users = async (text: string) =>
    bodyOf(await search('/search', { scope: 'users', search: text }), 200).map(
      (user: { id: number }) => user.id,
    );
  expect(await users('XQ')).toEqual([id]);
  expect(await users('x')).toEqual([]);
  expect(await users('xq@example.com')).toEqual([id]);
});

test('issues by number, by state and by confidentiality', async () => {
  const { sql } = app.app.services.database;
  await sql`insert into issues (iid, project_id, author_id, title, state, confidential, relative_position, created_at, updated_at)
    select i, ${project}, 1, 'krill ' || i, case when i > 2 then 'closed' else 'opened' end, i = 2, i, now(), now()
    from generate_series(1, 4) i`;
  const iids = async (query: Record<string, string>) =>
    bodyOf(
      await search(`/projects/${project}/search`, { scope: 'issues', search: 'krill', ...query }),
      200,
    ).map(({ iid }: { iid: number }) => iid);
  expect(await iids({})).toEqual([4, 3, 2, 1]);
  expect(await iids({ search: '#3' })).toEqual([3]);
  expect(await iids({ state: 'opened' })).toEqual([2, 1]);
  expect(await iids({ state: 'closed' })).toEqual([4, 3]);
  expect(await iids({ state: 'all' })).toHaveLength(4);
  expect(await iids({ state: 'merged' })).toEqual([]);
  expect(await iids({ confidential: 'true' })).toEqual([2]);
  expect(await iids({ confidential: 'false' })).toEqual([4, 3, 1]);
  const page = await search('/search', { scope: 'issues', search: 'krill', per_page: '3' });
  expect(page.body).toHaveLength(3);
  expect([
    page.headers.get('x-total'),
    page.headers.get('x-total-pages'),
    page.headers.get('x-next-page'),
  ]).toEqual(['4', '2', '2']);
  expect(page.headers.get('link')).toContain('rel="next"');
});

test('merge requests by number and by state', async () => {
  const { sql } = app.app.services.database;
  await sql`insert into merge_requests (iid, project_id, source_project_id, source_branch, target_branch, author_id, title,
      state, draft, created_at, updated_at)
    select row_number() over (), ${project}, ${project}, state, 'main', 1, 'krill ' || state, state, false, now(), now()
    from unnest(array['opened', 'closed', 'merged']) state`;
  const iids = async (query: Record<string, string>) =>
    bodyOf(
      await search(`/projects/${project}/search`, { scope: 'merge_requests', search: 'krill', ...query }),
      200,
    ).map(({ iid }: { iid: number }) => iid);
  expect(await iids({})).toEqual([3, 2, 1]);
  expect(await iids({ search: '!3' })).toEqual([3]);
  expect(await iids({ search: '#3' })).toEqual([]);
  expect(await iids({ state: 'opened' })).toEqual([1]);
  expect(await iids({ state: 'closed' })).toEqual([2]);
  expect(await iids({ state: 'merged' })).toEqual([3]);
  expect(await iids({ state: 'all' })).toHaveLength(3);
  const [found] = bodyOf(await search('/search', { scope: 'merge_requests', search: 'krill merged' }), 200);
  expect(found).toMatchObject({
    state: 'merged',
    source_branch: 'merged',
    labels: [],
    reference: expect.stringMatching(/.+!3$/),
  });
});

test('a minute has so many searches, of a user and of an address', async () => {
  const user = await makeUser(app);
  const open = await makeProject(app, { visibility: 'public' });
  await addMember(app, `projects/${open.id}`, user, 10);
  const put = async (body: object) => bodyOf(await app.root('PUT /application/settings', { body }), 200);
  await put({ search_rate_limit: 2, search_rate_limit_unauthenticated: 1 });
  try {
    const ask = async (call = app.as(user.token)) =>
      (await call(`GET /projects/${open.id}/search`, { query: 'scope=issues&search=whale' })).status;
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429]);
    expect([await ask(app.call), await ask(app.call)]).toEqual([200, 429]);
    const other = await app.as(user.token)('GET /search', { query: 'scope=users&search=whale' });
    expect([other.status, other.body.message.error]).toEqual([
      429,
      'This endpoint has been requested too many times. Try again later.',
    ]);
  } finally {
    await put({ search_rate_limit: 300, search_rate_limit_unauthenticated: 100 });
  }
});

test('a search that the database cuts off says so', async () => {
  const { database } = app.app.services;
  const held = await database.sql.reserve();
  try {
    await held`begin`;
    await held`lock table milestones in access exclusive mode`;
    const pending = search(`/projects/${project}/search`, { scope: 'milestones', search: 'whale' });
    const cutOff = () => held`select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    // As the server does by itself when a statement takes too long.
    for (let tries = 0; tries < 400 && (await cutOff()).length === 0; tries++) await setTimeout(25);
    const { status, body } = await pending;
    expect([status, body]).toEqual([408, { message: 'Request timed out' }]);
  } finally {
    await held`rollback`;
    held.release();
  }
});
