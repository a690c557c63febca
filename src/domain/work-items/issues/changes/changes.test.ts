/** Making, changing and removing issues: who may set which field, and the records that each leaves. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeGroup,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeProject,
  makeUser,
} from '../../../../../test/support/factories.ts';

const app = useApp();
let group: MadeGroup;
let project: MadeProject;
let guest: MadeUser;
let reporter: MadeUser;
let planner: MadeUser;
let owner: MadeUser;
let stranger: MadeUser;

beforeAll(async () => {
  group = await makeGroup(app, { visibility: 'public' });
  project = await makeProject(app, { namespace_id: group.id, visibility: 'public' });
  [guest, planner, reporter, owner, stranger] = [
    await makeUser(app),
    await makeUser(app),
    await makeUser(app),
    await makeUser(app),
    await makeUser(app),
  ];
  const levels = [
    [guest, 10],
    [planner, 15],
    [reporter, 20],
    [owner, 50],
  ] as const;
  for (const [user, level] of levels) await addMember(app, `projects/${project.id}`, user, level);
});

const issuesPath = () => `/projects/${project.id}/issues`;
const create = (user: MadeUser, body: Record<string, unknown>) =>
  app.as(user.token)(`POST ${issuesPath()}`, { body });
const made = async (user: MadeUser, body: Record<string, unknown> = {}) =>
  bodyOf(await create(user, { title: 'One', ...body }), 201);
const update = (user: MadeUser, iid: number, body: Record<string, unknown>) =>
  app.as(user.token)(`PUT ${issuesPath()}/${iid}`, { body });
/** The labels of the project, and how many rows the audit log has about it. */
const leftBehind = async () => {
  const [row] = await app.app.services.database.sql`select
    (select jsonb_agg(name order by name) from labels where project_id = ${project.id}) as labels,
    (select count(*) from audit_events where entity_type = 'Project' and entity_id = ${project.id}) as audits`;
  return row;
};
const notesOf = async (iid: number): Promise<string[]> => {
  const rows = await app.app.services.database.sql<{ body: string }[]>`
    select n.body from notes n join issues i on i.id = n.issue_id
    where i.project_id = ${project.id} and i.iid = ${iid} and n.system_action is not null order by n.id`;
  return rows.map(({ body }) => body);
};

