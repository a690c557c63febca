/** Issues over HTTP: links, moves, positions, time, subscriptions, and the events that record changes. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
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

const app = useApp();
let group: MadeGroup;
let project: MadeProject;
let other: MadeProject;
let hidden: MadeProject;
let guest: MadeUser;
let planner: MadeUser;

beforeAll(async () => {
  group = await makeGroup(app, { visibility: 'public' });
  project = await makeProject(app, { namespace_id: group.id, visibility: 'public' });
  other = await makeProject(app, { namespace_id: group.id, visibility: 'public' });
  hidden = await makeProject(app, { visibility: 'private' });
  [guest, planner] = [await makeUser(app), await makeUser(app)];
  await addMember(app, `projects/${project.id}`, guest, 10);
  await addMember(app, `projects/${project.id}`, planner, 15);
  await addMember(app, `projects/${other.id}`, planner, 15);
});

const path = (of: MadeProject = project) => `/projects/${of.id}/issues`;
const made = async (body: Record<string, unknown> = {}, of: MadeProject = project) =>
  bodyOf(await app.root(`POST ${path(of)}`, { body: { title: 'One', ...body } }), 201);
const as = (user: MadeUser) => app.as(user.token);
const notesOf = async (issueId: number): Promise<string[]> => {
  const rows = await app.app.services.database.sql<{ body: string }[]>`
    select body from notes where issue_id = ${issueId} and system_action is not null order by id`;
  return rows.map(({ body }) => body);
};

describe('links', () => {
  const link = (user: MadeUser, iid: number, target: { project_id: number; iid: number }, type?: string) =>
    as(user)(`POST ${path()}/${iid}/links`, {
      body: { target_project_id: target.project_id, target_issue_iid: target.iid, link_type: type },
    });
  const related = async (iid: number, call = app.call) =>
    bodyOf(await call(`GET ${path()}/${iid}/links`), 200).map((each: { id: number; link_type: string }) => [
      each.id,
      each.link_type,
    ]);

  test('are seen from both ends, told to both, and taken away', async () => {
    const [a, b] = [await made(), await made({}, other)];
    const made1 = bodyOf(await link(planner, a.iid, b, 'blocks'), 201);
    expect([made1.source_issue.id, made1.target_issue.id, made1.link_type]).toEqual([a.id, b.id, 'blocks']);
    expect(await related(a.iid)).toEqual([[b.id, 'blocks']]);
    const back = bodyOf(await app.call(`GET ${path(other)}/${b.iid}/links`), 200);
    expect(back[0]).toMatchObject({ id: a.id, link_type: 'is_blocked_by', issue_link_id: made1.id });
    expect(await notesOf(a.id)).toEqual([
      `marked this issue as blocking ${other.path_with_namespace}#${b.iid}`,
    ]);
    expect(await notesOf(b.id)).toEqual([
      `marked this issue as blocked by ${project.path_with_namespace}#${a.iid}`,
    ]);
    expect(bodyOf(await app.call(`GET ${path()}/${a.iid}`), 200).blocking_issues_count).toBe(1);
    expect((await as(guest)(`DELETE ${path()}/${a.iid}/links/${made1.id}`)).status).toBe(403);
    expect((await as(planner)(`DELETE ${path()}/${a.iid}/links/${made1.id}`)).status).toBe(204);
    expect(await related(a.iid)).toEqual([]);
    expect((await as(planner)(`GET ${path()}/${a.iid}/links/${made1.id}`)).status).toBe(404);
  });

  test('twice is a conflict, another type replaces, and two at once are one', async () => {
    const [a, b] = [await made(), await made()];
    const statuses = await Promise.all(Array.from({ length: 4 }, () => link(planner, a.iid, b)));
    expect(statuses.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409]);
    expect((await link(planner, a.iid, b, 'is_blocked_by')).status).toBe(201);
    expect(await related(a.iid)).toEqual([[b.id, 'is_blocked_by']]);
    expect(await related(b.iid)).toEqual([[a.id, 'blocks']]);
  });

  test('to an issue of the same project may name no project', async () => {
    const [a, b] = [await made(), await made()];
    const post = (user: MadeUser, body: object) => as(user)(`POST ${path()}/${a.iid}/links`, { body });
    const body = { target_project_id: null, target_issue_iid: b.iid };
    expect((await post(guest, body)).status).toBe(403);
    const made1 = bodyOf(await post(planner, body), 201);
    expect([made1.source_issue.id, made1.target_issue.id]).toEqual([a.id, b.id]);
    expect((await post(planner, { ...body, target_issue_iid: a.iid })).status).toBe(400);
    expect((await post(planner, { ...body, target_issue_iid: 99_999 })).status).toBe(404);
    expect((await post(planner, { ...body, target_project_id: '' })).status).toBe(404);
    const absent = await post(planner, { target_issue_iid: b.iid });
    expect([absent.status, absent.body.error]).toEqual([400, 'target_project_id is missing']);
    const byPath = { ...body, target_project_id: other.path_with_namespace };
    expect((await post(planner, { ...byPath, target_issue_iid: (await made({}, other)).iid })).status).toBe(
      201,
    );
  });

  test('are refused to guests, to an issue itself, and to what the caller does not see', async () => {
    const [a, secret] = [await made(), await made({}, hidden)];
    expect((await link(guest, a.iid, await made())).status).toBe(403);
    expect((await link(planner, a.iid, a)).status).toBe(400);
    expect((await link(planner, a.iid, secret)).status).toBe(404);
    expect((await link(planner, a.iid, { project_id: project.id, iid: 99_999 })).status).toBe(404);
  });

  test('with hidden issues are shown to nobody else', async () => {
    const [a, secret, confidential] = [
      await made(),
      await made({}, hidden),
      await made({ confidential: true }),
    ];
    for (const target of [secret, confidential]) {
      const body = { target_project_id: target.project_id, target_issue_iid: target.iid };
      expect((await app.root(`POST ${path()}/${a.iid}/links`, { body })).status).toBe(201);
    }
    expect(await related(a.iid)).toEqual([]);
    expect(await related(a.iid, as(planner))).toEqual([[confidential.id, 'relates_to']]);
    expect(await related(a.iid, app.root)).toHaveLength(2);
    const [first] = bodyOf(await app.root(`GET ${path()}/${a.iid}/links`), 200);
    expect((await as(planner)(`GET ${path()}/${a.iid}/links/${first.issue_link_id}`)).status).toBe(404);
    expect((await as(planner)(`DELETE ${path()}/${a.iid}/links/${first.issue_link_id}`)).status).toBe(404);
  });
});

describe('moves', () => {
  test('take the issue along and close the old one; a second move is refused', async () => {
    await app.root(`POST /projects/${project.id}/labels`, { body: { name: 'both', color: '#ff0000' } });
    await app.root(`POST /projects/${other.id}/labels`, { body: { name: 'both', color: '#00ff00' } });
    const issue = await made({
      title: 'Goes',
      description: 'Text',
      labels: 'both,here only',
      assignee_ids: [planner.id],
    });
    await as(guest)(`POST ${path()}/${issue.iid}/notes`, { body: { body: 'Hello' } });
    await as(planner)(`POST ${path()}/${issue.iid}/add_spent_time`, { body: { duration: '1h' } });
    const body = { to_project_id: other.id };
    expect((await as(guest)(`POST ${path()}/${issue.iid}/move`, { body })).status).toBe(400);
    const moved = bodyOf(await as(planner)(`POST ${path()}/${issue.iid}/move`, { body }), 201);
    expect(moved).toMatchObject({
      project_id: other.id,
      title: 'Goes',
      description: 'Text',
      labels: ['both'],
      state: 'opened',
      created_at: issue.created_at,
      user_notes_count: 1,
      time_stats: { total_time_spent: 3_600 },
    });
    expect(moved.author.id).toBe(issue.author.id);
    expect(moved.assignees.map(({ id }: { id: number }) => id)).toEqual([planner.id]);
    const old = bodyOf(await app.root(`GET ${path()}/${issue.iid}`), 200);
    expect([old.state, old.moved_to_id]).toEqual(['closed', moved.id]);
    expect(await notesOf(issue.id)).toContain(`moved to ${other.path_with_namespace}#${moved.iid}`);
    expect(await notesOf(moved.id)).toContain(`moved from ${project.path_with_namespace}#${issue.iid}`);
    const again = await as(planner)(`POST ${path()}/${issue.iid}/move`, { body });
    expect([again.status, again.body.message]).toEqual([
      400,
      'Cannot move issue due to insufficient permissions!',
    ]);
  });

  test.each([
    ['where it is', () => project.id, 400],
    ['where the caller sees nothing', () => hidden.id, 404],
    ['where nothing is', () => 9_999_999, 404],
  ])('%s are refused', async (_where, to, status) => {
    const issue = await made();
    const body = { to_project_id: to() };
    expect((await as(planner)(`POST ${path()}/${issue.iid}/move`, { body })).status).toBe(status);
  });

  test('of one issue at once: one goes', async () => {
    const issue = await made();
    const body = { to_project_id: other.id };
    const calls = Array.from({ length: 3 }, () => as(planner)(`POST ${path()}/${issue.iid}/move`, { body }));
    expect((await Promise.all(calls)).map(({ status }) => status).toSorted()).toEqual([201, 400, 400]);
  });

  test('copies are the caller’s own, with notes where that is said', async () => {
    const issue = await made({ title: 'Twin' });
    await as(guest)(`POST ${path()}/${issue.iid}/notes`, { body: { body: 'Hello' } });
    const clone = async (with_notes: boolean) =>
      bodyOf(
        await as(planner)(`POST ${path()}/${issue.iid}/clone`, {
          body: { to_project_id: project.id, with_notes },
        }),
        201,
      );
    const [bare, full] = [await clone(false), await clone(true)];
    expect([bare.title, bare.author.id, bare.user_notes_count]).toEqual(['Twin', planner.id, 0]);
    expect(full.user_notes_count).toBe(1);
    const notes = bodyOf(
      await app.root(`GET ${path()}/${full.iid}/notes?activity_filter=only_comments`),
      200,
    );
    expect(
      notes.map((note: { body: string; author: { id: number } }) => [note.body, note.author.id]),
    ).toEqual([['Hello', guest.id]]);
    expect(await notesOf(issue.id)).toEqual([`cloned to #${bare.iid}`, `cloned to #${full.iid}`]);
    expect(bodyOf(await app.root(`GET ${path()}/${issue.iid}`), 200).state).toBe('opened');
  });
});

describe('places', () => {
  const order = async (of: MadeProject): Promise<number[]> =>
    bodyOf(await app.root(`GET ${path(of)}?order_by=relative_position&sort=asc`), 200).map(
      ({ id }: { id: number }) => id,
    );

  test('follow the neighbours that are named, however often', async () => {
    const of = await makeProject(app);
    const [a, b, c] = [await made({}, of), await made({}, of), await made({}, of)];
    const place = (iid: number, body: Record<string, number>) =>
      app.root(`PUT ${path(of)}/${iid}/reorder`, { body });
    expect(await order(of)).toEqual([a.id, b.id, c.id]);
    expect((await place(c.iid, { move_before_id: a.id, move_after_id: b.id })).status).toBe(200);
    expect(await order(of)).toEqual([a.id, c.id, b.id]);
    await place(b.iid, { move_after_id: a.id });
    expect(await order(of)).toEqual([b.id, a.id, c.id]);
    // More halvings than there are numbers between two.
    for (let n = 0; n < 40; n++) {
      await place(n % 2 === 0 ? c.iid : a.iid, { move_before_id: b.id });
      expect(await order(of)).toEqual(n % 2 === 0 ? [b.id, c.id, a.id] : [b.id, a.id, c.id]);
    }
    expect((await place(a.iid, {})).status).toBe(422);
    expect((await place(a.iid, { move_after_id: (await made()).id })).status).toBe(404);
    const asGuest = as(guest)(`PUT ${path()}/${(await made()).iid}/reorder`, {
      body: { move_after_id: a.id },
    });
    expect((await asGuest).status).toBe(403);
  });
});

describe('time', () => {
  test('is estimated and spent', async () => {
    const issue = await made();
    const post = async (name: string, duration?: string) =>
      bodyOf(await as(planner)(`POST ${path()}/${issue.iid}/${name}`, { body: { duration } }), 201);
    expect(await post('time_estimate', '3h30m')).toEqual({
      time_estimate: 12_600,
      total_time_spent: 0,
      human_time_estimate: '3h 30m',
      human_total_time_spent: null,
    });
    expect((await post('add_spent_time', '1d')).total_time_spent).toBe(28_800);
    expect((await post('add_spent_time', '-1h')).human_total_time_spent).toBe('7h');
    const stats = bodyOf(await app.call(`GET ${path()}/${issue.iid}/time_stats`), 200);
    expect(stats).toMatchObject({ time_estimate: 12_600, total_time_spent: 25_200 });
    expect((await post('reset_spent_time')).total_time_spent).toBe(0);
    expect((await post('reset_time_estimate')).time_estimate).toBe(0);
    expect(await notesOf(issue.id)).toEqual([
      'changed time estimate to 3h 30m',
      'added 1d of time spent',
      'subtracted 1h of time spent',
      'removed time spent',
      'removed time estimate',
    ]);
  });

  test.each([
    [
      'time_estimate',
      'soon',
      { time_estimate: ['must have a valid format and be greater than or equal to zero.'] },
    ],
    [
      'time_estimate',
      '-1h',
      { time_estimate: ['must have a valid format and be greater than or equal to zero.'] },
    ],
    ['add_spent_time', '-1h', { time_spent: ['Time to subtract exceeds the total time spent'] }],
    ['add_spent_time', '0h', { time_spent: ["can't be zero"] }],
  ])('%s of %s is refused', async (name, duration, message) => {
    const issue = await made();
    const called = await as(planner)(`POST ${path()}/${issue.iid}/${name}`, { body: { duration } });
    expect([called.status, called.body.message]).toEqual([400, message]);
  });

  test('is not for guests', async () => {
    const issue = bodyOf(await as(guest)(`POST ${path()}`, { body: { title: 'Mine' } }), 201);
    const body = { duration: '1h' };
    expect((await as(guest)(`POST ${path()}/${issue.iid}/time_estimate`, { body })).status).toBe(403);
    expect((await as(guest)(`POST ${path()}/${issue.iid}/add_spent_time`, { body })).status).toBe(403);
  });
});

describe('subscriptions', () => {
  test('are made once, and ended once', async () => {
    const issue = await made();
    const post = async (word: string) => (await as(guest)(`POST ${path()}/${issue.iid}/${word}`)).status;
    expect([await post('subscribe'), await post('subscribe')]).toEqual([201, 304]);
    expect(bodyOf(await as(guest)(`GET ${path()}/${issue.iid}`), 200).subscribed).toBe(true);
    expect([await post('unsubscribe'), await post('unsubscribe')]).toEqual([201, 304]);
    expect((await app.call(`POST ${path()}/${issue.iid}/subscribe`)).status).toBe(401);
    const secret = await made({ confidential: true });
    expect((await as(guest)(`POST ${path()}/${secret.iid}/subscribe`)).status).toBe(404);
  });
});

describe('events', () => {
  test('tell of states, labels, milestones and weights', async () => {
    const milestone = bodyOf(
      await app.root(`POST /projects/${project.id}/milestones`, { body: { title: 'Soon' } }),
      201,
    );
    const issue = await made({ labels: 'told', weight: 1 });
    const one = `${path()}/${issue.iid}`;
    for (const body of [
      { milestone_id: milestone.id },
      { state_event: 'close' },
      { milestone_id: 0, labels: '', weight: null },
      { state_event: 'reopen' },
    ]) {
      bodyOf(await as(planner)(`PUT ${one}`, { body }), 200);
    }
    const events = async (kind: string) => bodyOf(await app.call(`GET ${one}/resource_${kind}_events`), 200);
    const states = await events('state');
    expect(states.map(({ state }: { state: string }) => state)).toEqual(['closed', 'reopened']);
    expect(states[0]).toMatchObject({
      resource_type: 'Issue',
      resource_id: issue.id,
      user: { id: planner.id },
    });
    const labels = await events('label');
    expect(
      labels.map((each: { action: string; label: { name: string } }) => [each.action, each.label.name]),
    ).toEqual([
      ['add', 'told'],
      ['remove', 'told'],
    ]);
    const milestones = await events('milestone');
    expect(
      milestones.map((each: { action: string; state: string; milestone: { id: number } }) => [
        each.action,
        each.state,
        each.milestone.id,
      ]),
    ).toEqual([
      ['add', 'opened', milestone.id],
      ['remove', 'closed', milestone.id],
    ]);
    const weights = await events('weight');
    expect(weights.map(({ weight }: { weight: number | null }) => weight)).toEqual([1, null]);
    const single = await app.call(`GET ${one}/resource_state_events/${states[0].id}`);
    expect(single.body).toEqual(states[0]);
    expect((await app.call(`GET ${one}/resource_label_events/${states[0].id}`)).status).toBe(404);
    const secret = await made({ confidential: true, labels: 'told' });
    expect((await app.call(`GET ${path()}/${secret.iid}/resource_label_events`)).status).toBe(404);
  });
});
