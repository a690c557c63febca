/** What is around a merge request, over HTTP: subscriptions, people, times, events and awards, and who may what. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeUser,
} from '../../../../test/support/factories.ts';
import { makeMergeRequest, makeReviewedProject } from '../../../../test/support/merge-requests.ts';

const app: TestApp = useApp();
let project: MadeProject;
let developer: MadeUser;
let reporter: MadeUser;
let guest: MadeUser;
let stranger: MadeUser;
let made = 0;

const as = (user: MadeUser) => app.as(user.token);
const path = (iid: number): string => `/projects/${project.id}/merge_requests/${iid}`;
const make = (attributes: Record<string, unknown> = {}) =>
  makeMergeRequest(app, project.id, `topic-${++made}`, attributes);
const idsOf = (all: readonly { id: number }[]): number[] => all.map(({ id }) => id);

beforeAll(async () => {
  project = await makeReviewedProject(app);
  ({ developer, reporter, guest } = await makeMembers(
    app,
    `projects/${project.id}`,
    'developer',
    'reporter',
    'guest',
  ));
  stranger = await makeUser(app);
});

describe('subscriptions', () => {
  test('are made once and ended once, and the record shows them', async () => {
    const { iid } = await make();
    const post = (word: string) => as(reporter)(`POST ${path(iid)}/${word}`);
    const subscribed = bodyOf(await post('subscribe'), 201);
    expect(subscribed).toMatchObject({ iid, subscribed: true, merge_status: 'can_be_merged' });
    expect((await post('subscribe')).status).toBe(304);
    expect(bodyOf(await post('unsubscribe'), 201).subscribed).toBe(false);
    expect((await post('unsubscribe')).status).toBe(304);
    expect(bodyOf(await as(reporter)(`GET ${path(iid)}`), 200).subscribed).toBe(false);
  });

  test('of who takes part are there without asking, and can be ended', async () => {
    const { iid } = await make({ reviewer_ids: [developer.id] });
    expect((await as(developer)(`POST ${path(iid)}/subscribe`)).status).toBe(304);
    expect(bodyOf(await as(developer)(`POST ${path(iid)}/unsubscribe`), 201).subscribed).toBe(false);
    expect((await as(reporter)(`POST ${path(iid)}/unsubscribe`)).status).toBe(304);
  });

  test('asked for many times at once are one', async () => {
    const { id, iid } = await make();
    const asked = await Promise.all(
      Array.from({ length: 6 }, () => as(reporter)(`POST ${path(iid)}/subscribe`)),
    );
    for (const { status } of asked) expect([201, 304]).toContain(status);
    const { sql } = app.app.services.database;
    const rows = await sql`select user_id, subscribed from subscriptions where merge_request_id = ${id}`;
    expect(rows).toEqual([{ user_id: reporter.id, subscribed: true }]);
  });
});

describe('people', () => {
  test('who take part: author, assignees, reviewers, commenters and the mentioned', async () => {
    const commenter = await makeUser(app);
    const insider = await makeUser(app);
    for (const user of [commenter, insider]) await addMember(app, `projects/${project.id}`, user, 30);
    const { iid, author } = await make({
      assignee_ids: [developer.id],
      reviewer_ids: [reporter.id],
      description: `For @${insider.username} and @${guest.username}`,
    });
    bodyOf(await as(commenter)(`POST ${path(iid)}/notes`, { body: { body: 'Hello' } }), 201);
    const list = async () => bodyOf(await app.root(`GET ${path(iid)}/participants`), 200);
    const all = [author.id, developer.id, reporter.id, commenter.id, insider.id];
    expect(idsOf(await list())).toEqual(all.toSorted((one, other) => one - other));
    // Who is no member any more does not see it.
    bodyOf(await app.root(`DELETE /projects/${project.id}/members/${commenter.id}`), 204);
    expect(idsOf(await list())).not.toContain(commenter.id);
  });

  test('in internal notes take no part, and pages are counted', async () => {
    const { iid, author } = await make();
    const body = { body: `@${developer.username}`, internal: true };
    bodyOf(await app.root(`POST ${path(iid)}/notes`, { body }), 201);
    const called = await app.root(`GET ${path(iid)}/participants`, { query: 'per_page=1' });
    expect(idsOf(bodyOf(called, 200))).toEqual([author.id]);
    expect(called.headers.get('x-total')).toBe('1');
  });

  test('who review, with the state of each', async () => {
    const { iid, id } = await make({ reviewer_ids: [developer.id, reporter.id] });
    const { sql } = app.app.services.database;
    await sql`update merge_request_reviewers set state = 'requested_changes'
      where merge_request_id = ${id} and user_id = ${reporter.id}`;
    const reviewers = bodyOf(await as(developer)(`GET ${path(iid)}/reviewers`), 200);
    expect(reviewers).toEqual([
      {
        user: expect.objectContaining({ id: developer.id }),
        state: 'unreviewed',
        created_at: expect.any(String),
      },
      {
        user: expect.objectContaining({ id: reporter.id }),
        state: 'requested_changes',
        created_at: expect.any(String),
      },
    ]);
    const none = await make();
    expect(bodyOf(await as(developer)(`GET ${path(none.iid)}/reviewers`), 200)).toEqual([]);
  });
});

describe('time', () => {
  test('is estimated and spent, as on issues', async () => {
    const { iid } = await make();
    const post = async (name: string, duration?: string) =>
      bodyOf(await as(reporter)(`POST ${path(iid)}/${name}`, { body: { duration } }), 201);
    expect(await post('time_estimate', '3h30m')).toEqual({
      time_estimate: 12_600,
      total_time_spent: 0,
      human_time_estimate: '3h 30m',
      human_total_time_spent: null,
    });
    expect((await post('add_spent_time', '1d')).total_time_spent).toBe(28_800);
    expect((await post('add_spent_time', '-1h')).human_total_time_spent).toBe('7h');
    const times = { time_estimate: 12_600, total_time_spent: 25_200 };
    expect(bodyOf(await as(reporter)(`GET ${path(iid)}/time_stats`), 200)).toMatchObject(times);
    expect(bodyOf(await as(reporter)(`GET ${path(iid)}`), 200).time_stats).toMatchObject(times);
    expect((await post('reset_spent_time')).total_time_spent).toBe(0);
    expect((await post('reset_time_estimate')).time_estimate).toBe(0);
    const notes = bodyOf(
      await as(reporter)(`GET ${path(iid)}/notes`, { query: 'sort=asc&activity_filter=only_activity' }),
      200,
    );
    expect(notes.map(({ body }: { body: string }) => body)).toEqual([
      'changed time estimate to 3h 30m',
      'added 1d of time spent',
      'subtracted 1h of time spent',
      'removed time spent',
      'removed time estimate',
    ]);
  });

  test('of an issue is another', async () => {
    const { iid } = await make();
    const body = { title: 'Beside it', iid };
    const issue = bodyOf(await app.root(`POST /projects/${project.id}/issues`, { body }), 201);
    bodyOf(await app.root(`POST ${path(iid)}/add_spent_time`, { body: { duration: '1h' } }), 201);
    const stats = await app.root(`GET /projects/${project.id}/issues/${issue.iid}/time_stats`);
    expect(bodyOf(stats, 200).total_time_spent).toBe(0);
  });

  test('is not taken back twice, however many do so at once', async () => {
    const { iid } = await make();
    const spend = (duration: string) =>
      as(reporter)(`POST ${path(iid)}/add_spent_time`, { body: { duration } });
    bodyOf(await spend('1h'), 201);
    const taken = await Promise.all(Array.from({ length: 4 }, () => spend('-1h')));
    expect(taken.map(({ status }) => status).toSorted()).toEqual([201, 400, 400, 400]);
    expect(bodyOf(await as(reporter)(`GET ${path(iid)}/time_stats`), 200).total_time_spent).toBe(0);
  });

  test.each([
    [
      'time_estimate',
      'soon',
      { time_estimate: ['must have a valid format and be greater than or equal to zero.'] },
    ],
    ['add_spent_time', '-1h', { time_spent: ['Time to subtract exceeds the total time spent'] }],
    ['add_spent_time', '0h', { time_spent: ["can't be zero"] }],
  ])('%s of %s is refused', async (name, duration, message) => {
    const { iid } = await make();
    const called = await as(reporter)(`POST ${path(iid)}/${name}`, { body: { duration } });
    expect([called.status, called.body.message]).toEqual([400, message]);
  });
});

test('events tell of states, labels and milestones', async () => {
  const milestone = bodyOf(
    await app.root(`POST /projects/${project.id}/milestones`, { body: { title: 'Soon' } }),
    201,
  );
  const { id, iid } = await make({ labels: 'told', milestone_id: milestone.id });
  for (const body of [{ state_event: 'close' }, { labels: '', milestone_id: 0 }, { state_event: 'reopen' }])
    bodyOf(await app.root(`PUT ${path(iid)}`, { body }), 200);
  const events = async (kind: string) =>
    bodyOf(await as(reporter)(`GET ${path(iid)}/resource_${kind}_events`), 200);
  const states = await events('state');
  expect(states.map(({ state }: { state: string }) => state)).toEqual(['closed', 'reopened']);
  expect(states[0]).toMatchObject({ resource_type: 'MergeRequest', resource_id: id, source_commit: null });
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
  const one = (kind: string, event: number, of = iid) =>
    as(reporter)(`GET ${path(of)}/resource_${kind}_events/${event}`);
  expect((await one('state', states[0].id)).body).toEqual(states[0]);
  expect((await one('label', states[0].id)).status).toBe(404);
  const other = await make();
  expect((await one('state', states[0].id, other.iid)).status).toBe(404);
});

describe('awards', () => {
  test('are given to merge requests and to notes on them, once, and taken back by who gave them', async () => {
    const { iid } = await make();
    const note = bodyOf(await app.root(`POST ${path(iid)}/notes`, { body: { body: 'Look' } }), 201);
    for (const place of [path(iid), `${path(iid)}/notes/${note.id}`]) {
      const give = (name: string) => as(reporter)(`POST ${place}/award_emoji`, { body: { name } });
      const award = bodyOf(await give('thumbsup'), 201);
      expect(award).toMatchObject({ name: 'thumbsup', user: { id: reporter.id } });
      expect((await give('thumbsup')).status).toBe(404);
      expect(idsOf(bodyOf(await as(reporter)(`GET ${place}/award_emoji`), 200))).toEqual([award.id]);
      expect((await as(developer)(`DELETE ${place}/award_emoji/${award.id}`)).status).toBe(401);
      expect(bodyOf(await app.root(`GET ${path(iid)}`), 200).upvotes).toBe(1);
      expect((await as(reporter)(`GET ${place}/award_emoji/${award.id}`)).body).toEqual(award);
    }
    const [{ id }] = bodyOf(await as(reporter)(`GET ${path(iid)}/award_emoji`), 200);
    bodyOf(await as(reporter)(`DELETE ${path(iid)}/award_emoji/${id}`), 204);
    expect(bodyOf(await app.root(`GET ${path(iid)}`), 200).upvotes).toBe(0);
  });
});

describe('who may not', () => {
  const reads = ['participants', 'reviewers', 'time_stats', 'resource_state_events', 'award_emoji'];
  const writes: [string, Record<string, unknown>][] = [
    ['subscribe', {}],
    ['unsubscribe', {}],
    ['time_estimate', { duration: '1h' }],
    ['reset_time_estimate', {}],
    ['add_spent_time', { duration: '1h' }],
    ['reset_spent_time', {}],
    ['award_emoji', { name: 'thumbsup' }],
  ];

  test.each(reads)('read: %s', async (rest) => {
    const { iid } = await make();
    expect((await as(reporter)(`GET ${path(iid)}/${rest}`)).status).toBe(200);
    expect((await as(guest)(`GET ${path(iid)}/${rest}`)).status).toBe(403);
    expect((await as(stranger)(`GET ${path(iid)}/${rest}`)).status).toBe(404);
    expect((await app.call(`GET ${path(iid)}/${rest}`)).status).toBe(404);
    expect((await as(reporter)(`GET ${path(99_999)}/${rest}`)).status).toBe(404);
  });

  test.each(writes)('write: %s', async (rest, body) => {
    const { iid } = await make();
    expect((await as(guest)(`POST ${path(iid)}/${rest}`, { body })).status).toBe(403);
    expect((await as(stranger)(`POST ${path(iid)}/${rest}`, { body })).status).toBe(404);
    expect((await app.call(`POST ${path(iid)}/${rest}`, { body })).status).toBe(401);
    expect((await as(reporter)(`POST ${path(99_999)}/${rest}`, { body })).status).toBe(404);
  });

  test('change times: readers of a public project without a role in it', async () => {
    const open = await makeReviewedProject(app, { visibility: 'public' });
    const { iid } = await makeMergeRequest(app, open.id, 'topic');
    const at = `/projects/${open.id}/merge_requests/${iid}`;
    expect((await as(stranger)(`POST ${at}/add_spent_time`, { body: { duration: '1h' } })).status).toBe(403);
    expect((await as(stranger)(`POST ${at}/subscribe`)).status).toBe(201);
    expect((await app.call(`GET ${at}/participants`)).status).toBe(200);
  });

  test('write where the project is archived', async () => {
    const old = await makeReviewedProject(app);
    const { iid } = await makeMergeRequest(app, old.id, 'topic');
    bodyOf(await app.root(`POST /projects/${old.id}/archive`), 201);
    const at = `/projects/${old.id}/merge_requests/${iid}`;
    expect((await app.root(`POST ${at}/subscribe`)).status).toBe(403);
    expect((await app.root(`POST ${at}/add_spent_time`, { body: { duration: '1h' } })).status).toBe(403);
    expect((await app.root(`GET ${at}/time_stats`)).status).toBe(200);
  });
});