describe('creation', () => {
  test('members say everything of what they make; labels that they may not make are passed over', async () => {
    await app.root(`POST /projects/${project.id}/labels`, { body: { name: 'known', color: '#ff0000' } });
    const milestone = bodyOf(
      await app.root(`POST /projects/${project.id}/milestones`, { body: { title: 'Soon' } }),
      201,
    );
    const issue = await made(guest, {
      description: 'Text',
      labels: 'known,unknown',
      assignee_ids: [guest.id, reporter.id],
      milestone_id: milestone.id,
      due_date: '2026-01-31',
      weight: 3,
      confidential: true,
      issue_type: 'incident',
      discussion_locked: true,
      iid: 4_000,
      created_at: '2001-01-01T00:00:00Z',
    });
    expect(issue).toMatchObject({
      title: 'One',
      description: 'Text',
      labels: ['known'],
      due_date: '2026-01-31',
      weight: 3,
      confidential: true,
      issue_type: 'incident',
      type: 'INCIDENT',
      discussion_locked: null,
      state: 'opened',
    });
    expect(issue.milestone.id).toBe(milestone.id);
    expect(issue.assignees.map(({ id }: { id: number }) => id)).toEqual([guest.id, reporter.id]);
    expect(issue.iid).toBeLessThan(4_000);
    expect(issue.created_at.slice(0, 4)).not.toBe('2001');
  });

  test('a planner’s unknown label is made', async () => {
    const issue = await made(planner, { labels: ['brand new', 'known'] });
    expect(issue.labels).toEqual(['brand new', 'known']);
    const labels = bodyOf(await app.root(`GET /projects/${project.id}/labels?search=brand`), 200);
    expect(labels).toHaveLength(1);
  });

  test('who is no member says the texts, and that it is confidential', async () => {
    const issue = await made(stranger, {
      description: 'Text',
      labels: 'known',
      assignee_ids: [stranger.id],
      due_date: '2026-01-31',
      weight: 1,
      confidential: true,
    });
    expect(issue).toMatchObject({
      description: 'Text',
      labels: [],
      assignees: [],
      due_date: null,
      weight: null,
      confidential: true,
    });
    expect((await app.call(`POST ${issuesPath()}`, { body: { title: 'x' } })).status).toBe(401);
  });

  test('an owner gives the number and the time; a number that is taken is a conflict, and uses none up', async () => {
    const given = await made(owner, { iid: 500, created_at: '2001-01-01T00:00:00Z' });
    expect([given.iid, given.created_at]).toEqual([500, '2001-01-01T00:00:00.000Z']);
    expect((await create(owner, { title: 'again', iid: 500 })).status).toBe(409);
    expect((await made(owner)).iid).toBe(501);
    expect((await made(owner, { iid: 450 })).iid).toBe(450);
    expect((await made(owner)).iid).toBe(502);
  });

  test.each([
    [{}, { error: 'title is missing' }],
    [{ title: ' ' }, { message: { title: ["can't be blank"] } }],
    [{ title: 'x'.repeat(256) }, { message: { title: ['is too long (maximum is 255 characters)'] } }],
    [
      { title: 'x', description: 'x'.repeat(1_048_577) },
      { message: { description: ['is too long (maximum is 1048576 characters)'] } },
    ],
    [{ title: 'x', issue_type: 'epic' }, { error: 'issue_type does not have a valid value' }],
    [{ title: 'x', due_date: 'soon' }, { error: 'due_date is invalid' }],
    [{ title: 'x', milestone_id: 9_999_999 }, { message: { milestone_id: ['is invalid'] } }],
    [{ title: 'x\0' }, undefined],
  ])('is refused: case %#', async (body, response) => {
    const called = await create(owner, body);
    expect(called.status).toBe(400);
    if (response) expect(called.body).toMatchObject(response);
  });

  test('the longest texts are taken', async () => {
    const issue = await made(owner, { title: 'é'.repeat(255), description: '😀'.repeat(1_048_576) });
    expect([...issue.title]).toHaveLength(255);
    expect([...issue.description]).toHaveLength(1_048_576);
  });

  test('leaves an event, an audit row, a fact, and reminders behind, and nothing when it fails', async () => {
    const { sql } = app.app.services.database;
    const description = `Hello @${planner.username} and @${guest.username}`;
    const issue = await made(reporter, { description, assignee_ids: [planner.id], weight: 2 });
    const [counts] = await sql`select
      (select count(*) from activity_events where target_type = 'Issue' and target_id = ${issue.id} and action = 'created') as events,
      (select count(*) from audit_events where event_name = 'issue_created' and (details ->> 'target_id')::bigint = ${issue.id}) as audits,
      (select count(*) from resource_events where issue_id = ${issue.id} and kind = 'weight') as weights,
      (select jsonb_agg(jsonb_build_array(user_id, action) order by user_id, action) from todos where issue_id = ${issue.id}) as todos`;
    expect(counts).toEqual({
      events: 1,
      audits: 1,
      weights: 1,
      todos: [
        [guest.id, 'mentioned'],
        [planner.id, 'assigned'],
        [planner.id, 'mentioned'],
      ].toSorted((a, b) => Number(a[0]) - Number(b[0])),
    });
  });

  test('a refused one makes no labels', async () => {
    const { iid } = await made(owner, { labels: 'before' });
    const epic = bodyOf(
      await app.root(`POST /groups/${group.id}/epics`, { body: { title: 'Secret', confidential: true } }),
      201,
    );
    const before = await leftBehind();
    const labels = 'never, neither';
    for (const [body, status] of [
      [{ iid }, 409],
      [{ milestone_id: 999_999 }, 400],
      [{ epic_id: epic.id }, 400],
      [{ start_date: '2026-02-01', due_date: '2026-01-01' }, 400],
      [{ title: ' ' }, 400],
    ] as const)
      expect([
        body,
        (await app.root(`POST ${issuesPath()}`, { body: { title: 'One', labels, ...body } })).status,
      ]).toEqual([body, status]);
    expect(await leftBehind()).toEqual(before);
  });

  test('labels that are not there yet are made once, whoever makes them at the same time', async () => {
    const names = ['at once 1', 'at once 2', 'at once 3'];
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, turn) =>
        create(planner, { title: 'One', labels: turn % 2 ? names : names.toReversed() }),
      ),
    );
    for (const response of responses) expect(bodyOf(response, 201).labels.toSorted()).toEqual(names);
    const all = (await leftBehind())?.labels;
    expect(all.filter((name: string) => name.startsWith('at once'))).toEqual(names);
  });

  test('commands in the description are carried out and not shown', async () => {
    const issue = await made(planner, {
      description: `Text\n/label ~known\n/estimate 3h\n/assign @${guest.username}`,
    });
    expect(issue).toMatchObject({
      description: 'Text',
      labels: ['known'],
      time_stats: { time_estimate: 10_800 },
    });
    expect(issue.assignee.id).toBe(guest.id);
    for (const [user, locked] of [
      [planner, true],
      [guest, null],
    ] as const)
      expect((await made(user, { description: 'Text\n/lock' })).discussion_locked).toBe(locked);
  });
});

