/** To-do items over HTTP: marked, listed and filtered, done; and hidden from users who no longer see their targets. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeGroup,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';

const ashlar = useApp();
let group: { id: number; full_path: string };
let project: { id: number; path_with_namespace: string };
let member: MadeUser;

beforeAll(async () => {
  group = await makeGroup(ashlar);
  project = await makeProject(ashlar, { namespace_id: group.id });
  member = await makeUser(ashlar);
  await addMember(ashlar, `groups/${group.id}`, member, 15);
});

const makeIssue = async (attributes: Record<string, unknown> = {}, at = project) =>
  bodyOf(
    await ashlar.root(`POST /projects/${at.id}/issues`, { body: { title: 'Something', ...attributes } }),
    201,
  );
const makeEpic = async (attributes: Record<string, unknown> = {}) =>
  bodyOf(
    await ashlar.root(`POST /groups/${group.id}/epics`, { body: { title: 'Something big', ...attributes } }),
    201,
  );
const todosOf = async (user: MadeUser, query = '') =>
  bodyOf(await ashlar.as(user.token)('GET /todos', { query }), 200);
const countsOf = async (user: MadeUser) => bodyOf(await ashlar.as(user.token)('GET /user_counts'), 200);

test('an issue is marked once, shown as it is, and done', async () => {
  const user = await makeUser(ashlar);
  await addMember(ashlar, `projects/${project.id}`, user, 10);
  const as = ashlar.as(user.token);
  const issue = await makeIssue({ title: 'Marked' });
  const path = `/projects/${project.id}/issues/${issue.iid}/todo`;
  const todo = bodyOf(await as(`POST ${path}`), 201);
  expect(todo).toEqual({
    id: todo.id,
    project: expect.objectContaining({ id: project.id, path_with_namespace: project.path_with_namespace }),
    author: expect.objectContaining({ id: user.id }),
    action_name: 'marked',
    target_type: 'Issue',
    target: expect.objectContaining({ id: issue.id, iid: issue.iid, title: 'Marked' }),
    target_url: issue.web_url,
    body: 'Marked',
    state: 'pending',
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  expect((await as(`POST ${path}`)).status).toBe(304);
  expect(await todosOf(user)).toEqual([todo]);
  expect((await ashlar.as(member.token)(`POST /todos/${todo.id}/mark_as_done`)).status).toBe(404);
  expect(bodyOf(await as(`POST /todos/${todo.id}/mark_as_done`), 201)).toMatchObject({ state: 'done' });
  expect(await todosOf(user)).toEqual([]);
  expect(await todosOf(user, 'state=done')).toMatchObject([{ id: todo.id }]);
  bodyOf(await as(`POST ${path}`), 201);
});

test('sent many times at once it is one item', async () => {
  const user = await makeUser(ashlar);
  await addMember(ashlar, `projects/${project.id}`, user, 10);
  const issue = await makeIssue();
  const request = `POST /projects/${project.id}/issues/${issue.iid}/todo`;
  const responses = await Promise.all(Array.from({ length: 8 }, () => ashlar.as(user.token)(request)));
  expect(responses.map(({ status }) => status).sort()).toEqual([201, 304, 304, 304, 304, 304, 304, 304]);
  expect(await todosOf(user)).toHaveLength(1);
});

test('an epic is marked too', async () => {
  const epic = await makeEpic();
  const as = ashlar.as(member.token);
  const todo = bodyOf(await as(`POST /groups/${group.id}/epics/${epic.iid}/todo`), 201);
  expect(todo).toMatchObject({ target_type: 'Epic', target: { id: epic.id }, group: { id: group.id } });
  expect(todo).not.toHaveProperty('project');
  expect((await as(`POST /groups/${group.id}/epics/${epic.iid}/todo`)).status).toBe(304);
});

test('they are listed newest first, a page at a time, by every filter', async () => {
  const user = await makeUser(ashlar);
  await addMember(ashlar, `groups/${group.id}`, user, 15);
  const other = await makeProject(ashlar, { visibility: 'public' });
  const as = ashlar.as(user.token);
  const issue = await makeIssue();
  const elsewhere = await makeIssue({}, other);
  const epic = await makeEpic();
  const assigned = await makeIssue({ assignee_ids: [user.id] });
  for (const path of [
    `/projects/${project.id}/issues/${issue.iid}`,
    `/projects/${other.id}/issues/${elsewhere.iid}`,
    `/groups/${group.id}/epics/${epic.iid}`,
  ])
    bodyOf(await as(`POST ${path}/todo`), 201);
  const targets = async (query: string) =>
    (await todosOf(user, query)).map((todo: { target: { id: number }; target_type: string }) => [
      todo.target_type,
      todo.target.id,
    ]);
  const [first, second, third, fourth] = [
    ['Epic', epic.id],
    ['Issue', elsewhere.id],
    ['Issue', issue.id],
    ['Issue', assigned.id],
  ];
  expect(await targets('')).toEqual([first, second, third, fourth]);
  expect(await targets('per_page=2&page=2')).toEqual([third, fourth]);
  expect(await targets('type=Epic')).toEqual([first]);
  expect(await targets('type=MergeRequest')).toEqual([]);
  expect(await targets('action=assigned')).toEqual([fourth]);
  expect(await targets(`project_id=${other.id}`)).toEqual([second]);
  expect(await targets(`group_id=${group.id}`)).toEqual([first, third, fourth]);
  expect(await targets('author_id=1')).toEqual([fourth]);
  expect((await as('GET /todos', { query: 'state=other' })).status).toBe(400);
  const hidden = await makeProject(ashlar);
  for (const query of [`project_id=${hidden.id}`, 'project_id=999999', 'group_id=999999'])
    expect((await as('GET /todos', { query })).status, query).toBe(404);
  const page = await as('GET /todos', { query: 'per_page=3' });
  expect(page.headers.get('x-total')).toBe('4');
  expect(await countsOf(user)).toEqual({
    merge_requests: 0,
    assigned_issues: 1,
    assigned_merge_requests: 0,
    review_requested_merge_requests: 0,
    todos: 4,
  });
  expect((await as('POST /todos/mark_as_done')).status).toBe(201);
  expect(await todosOf(user)).toEqual([]);
  expect(await countsOf(user)).toMatchObject({ todos: 0, assigned_issues: 1 });
});

describe('what somebody sees no longer is neither shown nor counted', () => {
  test('after they left the project', async () => {
    const user = await makeUser(ashlar);
    await addMember(ashlar, `projects/${project.id}`, user, 20);
    const issue = await makeIssue({ assignee_ids: [user.id] });
    const [todo] = await todosOf(user);
    expect(todo).toMatchObject({ target: { id: issue.id } });
    expect(await countsOf(user)).toMatchObject({ todos: 1, assigned_issues: 1 });
    expect((await ashlar.root(`DELETE /projects/${project.id}/members/${user.id}`)).status).toBe(204);
    expect(await todosOf(user)).toEqual([]);
    expect(await countsOf(user)).toMatchObject({ todos: 0, assigned_issues: 0 });
    expect((await ashlar.as(user.token)(`POST /todos/${todo.id}/mark_as_done`)).status).toBe(404);
  });

  test('when the issue became confidential', async () => {
    const user = await makeUser(ashlar);
    await addMember(ashlar, `projects/${project.id}`, user, 10);
    const issue = await makeIssue({ title: 'A plan' });
    const path = `/projects/${project.id}/issues/${issue.iid}`;
    bodyOf(await ashlar.as(user.token)(`POST ${path}/todo`), 201);
    bodyOf(await ashlar.root(`PUT ${path}`, { body: { confidential: true } }), 200);
    expect(await todosOf(user)).toEqual([]);
    expect(await countsOf(user)).toMatchObject({ todos: 0 });
    const planner = await makeUser(ashlar);
    await addMember(ashlar, `projects/${project.id}`, planner, 15);
    bodyOf(await ashlar.as(planner.token)(`POST ${path}/todo`), 201);
    expect(await todosOf(planner)).toHaveLength(1);
  });

  test('when the epic became confidential', async () => {
    const user = await makeUser(ashlar);
    await addMember(ashlar, `groups/${group.id}`, user, 10);
    const epic = await makeEpic();
    const path = `/groups/${group.id}/epics/${epic.iid}`;
    bodyOf(await ashlar.as(user.token)(`POST ${path}/todo`), 201);
    bodyOf(await ashlar.root(`PUT ${path}`, { body: { confidential: true } }), 200);
    expect(await todosOf(user)).toEqual([]);
  });

  test('when it is of an internal note, whose readers are others now', async () => {
    const user = await makeUser(ashlar);
    await addMember(ashlar, `projects/${project.id}`, user, 15);
    const issue = await makeIssue();
    const { sql } = ashlar.app.services.database;
    const [note] = await sql<{ id: number }[]>`
      insert into notes (project_id, issue_id, author_id, body, discussion_id, internal, created_at, updated_at)
      values (${project.id}, ${issue.id}, 1, 'between us', 'd', true, now(), now()) returning id`;
    await sql`
      insert into todos (user_id, author_id, project_id, issue_id, note_id, action, created_at, updated_at)
      values (${user.id}, 1, ${project.id}, ${issue.id}, ${note?.id ?? 0}, 'mentioned', now(), now())`;
    const [todo] = await todosOf(user);
    expect(todo).toMatchObject({ body: 'between us', target_url: `${issue.web_url}#note_${note?.id}` });
    const body = { access_level: 10 };
    bodyOf(await ashlar.root(`PUT /projects/${project.id}/members/${user.id}`, { body }), 200);
    expect(await todosOf(user)).toEqual([]);
  });

  test.each([
    { who: 'a Guest', role: 10, about: [] },
    { who: 'a Planner', role: 15, about: ['Epic'] },
    { who: 'a Reporter', role: 20, about: ['Commit', 'Epic'] },
    { who: 'a Developer', role: 30, about: ['AlertManagement::Alert', 'Commit', 'Epic'] },
    {
      who: 'an auditor',
      role: 0,
      about: ['AlertManagement::Alert', 'Commit', 'Epic'],
      attributes: { auditor: true },
    },
    {
      who: 'an administrator',
      role: 0,
      about: ['AlertManagement::Alert', 'Commit', 'Epic'],
      attributes: { admin: true },
    },
    { who: 'a stranger', role: 0, about: [] },
  ])('unless they read it: $who, of an alert, a commit and an internal note on an epic', async (given) => {
    const user = await makeUser(ashlar, given.attributes);
    if (given.role > 0) await addMember(ashlar, `groups/${group.id}`, user, given.role);
    const { sql } = ashlar.app.services.database;
    const epic = await makeEpic();
    const [note] = await sql<{ id: number }[]>`
      insert into notes (namespace_id, epic_id, author_id, body, discussion_id, internal, created_at, updated_at)
      values (${group.id}, ${epic.id}, 1, 'between us', 'd', true, now(), now()) returning id`;
    const code = await makeProject(ashlar, { namespace_id: group.id, initialize_with_readme: true });
    const [commit] = bodyOf(await ashlar.root(`GET /projects/${code.id}/repository/commits`), 200);
    const [alert] = await sql<{ id: number }[]>`
      insert into alerts (iid, project_id, kind, title, severity, started_at, payload, created_at, updated_at)
      select count(*) + 1, ${project.id}, 'http', 'Down', 'high', now(), '{}', now(), now() from alerts
      returning id`;
    const row = {
      user_id: user.id,
      author_id: 1,
      action: 'mentioned',
      created_at: new Date(),
      updated_at: new Date(),
    };
    for (const about of [
      { namespace_id: group.id, epic_id: epic.id, note_id: note?.id ?? 0 },
      { project_id: code.id, commit_sha: commit.id },
      { project_id: project.id, alert_id: alert?.id ?? 0 },
    ])
      await ashlar.app.services.database.db
        .insertInto('todos')
        .values({ ...row, ...about })
        .execute();
    const types = (await todosOf(user)).map(({ target_type }: { target_type: string }) => target_type);
    expect(types.sort()).toEqual(given.about);
  });
});

test('nobody has any without an account, and none is made of what is hidden', async () => {
  const open = await makeProject(ashlar, { visibility: 'public' });
  const issue = await makeIssue({}, open);
  const secret = await makeIssue({ confidential: true }, open);
  const stranger = await makeUser(ashlar);
  expect((await ashlar.call('GET /todos')).status).toBe(401);
  expect((await ashlar.call(`POST /projects/${open.id}/issues/${issue.iid}/todo`)).status).toBe(401);
  const as = ashlar.as(stranger.token);
  expect((await as(`POST /projects/${open.id}/issues/${secret.iid}/todo`)).status).toBe(404);
  expect((await as(`POST /projects/${project.id}/issues/1/todo`)).status).toBe(404);
  expect((await as(`POST /projects/${open.id}/issues/${issue.iid}/todo`)).status).toBe(201);
});

test('a list of many takes as many statements as a list of one', async () => {
  const user = await makeUser(ashlar);
  await addMember(ashlar, `projects/${project.id}`, user, 10);
  const statements = async (): Promise<number> => {
    const uses = () =>
      ashlar.app.services.database.uses().find(({ name }) => name === 'requests')?.statements ?? 0;
    const before = uses();
    await todosOf(user);
    return uses() - before;
  };
  const mark = async () => {
    const issue = await makeIssue();
    bodyOf(await ashlar.as(user.token)(`POST /projects/${project.id}/issues/${issue.iid}/todo`), 201);
  };
  await mark();
  await statements();
  const one = await statements();
  for (let count = 0; count < 5; count++) await mark();
  expect(one).toBeGreaterThan(0);
  expect(await statements()).toBe(one);
});
