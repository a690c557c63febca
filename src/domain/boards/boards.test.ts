/** Issue boards of projects and groups, and their lists, over HTTP. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeGroup,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../test/support/factories.ts';

const ashlar = useApp();
let group: MadeGroup;
let project: MadeProject;
let members: Record<'guest' | 'planner', MadeUser>;
let labelIds: number[];

const makeLabel = async (path: string, name: string): Promise<number> =>
  bodyOf(await ashlar.root(`POST ${path}/labels`, { body: { name, color: '#ff0000' } }), 201).id;
const makeMilestone = async (path: string, title: string): Promise<number> =>
  bodyOf(await ashlar.root(`POST ${path}/milestones`, { body: { title } }), 201).id;

beforeAll(async () => {
  group = await makeGroup(ashlar);
  project = await makeProject(ashlar, { namespace_id: group.id });
  members = await makeMembers(ashlar, `groups/${group.id}`, 'guest', 'planner');
  labelIds = [];
  for (const name of ['a', 'b', 'c']) labelIds.push(await makeLabel(`/groups/${group.id}`, name));
});

const as = (who: keyof typeof members) => ashlar.as(members[who].token);
const makeBoard = async (path: string): Promise<string> =>
  `${path}/${bodyOf(await as('planner')(`POST ${path}`, { body: { name: 'One' } }), 201).id}`;
const addList = async (board: string, body: object) =>
  bodyOf(await as('planner')(`POST ${board}/lists`, { body }), 201);
const shown = async (board: string): Promise<number[]> =>
  bodyOf(await as('guest')(`GET ${board}/lists`), 200).map(({ id }: { id: number }) => id);

describe.each(['project', 'group'] as const)('a board of a %s', (kind) => {
  const home = () => (kind === 'project' ? `/projects/${project.id}` : `/groups/${group.id}`);
  const path = () => `${home()}/boards`;

  test('is made, shown, changed and deleted', async () => {
    expect(bodyOf(await as('guest')(`GET ${path()}`), 200)).toEqual([]);
    const made = bodyOf(await as('planner')(`POST ${path()}`, { body: { name: 'One' } }), 201);
    expect(made).toEqual({
      id: expect.any(Number),
      name: 'One',
      hide_backlog_list: false,
      hide_closed_list: false,
      project: kind === 'project' ? expect.objectContaining({ id: project.id }) : null,
      group: kind === 'group' ? expect.objectContaining({ id: group.id }) : null,
      lists: [],
      milestone: null,
      assignee: null,
      labels: [],
      weight: null,
    });
    const one = `${path()}/${made.id}`;
    const milestone_id = await makeMilestone(home(), `Soon of ${kind}`);
    const body = {
      name: 'Two',
      hide_backlog_list: true,
      assignee_id: members.guest.id,
      milestone_id,
      labels: 'b,a,new',
      weight: 4,
    };
    const changed = bodyOf(await as('planner')(`PUT ${one}`, { body }), 200);
    expect(changed).toMatchObject({
      name: 'Two',
      hide_backlog_list: true,
      hide_closed_list: false,
      assignee: { id: members.guest.id },
      milestone: { id: milestone_id, title: `Soon of ${kind}` },
      labels: [{ name: 'a' }, { name: 'b' }, { name: 'new' }],
      weight: 4,
    });
    expect(bodyOf(await as('guest')(`GET ${one}`), 200)).toEqual(changed);
    expect(bodyOf(await as('guest')(`GET ${path()}`), 200)).toEqual([changed]);
    const none = { assignee_id: 0, milestone_id: null, labels: '', weight: null };
    expect(bodyOf(await as('planner')(`PUT ${one}`, { body: none }), 200)).toMatchObject({
      name: 'Two',
      assignee: null,
      milestone: null,
      labels: [],
      weight: null,
    });
    const removed = await Promise.all([1, 2].map(() => as('planner')(`DELETE ${one}`)));
    expect(removed.map(({ status }) => status).sort()).toEqual([204, 404]);
    expect((await as('guest')(`GET ${one}`)).body).toEqual({ message: '404 Board Not Found' });
  });

  test('is scoped to its own alone', async () => {
    const board = await makeBoard(path());
    const stranger = await makeUser(ashlar);
    const elsewhere = await makeProject(ashlar);
    for (const [body, message] of [
      [{ assignee_id: stranger.id }, { assignee_id: ['is invalid'] }],
      [
        { milestone_id: await makeMilestone(`/projects/${elsewhere.id}`, 'Theirs') },
        { milestone_id: ['is invalid'] },
      ],
    ] as const)
      expect(bodyOf(await as('planner')(`PUT ${board}`, { body }), 400)).toEqual({ message });
    for (const body of [{ name: ' ' }, { weight: 10 }, { weight: -1 }, { name: 'x'.repeat(256) }])
      expect((await as('planner')(`PUT ${board}`, { body })).status).toBe(400);
  });

  test('has lists of labels, assignees and milestones, in an order', async () => {
    const board = await makeBoard(path());
    const milestone_id = await makeMilestone(home(), `Later of ${kind}`);
    const ofLabel = await addList(board, { label_id: labelIds[0] });
    expect(ofLabel).toEqual({
      id: expect.any(Number),
      label: expect.objectContaining({ id: labelIds[0], name: 'a', text_color: expect.any(String) }),
      position: 0,
      max_issue_count: 0,
      max_issue_weight: 0,
      limit_metric: null,
    });
    const ofUser = await addList(board, { assignee_id: members.guest.id });
    expect(ofUser).toMatchObject({ label: null, assignee: { id: members.guest.id }, position: 1 });
    const ofMilestone = await addList(board, { milestone_id });
    expect(ofMilestone).toMatchObject({ label: null, milestone: { id: milestone_id }, position: 2 });
    const [one, two, three] = [ofLabel.id, ofUser.id, ofMilestone.id];
    const move = (id: number, position: number) =>
      as('planner')(`PUT ${board}/lists/${id}`, { body: { position } });
    expect(bodyOf(await move(three, 0), 200)).toEqual({ ...ofMilestone, position: 0 });
    expect(await shown(board)).toEqual([three, one, two]);
    expect(bodyOf(await as('guest')(`GET ${board}/lists/${two}`), 200)).toEqual({ ...ofUser, position: 2 });
    expect((await move(one, 3)).body).toEqual({ message: { error: ['List could not be moved!'] } });
    expect((await move(one, -1)).status).toBe(400);
    // At once, each move is a whole one.
    const moved = await Promise.all([move(one, 0), move(two, 0), move(three, 2), move(one, 1)]);
    expect(moved.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { lists } = bodyOf(await as('guest')(`GET ${board}`), 200);
    expect(lists.map(({ position }: { position: number }) => position)).toEqual([0, 1, 2]);
    expect(lists.map(({ id }: { id: number }) => id).sort()).toEqual([one, two, three].sort());
    const page = bodyOf(await as('guest')(`GET ${board}/lists`, { query: 'per_page=2&page=2' }), 200);
    expect(page).toEqual([lists[2]]);
    expect((await as('planner')(`DELETE ${board}/lists/${lists[0].id}`)).status).toBe(204);
    expect(await shown(board)).toEqual([lists[1].id, lists[2].id]);
  });

  test('has no list twice, none of others, and none of two things', async () => {
    const board = await makeBoard(path());
    const other = await makeBoard(path());
    const added = await Promise.all(
      [1, 2, 3].map(() => as('planner')(`POST ${board}/lists`, { body: { label_id: labelIds[0] } })),
    );
    expect(added.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    expect(added.find(({ status }) => status === 400)?.body).toEqual({
      message: { label: ['has already been taken'] },
    });
    const [id] = await shown(board);
    for (const method of ['GET', 'DELETE'])
      expect((await as('planner')(`${method} ${other}/lists/${id}`)).status).toBe(404);
    expect((await as('planner')(`PUT ${other}/lists/${id}`, { body: { position: 0 } })).status).toBe(404);
    const elsewhere = `/projects/${(await makeProject(ashlar)).id}`;
    const stranger = await makeUser(ashlar);
    for (const [body, message] of [
      [{ label_id: await makeLabel(elsewhere, 'theirs') }, { error: ['Label not found'] }],
      [{ milestone_id: await makeMilestone(elsewhere, 'Theirs') }, { error: ['Milestone not found'] }],
      [{ assignee_id: stranger.id }, { error: ['User not found'] }],
      [{ iteration_id: 1 }, { error: ['Iteration not found'] }],
    ] as const)
      expect(bodyOf(await as('planner')(`POST ${board}/lists`, { body }), 400)).toEqual({ message });
    for (const body of [{}, { label_id: labelIds[1], assignee_id: members.guest.id }])
      expect((await as('planner')(`POST ${board}/lists`, { body })).status).toBe(400);
    expect((await ashlar.root(`GET ${elsewhere}/boards/${board.split('/').at(-1)}`)).status).toBe(404);
    expect(await shown(board)).toEqual([id]);
  });

  test('is read by who sees the issues, and changed from Planner on', async () => {
    const board = await makeBoard(path());
    const list = await addList(board, { label_id: labelIds[0] });
    const stranger = await makeUser(ashlar);
    const statuses = async (call: typeof ashlar.root) => {
      const found: number[] = [];
      for (const [request, body] of [
        [`GET ${path()}`],
        [`GET ${board}`],
        [`GET ${board}/lists`],
        [`GET ${board}/lists/${list.id}`],
        [`POST ${path()}`, { name: 'More' }],
        [`PUT ${board}`, { name: 'Else' }],
        [`POST ${board}/lists`, { label_id: labelIds[1] }],
        [`PUT ${board}/lists/${list.id}`, { position: 0 }],
        [`DELETE ${board}/lists/${list.id}`],
        [`DELETE ${board}`],
      ] as const)
        found.push((await call(request, body && { body })).status);
      return found;
    };
    expect(await statuses(ashlar.as(stranger.token))).toEqual(Array(10).fill(404));
    expect(await statuses(ashlar.call)).toEqual(Array(10).fill(401));
    expect(await statuses(as('guest'))).toEqual([...Array(4).fill(200), ...Array(6).fill(403)]);
    expect(await statuses(as('planner'))).toEqual([200, 200, 200, 200, 201, 200, 201, 200, 204, 204]);
  });
});

test('a board is not there where there are no issues', async () => {
  const { id } = await makeProject(ashlar, { issues_access_level: 'disabled' });
  expect((await ashlar.root(`GET /projects/${id}/boards`)).status).toBe(403);
  expect((await ashlar.root(`POST /projects/${id}/boards`, { body: { name: 'x' } })).status).toBe(403);
});

test('what is deleted takes its lists along, and scopes forget it', async () => {
  const home = `/projects/${project.id}`;
  const board = await makeBoard(`${home}/boards`);
  const label_id = await makeLabel(home, 'gone');
  const milestone_id = await makeMilestone(home, 'Gone');
  const user = await makeUser(ashlar);
  await addMember(ashlar, `projects/${project.id}`, user, 20);
  const scope = { labels: 'gone', milestone_id, assignee_id: user.id };
  expect((await as('planner')(`PUT ${board}`, { body: scope })).status).toBe(200);
  for (const body of [{ label_id }, { milestone_id }, { assignee_id: user.id }]) await addList(board, body);
  const kept = await addList(board, { label_id: labelIds[2] });
  await ashlar.root(`DELETE ${home}/labels/${label_id}`);
  await ashlar.root(`DELETE ${home}/milestones/${milestone_id}`);
  const { sql } = ashlar.app.services.database;
  await sql`delete from members where user_id = ${user.id}`;
  await ashlar.root(`DELETE /users/${user.id}`, { query: 'hard_delete=true' });
  await expect
    .poll(async () => bodyOf(await as('guest')(`GET ${board}`), 200))
    .toMatchObject({
      lists: [{ ...kept, position: 0 }],
      labels: [],
      milestone: null,
      assignee: null,
    });
});

test('a label or milestone that is promoted, or comes along with a project, keeps its lists', async () => {
  const inner = await makeGroup(ashlar, { parent_id: group.id });
  const { id } = await makeProject(ashlar, { namespace_id: inner.id });
  const home = `/projects/${id}`;
  const board = await makeBoard(`${home}/boards`);
  const label_id = await makeLabel(home, 'risen');
  const milestone_id = await makeMilestone(home, 'Risen');
  const body = { labels: 'risen', milestone_id };
  expect((await as('planner')(`PUT ${board}`, { body })).status).toBe(200);
  const lists = [await addList(board, { label_id }), await addList(board, { milestone_id })];
  bodyOf(await ashlar.root(`PUT ${home}/labels/${label_id}/promote`), 200);
  bodyOf(await ashlar.root(`POST ${home}/milestones/${milestone_id}/promote`), 201);
  const look = async () => {
    const found = bodyOf(await ashlar.root(`GET ${board}`), 200);
    return [
      found.lists.map(({ id }: { id: number }) => id),
      ...[...found.labels, found.lists[0].label].map(({ name }) => name),
      ...[found.milestone, found.lists[1].milestone].map(
        ({ title, group_id, project_id }) => `${title} of ${group_id ?? project_id}`,
      ),
    ];
  };
  const ids = lists.map((each) => each.id);
  const of = `Risen of ${inner.id}`;
  expect(await look()).toEqual([ids, 'risen', 'risen', of, of]);
  const elsewhere = await makeGroup(ashlar);
  bodyOf(await ashlar.root(`PUT ${home}/transfer`, { body: { namespace: elsewhere.id } }), 200);
  const copy = `Risen of ${id}`;
  expect(await look()).toEqual([ids, 'risen', 'risen', copy, copy]);
});

test('what a group has left is shown on its boards no more', async () => {
  const inner = await makeGroup(ashlar, { parent_id: group.id });
  const board = await makeBoard(`/groups/${inner.id}/boards`);
  expect((await as('planner')(`PUT ${board}`, { body: { labels: 'a' } })).status).toBe(200);
  await addList(board, { label_id: labelIds[0] });
  const own = await addList(board, { label_id: await makeLabel(`/groups/${inner.id}`, 'own') });
  bodyOf(await ashlar.root(`POST /groups/${inner.id}/transfer`), 201);
  expect(bodyOf(await ashlar.root(`GET ${board}`), 200)).toMatchObject({
    labels: [],
    lists: [{ id: own.id, position: 0 }],
  });
});

test('a page of boards whose labels have long descriptions is bounded', async () => {
  const { id } = await makeProject(ashlar);
  const { sql } = ashlar.app.services.database;
  await sql`insert into labels (project_id, name, description, color, created_at, updated_at)
    select ${id}, x, repeat('&', 500000), '#ff0000', now(), now() from generate_series(1, 20) x`;
  await sql`insert into boards (project_id, name, created_at, updated_at)
    select ${id}, x, now(), now() from generate_series(1, 100) x`;
  await sql`insert into board_lists (board_id, label_id, position, created_at, updated_at)
    select b.id, l.id, 0, now(), now() from boards b join labels l using (project_id) where project_id = ${id}`;
  const { status } = await ashlar.root(`GET /projects/${id}/boards`, { query: 'per_page=100' });
  expect([429, 503]).toContain(status);
  expect((await ashlar.root(`GET /projects/${id}/labels`, { query: 'per_page=1' })).status).toBe(200);
});

test('there are a hundred boards of a project and a hundred lists of a board', async () => {
  const { id } = await makeProject(ashlar);
  const { sql } = ashlar.app.services.database;
  await sql`insert into boards (project_id, name, created_at, updated_at)
    select ${id}, x, now(), now() from generate_series(1, 100) x`;
  expect((await ashlar.root(`POST /projects/${id}/boards`, { body: { name: 'x' } })).body).toEqual({
    message: { base: ['Maximum number of boards (100) exceeded'] },
  });
  await sql`insert into labels (project_id, name, color, created_at, updated_at)
    select ${id}, x, '#ff0000', now(), now() from generate_series(1, 101) x`;
  const [{ board } = { board: 0 }] = await sql<{ board: number }[]>`
    select min(id) as board from boards where project_id = ${id}`;
  await sql`insert into board_lists (board_id, label_id, position, created_at, updated_at)
    select ${board}, id, 0, now(), now() from labels where project_id = ${id} and name <> '101'`;
  const [{ label } = { label: 0 }] = await sql<{ label: number }[]>`
    select id as label from labels where project_id = ${id} and name = '101'`;
  const refused = await ashlar.root(`POST /projects/${id}/boards/${board}/lists`, {
    body: { label_id: label },
  });
  expect(refused.body).toEqual({ message: { base: ['Maximum number of lists (100) exceeded'] } });
});