describe('change', () => {
  test('a planner changes everything; each change is told once, and what is so already is none', async () => {
    const issue = await made(guest, { title: 'Old title' });
    const changed = bodyOf(
      await update(planner, issue.iid, {
        title: 'New title',
        description: 'Text',
        add_labels: 'known',
        assignee_id: guest.id,
        confidential: true,
        discussion_locked: true,
        due_date: '2026-01-01',
        weight: 3,
        state_event: 'close',
      }),
      200,
    );
    expect(changed).toMatchObject({
      title: 'New title',
      labels: ['known'],
      confidential: true,
      discussion_locked: true,
      weight: 3,
      state: 'closed',
    });
    expect(changed.closed_by.id).toBe(planner.id);
    const [{ id: labelId }] = bodyOf(await app.root(`GET /projects/${project.id}/labels?search=known`), 200);
    const told = [
      'changed title from **{-Old-} title** to **{+New+} title**',
      'changed the description',
      `assigned to @${guest.username}`,
      `added ~${labelId} label`,
      'made the issue confidential',
      'locked the discussion in this issue',
      'changed due date to January 1, 2026',
      'set weight to **3**',
      'closed',
    ];
    expect(await notesOf(issue.iid)).toEqual(told);
    const same = bodyOf(await update(planner, issue.iid, { title: 'New title', state_event: 'close' }), 200);
    expect(same.updated_at).toBe(changed.updated_at);
    expect(await notesOf(issue.iid)).toEqual(told);
    const reopened = bodyOf(await update(planner, issue.iid, { state_event: 'reopen', labels: '' }), 200);
    expect(reopened).toMatchObject({ state: 'opened', closed_at: null, closed_by: null, labels: [] });
  });

  test('the author changes texts and state, and nothing else; others who may not are refused', async () => {
    const issue = await made(guest);
    const changed = bodyOf(
      await update(guest, issue.iid, {
        title: 'Mine',
        state_event: 'close',
        weight: 5,
        labels: 'known',
        confidential: true,
      }),
      200,
    );
    expect(changed).toMatchObject({
      title: 'Mine',
      state: 'closed',
      weight: null,
      labels: [],
      confidential: false,
    });
    expect((await update(stranger, issue.iid, { title: 'x' })).status).toBe(403);

    expect((await app.call(`PUT ${issuesPath()}/${issue.iid}`, { body: { title: 'x' } })).status).toBe(401);
  });

  test('what is hidden is not there', async () => {
    const issue = await made(owner, { confidential: true });
    expect((await update(guest, issue.iid, { title: 'x' })).status).toBe(404);
    expect((await update(planner, issue.iid, { title: 'seen' })).status).toBe(200);
  });

  test('nothing is too little', async () => {
    const issue = await made(guest);
    const called = await update(guest, issue.iid, { nonsense: 1 });
    expect([called.status, called.body.error]).toEqual([
      400,
      expect.stringContaining('at least one parameter must be provided'),
    ]);
  });

  test('people who cannot read the project are not assigned', async () => {
    const hidden = await makeProject(app, { namespace_id: group.id, visibility: 'private' });
    await addMember(app, `projects/${hidden.id}`, owner, 50);
    const call = app.as(owner.token);
    const body = { title: 'x', assignee_ids: [stranger.id, owner.id] };
    const issue = bodyOf(await call(`POST /projects/${hidden.id}/issues`, { body }), 201);
    expect(issue.assignees.map(({ id }: { id: number }) => id)).toEqual([owner.id]);
  });

  test('a refused one makes no labels', async () => {
    const issue = await made(owner, { due_date: '2026-01-01' });
    const epic = bodyOf(
      await app.root(`POST /groups/${group.id}/epics`, { body: { title: 'Secret', confidential: true } }),
      201,
    );
    const before = await leftBehind();
    for (const [body, status] of [
      [{ start_date: '2026-02-01' }, 400],
      [{ epic_id: epic.id }, 400],
      [{ epic_id: 999_999 }, 404],
      [{ milestone_id: 999_999 }, 400],
      [{ title: ' ' }, 400],
    ] as const)
      for (const labels of [{ labels: 'nowhere' }, { add_labels: 'nohow' }])
        expect([
          body,
          (await app.root(`PUT ${issuesPath()}/${issue.iid}`, { body: { ...labels, ...body } })).status,
        ]).toEqual([body, status]);
    expect(await leftBehind()).toEqual(before);
    const changed = bodyOf(await update(owner, issue.iid, { labels: 'b,a', add_labels: 'c' }), 200);
    expect(changed.labels).toEqual(['a', 'b', 'c']);
  });

  test('two at once: both changes are there', async () => {
    const issue = await made(guest);
    const calls = Array.from({ length: 8 }, (_, n) =>
      update(planner, issue.iid, { add_labels: `race-${n}` }),
    );
    for (const called of await Promise.all(calls)) expect(called.status).toBe(200);
    const shown = bodyOf(await app.root(`GET ${issuesPath()}/${issue.iid}`), 200);
    expect(shown.labels).toHaveLength(8);
  });
});

