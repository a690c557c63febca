/** Child epics, issues, inherited dates, and links of epics over HTTP. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { makeEpic } from '../../../../test/support/epics.ts';
import {
  addMember,
  bodyOf,
  type MadeGroup,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { makeIssue, makeMilestone } from '../../../../test/support/planning.ts';

const ashlar = useApp();
let group: MadeGroup;
let other: MadeGroup;
let project: MadeProject;
let planner: MadeUser;
let guest: MadeUser;
let path: string;

beforeAll(async () => {
  [group, other] = [await makeGroup(ashlar), await makeGroup(ashlar)];
  project = await makeProject(ashlar, { namespace_id: group.id });
  [planner, guest] = [await makeUser(ashlar), await makeUser(ashlar)];
  await addMember(ashlar, `groups/${group.id}`, planner, 15);
  await addMember(ashlar, `groups/${group.id}`, guest, 10);
  path = `/groups/${group.id}/epics`;
});

const as = (user: MadeUser) => ashlar.as(user.token);
const ids = (body: { id: number }[]) => body.map(({ id }) => id);
const notesOf = async (epicId: number): Promise<string[]> => {
  const rows = await ashlar.app.services.database.sql<{ body: string }[]>`
    select body from notes where epic_id = ${epicId} order by id`;
  return rows.map(({ body }) => body);
};

describe('child epics', () => {
  test('are made, assigned, ordered and taken away', async () => {
    const parent = await makeEpic(ashlar, group);
    const children = `${path}/${parent.iid}/epics`;
    const made = bodyOf(await as(planner)(`POST ${children}`, { body: { title: 'Made below' } }), 201);
    expect(made).toMatchObject({ parent_id: parent.id, parent_iid: parent.iid, group_id: group.id });
    const { id, iid } = await makeEpic(ashlar, group);
    const given = bodyOf(await as(planner)(`POST ${children}/${id}`), 201);
    expect(given._links.parent).toBe(`${ashlar.url}/api/v4/groups/${group.id}/epics/${parent.iid}`);
    expect((await as(planner)(`POST ${children}/${id}`)).status).toBe(409);
    const list = () => as(guest)(`GET ${children}`);
    expect(ids(bodyOf(await list(), 200))).toEqual([id, made.id]);
    const moved = await as(planner)(`PUT ${children}/${id}`, { body: { move_before_id: made.id } });
    expect(ids(bodyOf(moved, 200))).toEqual([made.id, id]);
    expect((await as(planner)(`PUT ${children}/${parent.id}`, { body: {} })).status).toBe(404);
    expect((await as(guest)(`POST ${children}/${id}`)).status).toBe(403);
    expect((await as(guest)(`DELETE ${children}/${id}`)).status).toBe(403);
    expect((await as(planner)(`DELETE ${children}/${id}`)).status).toBe(204);
    expect((await as(planner)(`DELETE ${children}/${id}`)).status).toBe(404);
    expect(ids(bodyOf(await list(), 200))).toEqual([made.id]);
    expect(await notesOf(id)).toEqual([
      `added epic &${parent.iid} as parent epic`,
      `removed epic &${parent.iid} as parent epic`,
    ]);
    expect(await notesOf(parent.id)).toEqual([
      `added epic &${made.iid} as child epic`,
      `added epic &${iid} as child epic`,
      `removed epic &${iid} as child epic`,
    ]);
    expect((await ashlar.root(`DELETE ${path}/${parent.iid}`)).status).toBe(204);
    expect(bodyOf(await ashlar.root(`GET ${path}/${made.iid}`), 200).parent_id).toBeNull();
  });

  test('are moved by parent_id, all or nothing', async () => {
    const [first, second] = [await makeEpic(ashlar, group), await makeEpic(ashlar, group)];
    const child = await makeEpic(ashlar, group, { parent_id: first.id });
    expect(child.parent_id).toBe(first.id);
    const change = (body: object, iid = child.iid) => as(planner)(`PUT ${path}/${iid}`, { body });
    expect(bodyOf(await change({ parent_id: second.id }), 200).parent_id).toBe(second.id);
    expect((await change({ parent_id: child.id, title: 'changed' }, second.iid)).status).toBe(409);
    expect(bodyOf(await ashlar.root(`GET ${path}/${second.iid}`), 200).title).toBe(second.title);
    expect(bodyOf(await change({ parent_id: null }), 200).parent_id).toBeNull();
  });

  test('of groups that the caller does not plan in are refused, or not there', async () => {
    const parent = await makeEpic(ashlar, group);
    const foreign = await makeEpic(ashlar, other);
    const open = await makeEpic(ashlar, await makeGroup(ashlar, { visibility: 'public' }));
    const assign = (id: number) => as(planner)(`POST ${path}/${parent.iid}/epics/${id}`);
    expect((await assign(foreign.id)).status).toBe(404);
    expect((await assign(open.id)).status).toBe(403);
    expect((await as(planner)(`POST ${path}`, { body: { title: 'x', parent_id: open.id } })).status).toBe(
      403,
    );
    expect((await ashlar.root(`POST ${path}/${parent.iid}/epics/${foreign.id}`)).status).toBe(201);
    expect(ids(bodyOf(await as(planner)(`GET ${path}/${parent.iid}/epics`), 200))).toEqual([]);
    expect(await notesOf(parent.id)).toEqual([]);
  });

  test('never come to a circle, however many try at once', async () => {
    const epics = await Promise.all([1, 2, 3, 4].map(() => makeEpic(ashlar, group)));
    const pairs = epics.map((epic, index) => [epic, epics[(index + 1) % epics.length]] as const);
    const responses = await Promise.all(
      pairs.map(([parent, child]) => ashlar.root(`POST ${path}/${parent.iid}/epics/${child.id}`)),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409]);
  });

  test('end at the seventh level', async () => {
    let parent = await makeEpic(ashlar, group);
    for (let level = 2; level <= 7; level++) parent = await makeEpic(ashlar, group, { parent_id: parent.id });
    const body = { title: 'Eighth' };
    expect((await ashlar.root(`POST ${path}/${parent.iid}/epics`, { body })).status).toBe(409);
  });

  test('of confidential epics are confidential', async () => {
    const parent = await makeEpic(ashlar, group, { confidential: true });
    const children = `${path}/${parent.iid}/epics`;
    const child = bodyOf(await as(planner)(`POST ${children}`, { body: { title: 'x' } }), 201);
    expect(child.confidential).toBe(true);
    const body = { confidential: false };
    expect((await as(planner)(`PUT ${path}/${child.iid}`, { body })).status).toBe(409);
    expect((await as(guest)(`GET ${children}`)).status).toBe(404);
    const open = await makeEpic(ashlar, group);
    expect((await as(planner)(`POST ${children}/${open.id}`)).status).toBe(409);
  });
});

describe('issues of an epic', () => {
  test('are assigned, listed, ordered and taken out', async () => {
    const epic = await makeEpic(ashlar, group);
    const issues = `${path}/${epic.iid}/issues`;
    const [a, b] = [await makeIssue(ashlar, project), await makeIssue(ashlar, project)];
    const links = [];
    for (const { id } of [a, b]) links.push(bodyOf(await as(planner)(`POST ${issues}/${id}`), 201));
    const [first, second] = links;
    expect(first).toMatchObject({ epic: { id: epic.id }, issue: { id: a.id, epic_iid: epic.iid } });
    expect((await as(planner)(`POST ${issues}/${a.id}`)).status).toBe(409);
    expect((await as(guest)(`POST ${issues}/${a.id}`)).status).toBe(403);
    const listed = bodyOf(await as(guest)(`GET /groups/${group.id}/-/epics/${epic.iid}/issues`), 200);
    expect(listed).toMatchObject([
      {
        id: a.id,
        epic_issue_id: first.id,
        references: { relative: `${project.path_with_namespace}#${a.iid}` },
      },
      { id: b.id, epic_issue_id: second.id },
    ]);
    const moved = await as(planner)(`PUT ${issues}/${second.id}`, { body: { move_after_id: first.id } });
    expect(ids(bodyOf(moved, 200))).toEqual([b.id, a.id]);
    const taken = bodyOf(await as(planner)(`DELETE ${issues}/${first.id}`), 200);
    expect(taken).toMatchObject({ id: first.id, issue: { id: a.id, epic: null }, epic: { id: epic.id } });
    expect((await as(planner)(`DELETE ${issues}/${first.id}`)).status).toBe(404);
    expect(ids(bodyOf(await ashlar.root(`GET ${issues}`), 200))).toEqual([b.id]);
    const { path_with_namespace: home } = project;
    expect(await notesOf(epic.id)).toEqual([
      `added issue ${home}#${a.iid}`,
      `added issue ${home}#${b.iid}`,
      `removed issue ${home}#${a.iid}`,
    ]);
  });

  test('are in one epic at most', async () => {
    const [from, to] = [await makeEpic(ashlar, group), await makeEpic(ashlar, group)];
    const issue = await makeIssue(ashlar, project);
    for (const { iid } of [from, to])
      expect((await ashlar.root(`POST ${path}/${iid}/issues/${issue.id}`)).status).toBe(201);
    expect(bodyOf(await ashlar.root(`GET ${path}/${from.iid}/issues`), 200)).toEqual([]);
    expect(ids(bodyOf(await ashlar.root(`GET ${path}/${to.iid}/issues`), 200))).toEqual([issue.id]);
  });

  test('are shown and counted as far as the reader sees them', async () => {
    const epic = await makeEpic(ashlar, group);
    const hidden = await makeProject(ashlar, { namespace_id: other.id });
    const issues = [
      await makeIssue(ashlar, project),
      await makeIssue(ashlar, project, { confidential: true }),
      await makeIssue(ashlar, hidden),
    ];
    const links = [];
    for (const { id } of issues)
      links.push(bodyOf(await ashlar.root(`POST ${path}/${epic.iid}/issues/${id}`), 201));
    const seen = async (call: typeof ashlar.root) => {
      const list = await call(`GET ${path}/${epic.iid}/issues`);
      return [ids(bodyOf(list, 200)), list.headers.get('x-total')];
    };
    const all = ids(issues);
    expect(await seen(ashlar.root)).toEqual([expect.arrayContaining(all), '3']);
    expect(await seen(as(planner))).toEqual([expect.arrayContaining(all.slice(0, 2)), '2']);
    expect(await seen(as(guest))).toEqual([all.slice(0, 1), '1']);
    expect((await as(planner)(`PUT ${path}/${epic.iid}/issues/${links[2].id}`, { body: {} })).status).toBe(
      404,
    );
    expect((await as(planner)(`DELETE ${path}/${epic.iid}/issues/${links[2].id}`)).status).toBe(404);
    const foreign = await makeIssue(ashlar, hidden);
    expect((await as(planner)(`POST ${path}/${epic.iid}/issues/${foreign.id}`)).status).toBe(404);
    expect((await notesOf(epic.id)).length).toBe(1);
  });

  test('and child epics give their dates to it', async () => {
    const epic = await makeEpic(ashlar, group);
    const child = await makeEpic(ashlar, group, { parent_id: epic.id });
    const milestones = [
      await makeMilestone(ashlar, `projects/${project.id}`, {
        start_date: '2026-02-01',
        due_date: '2026-03-01',
      }),
      await makeMilestone(ashlar, `groups/${group.id}`, { start_date: '2026-01-01', due_date: '2026-02-01' }),
    ];
    for (const [index, { iid }] of [epic, child].entries()) {
      const issue = await makeIssue(ashlar, project, { milestone_id: milestones[index].id });
      bodyOf(await ashlar.root(`POST ${path}/${iid}/issues/${issue.id}`), 201);
    }
    const dates = { start_date: '2026-01-01', due_date: '2026-03-01', end_date: '2026-03-01' };
    expect(bodyOf(await ashlar.root(`GET ${path}/${epic.iid}`), 200)).toMatchObject(dates);
    const body = { start_date_is_fixed: true, start_date_fixed: '2026-02-02' };
    bodyOf(await ashlar.root(`PUT ${path}/${child.iid}`, { body }), 200);
    expect(bodyOf(await ashlar.root(`GET ${path}/${epic.iid}`), 200)).toMatchObject({
      start_date: '2026-02-01',
      start_date_from_inherited_source: '2026-02-01',
      start_date_is_fixed: false,
    });
  });

  test('get there through the issue only by who may change the epic', async () => {
    const open = await makeGroup(ashlar, { visibility: 'public' });
    const [reader, home] = [await makeUser(ashlar), await makeProject(ashlar)];
    await addMember(ashlar, `projects/${home.id}`, reader, 40);
    await addMember(ashlar, `groups/${open.id}`, reader, 10);
    const epic = await makeEpic(ashlar, open);
    const issues = `/projects/${home.id}/issues`;
    const { iid } = await makeIssue(ashlar, home);
    const calls: [string, object][] = [
      [`POST ${issues}`, { title: 'x', epic_id: epic.id }],
      [`PUT ${issues}/${iid}`, { epic_id: epic.id }],
      [`POST ${issues}/${iid}/notes`, { body: `/epic ${open.full_path}&${epic.iid}` }],
    ];
    const statuses = async () => {
      const responses = [];
      for (const [call, body] of calls) responses.push((await as(reader)(call, { body })).status);
      return responses;
    };
    expect(await statuses()).toEqual([403, 403, 400]);
    expect(bodyOf(await ashlar.root(`GET /groups/${open.id}/epics/${epic.iid}/issues`), 200)).toEqual([]);
    bodyOf(
      await ashlar.root(`PUT /groups/${open.id}/members/${reader.id}`, { body: { access_level: 15 } }),
      200,
    );
    expect(await statuses()).toEqual([201, 200, 202]);
  });

  test('that become epics are below it only where whoever promotes them may change it', async () => {
    const open = await makeGroup(ashlar, { visibility: 'public' });
    await addMember(ashlar, `groups/${open.id}`, guest, 10);
    const parent = await makeEpic(ashlar, open);
    const promote = async () => {
      const { iid, title } = await makeIssue(ashlar, project, { epic_id: parent.id });
      const said = `POST /projects/${project.id}/issues/${iid}/notes`;
      expect((await as(planner)(said, { body: { body: '/promote' } })).status).toBe(202);
      const [epic] = bodyOf(await ashlar.root(`GET ${path}`, { query: `search=${title}` }), 200);
      return epic.parent_id;
    };
    expect(await promote()).toBeNull();
    await addMember(ashlar, `groups/${open.id}`, planner, 15);
    expect(await promote()).toBe(parent.id);
  });

  test('of a confidential epic stay confidential', async () => {
    const [secret, open] = [
      await makeEpic(ashlar, group, { confidential: true }),
      await makeEpic(ashlar, group),
    ];
    const { iid } = await makeIssue(ashlar, project, { confidential: true, epic_id: secret.id });
    const change = async (body: object) =>
      (await ashlar.root(`PUT /projects/${project.id}/issues/${iid}`, { body })).status;
    expect(await change({ confidential: false })).toBe(400);
    expect(await change({ title: 'Renamed' })).toBe(200);
    expect(await change({ confidential: false, epic_id: open.id })).toBe(200);
    expect(await change({ epic_id: secret.id })).toBe(400);
  });

  test('are never public in an epic that becomes confidential at the same moment', async () => {
    for (let round = 0; round < 5; round++) {
      const epic = await makeEpic(ashlar, group);
      const { iid } = await makeIssue(ashlar, project);
      const issue = `/projects/${project.id}/issues/${iid}`;
      await Promise.all([
        ashlar.root(`PUT ${issue}`, { body: { epic_id: epic.id } }),
        ashlar.root(`PUT ${path}/${epic.iid}`, { body: { confidential: true } }),
      ]);
      const [put, made] = [
        bodyOf(await ashlar.root(`GET ${issue}`), 200),
        bodyOf(await ashlar.root(`GET ${path}/${epic.iid}`), 200),
      ];
      expect(put.epic !== null && made.confidential).toBe(false);
    }
  });
});

describe('related epics', () => {
  test('are linked, listed from both sides, and separated', async () => {
    const [one, two] = [await makeEpic(ashlar, group), await makeEpic(ashlar, other)];
    await addMember(ashlar, `groups/${other.id}`, planner, 10);
    const related = `${path}/${one.iid}/related_epics`;
    const body = { target_group_id: other.id, target_epic_iid: two.iid, link_type: 'is_blocked_by' };
    const link = bodyOf(await as(planner)(`POST ${related}`, { body }), 201);
    expect(link).toMatchObject({
      link_type: 'blocks',
      source_epic: { id: two.id },
      target_epic: { id: one.id },
    });
    expect((await as(planner)(`POST ${related}`, { body })).status).toBe(409);
    const itself = { target_group_id: String(group.id), target_epic_iid: one.iid };
    expect((await as(planner)(`POST ${related}`, { body: itself })).status).toBe(422);
    const from = bodyOf(await as(planner)(`GET ${related}`), 200);
    expect(from).toMatchObject([{ id: two.id, link_type: 'is_blocked_by', related_epic_link_id: link.id }]);
    const back = bodyOf(await as(planner)(`GET /groups/${other.id}/epics/${two.iid}/related_epics`), 200);
    expect(back).toMatchObject([{ id: one.id, link_type: 'blocks' }]);
    expect(bodyOf(await as(guest)(`GET ${related}`), 200)).toEqual([]);
    const links = async (call: typeof ashlar.root, query = '') =>
      ids(bodyOf(await call(`GET /groups/${group.id}/related_epic_links`, { query }), 200));
    expect(await links(as(planner))).toEqual([link.id]);
    expect(await links(as(planner), 'created_after=2999-01-01T00:00:00Z')).toEqual([]);
    expect(await links(as(guest))).toEqual([]);
    expect((await as(guest)(`DELETE ${related}/${link.id}`)).status).toBe(403);
    expect((await as(planner)(`DELETE ${related}/${link.id}`)).status).toBe(204);
    expect((await as(planner)(`DELETE ${related}/${link.id}`)).status).toBe(404);
  });

  test('in groups that the caller is not in are not linked', async () => {
    const one = await makeEpic(ashlar, group);
    const [hidden, open] = [await makeGroup(ashlar), await makeGroup(ashlar, { visibility: 'public' })];
    const relate = async (home: MadeGroup) => {
      const { iid } = await makeEpic(ashlar, home);
      const body = { target_group_id: home.full_path, target_epic_iid: iid };
      return (await as(planner)(`POST ${path}/${one.iid}/related_epics`, { body })).status;
    };
    expect([await relate(hidden), await relate(open)]).toEqual([404, 403]);
  });

  test('are linked once when two ask at once, and told under both', async () => {
    const [one, two] = [await makeEpic(ashlar, group), await makeEpic(ashlar, group)];
    const body = (epic: { iid: number }) => ({ target_group_id: group.id, target_epic_iid: epic.iid });
    const responses = await Promise.all([
      ashlar.root(`POST ${path}/${one.iid}/related_epics`, { body: body(two) }),
      ashlar.root(`POST ${path}/${two.iid}/related_epics`, { body: body(one) }),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(await notesOf(one.id)).toEqual([`marked this epic as related to &${two.iid}`]);
    expect(await notesOf(two.id)).toEqual([`marked this epic as related to &${one.iid}`]);
  });
});