describe('removal', () => {
  test.each([
    ['guest', 403],
    ['reporter', 403],
    ['planner', 204],
    ['owner', 204],
    ['stranger', 403],
  ] as const)('by a %s: %d', async (who, status) => {
    const user = { guest, reporter, planner, owner, stranger }[who];
    const other = who === 'guest' ? reporter : guest;
    const issue = await made(other);
    expect((await app.as(user.token)(`DELETE ${issuesPath()}/${issue.iid}`)).status).toBe(status);
    expect((await app.root(`GET ${issuesPath()}/${issue.iid}`)).status).toBe(status === 204 ? 404 : 200);
  });

  test('by the author; its number is not given again', async () => {
    const issue = await made(guest);
    expect((await app.as(guest.token)(`DELETE ${issuesPath()}/${issue.iid}`)).status).toBe(204);
    expect((await app.as(guest.token)(`DELETE ${issuesPath()}/${issue.iid}`)).status).toBe(404);
    expect((await made(guest)).iid).toBe(issue.iid + 1);
  });

  test('412 when it changed after the time that is sent', async () => {
    const issue = await made(guest);
    const headers = { 'if-unmodified-since': new Date(Date.now() - 86_400_000).toUTCString() };
    const call = app.as(guest.token);
    expect((await call(`DELETE ${issuesPath()}/${issue.iid}`, { headers })).status).toBe(412);
  });
});

test('a project counts its open issues, whatever changes them', async () => {
  const [project, other] = [await makeProject(app), await makeProject(app)];
  const path = `/projects/${project.id}/issues`;
  const counts = async () =>
    Promise.all(
      [project, other].map(async ({ id }) =>
        Number(bodyOf(await app.root(`GET /projects/${id}`), 200).open_issues_count),
      ),
    );
  const make = async (body: object) => bodyOf(await app.root(`POST ${path}`, { body }), 201).iid;
  const [first, second, third] = [
    await make({ title: 'a' }),
    await make({ title: 'b' }),
    await make({ title: 'c' }),
  ];
  expect(await counts()).toEqual([3, 0]);
  bodyOf(await app.root(`PUT ${path}/${first}`, { body: { state_event: 'close' } }), 200);
  bodyOf(await app.root(`PUT ${path}/${second}`, { body: { confidential: true } }), 200);
  expect(await counts()).toEqual([2, 0]);
  bodyOf(await app.root(`PUT ${path}/${first}`, { body: { state_event: 'reopen' } }), 200);
  bodyOf(await app.root(`POST ${path}/${third}/move`, { body: { to_project_id: other.id } }), 201);
  expect(await counts()).toEqual([2, 1]);
  bodyOf(await app.root(`DELETE ${path}/${second}`), 204);
  expect(await counts()).toEqual([1, 1]);
});

test('how many issues are open is told to those who read issues', async () => {
  const { id } = await makeProject(app, { visibility: 'public' });
  await addMember(app, `projects/${id}`, guest, 10);
  bodyOf(await app.root(`POST /projects/${id}/issues`, { body: { title: 'a' } }), 201);
  const told = async () =>
    Promise.all(
      [guest, stranger].map(
        async ({ token }) => bodyOf(await app.as(token)(`GET /projects/${id}`), 200).open_issues_count,
      ),
    );
  expect(await told()).toEqual([1, 1]);
  bodyOf(await app.root(`PUT /projects/${id}`, { body: { issues_access_level: 'private' } }), 200);
  expect(await told()).toEqual([1, undefined]);
});
