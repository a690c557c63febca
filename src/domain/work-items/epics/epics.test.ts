/** Epics of a group over HTTP: creation, lists, changes, deletion and visibility. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { makeEpic } from '../../../../test/support/epics.ts';
import {
  addMember,
  bodyOf,
  type MadeGroup,
  type MadeUser,
  makeGroup,
  makeUser,
} from '../../../../test/support/factories.ts';

const ashlar = useApp();
let group: MadeGroup;
let inner: MadeGroup;
let planner: MadeUser;
let guest: MadeUser;
let stranger: MadeUser;
let path: string;

beforeAll(async () => {
  group = await makeGroup(ashlar);
  inner = await makeGroup(ashlar, { parent_id: group.id });
  [planner, guest, stranger] = [await makeUser(ashlar), await makeUser(ashlar), await makeUser(ashlar)];
  await addMember(ashlar, `groups/${group.id}`, planner, 15);
  await addMember(ashlar, `groups/${group.id}`, guest, 10);
  path = `/groups/${group.id}/epics`;
});

const as = (user: MadeUser) => ashlar.as(user.token);
const ids = (body: { id: number }[]) => body.map(({ id }) => id);

describe('an epic', () => {
  test('is made with all its fields, and shown at both paths', async () => {
    const body = {
      title: 'Ship it',
      description: 'What for',
      labels: 'b,a',
      color: 'red',
      confidential: true,
      start_date_is_fixed: true,
      start_date_fixed: '2026-02-01',
      due_date_fixed: '2026-03-01',
    };
    const made = bodyOf(await as(planner)(`POST ${path}`, { body }), 201);
    const url = `${ashlar.url}/groups/${group.full_path}/-/epics/${made.iid}`;
    const api = `${ashlar.url}/api/v4/groups/${group.id}`;
    expect(made).toMatchObject({
      iid: 1,
      group_id: group.id,
      parent_id: null,
      parent_iid: null,
      title: 'Ship it',
      description: 'What for',
      confidential: true,
      color: '#FF0000',
      text_color: '#FFFFFF',
      author: { username: planner.username },
      labels: ['a', 'b'],
      state: 'opened',
      start_date: '2026-02-01',
      start_date_is_fixed: true,
      due_date: null,
      due_date_is_fixed: false,
      due_date_fixed: '2026-03-01',
      web_url: url,
      web_edit_url: `${url}/edit`,
      reference: '&1',
      references: { short: '&1', relative: '&1', full: `${group.full_path}&1` },
      upvotes: 0,
      subscribed: true,
      closed_at: null,
      _links: {
        self: `${api}/epics/1`,
        epic_issues: `${api}/epics/1/issues`,
        group: api,
        parent: null,
      },
    });
    expect(bodyOf(await as(planner)(`GET /groups/${group.id}/-/epics/1`), 200)).toEqual(made);
    expect(bodyOf(await as(planner)(`GET ${path}/1`), 200)).toEqual(made);
    const labels = bodyOf(await as(planner)(`GET /groups/${group.id}/labels`), 200);
    expect(labels.map(({ name }: { name: string }) => name)).toEqual(['a', 'b']);
  });

  test.each<[string, object, object]>([
    ['no title', {}, { error: 'title is missing' }],
    ['a blank title', { title: ' ' }, { message: { title: ["can't be blank"] } }],
    [
      'a long title',
      { title: 'x'.repeat(256) },
      { message: { title: ['is too long (maximum is 255 characters)'] } },
    ],
    ['no colour', { title: 'x', color: 'redd' }, { message: { color: ['must be a valid color code'] } }],
  ])('is refused with %s', async (_, body, response) => {
    expect(bodyOf(await as(planner)(`POST ${path}`, { body }), 400)).toMatchObject(response);
  });

  test('is made and changed by Planners, and removed by Owners', async () => {
    const body = { title: 'x' };
    const { iid } = await makeEpic(ashlar, group);
    expect((await as(guest)(`POST ${path}`, { body })).status).toBe(403);
    expect((await as(stranger)(`POST ${path}`, { body })).status).toBe(404);
    expect((await ashlar.call(`POST ${path}`, { body })).status).toBe(401);
    expect((await as(guest)(`PUT ${path}/${iid}`, { body })).status).toBe(403);
    expect((await as(planner)(`PUT ${path}/${iid}`, { body })).status).toBe(200);
    expect((await as(planner)(`DELETE ${path}/${iid}`)).status).toBe(403);
    const headers = { 'if-unmodified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' };
    expect((await ashlar.root(`DELETE ${path}/${iid}`, { headers })).status).toBe(412);
    expect((await ashlar.root(`DELETE ${path}/${iid}`)).status).toBe(204);
    expect((await ashlar.root(`GET ${path}/${iid}`)).status).toBe(404);
  });

  test('tells of what changes: notes, events, labels, states', async () => {
    const { id, iid } = await makeEpic(ashlar, group, { title: 'One two', labels: ['keep', 'drop'] });
    const change = (body: object) => as(planner)(`PUT ${path}/${iid}`, { body });
    const changed = bodyOf(
      await change({ title: 'One three', add_labels: 'more', remove_labels: 'drop', state_event: 'close' }),
      200,
    );
    expect(changed).toMatchObject({ title: 'One three', labels: ['keep', 'more'], state: 'closed' });
    expect(changed.closed_at).not.toBeNull();
    expect(bodyOf(await change({ state_event: 'close' }), 200).updated_at).toBe(changed.updated_at);
    expect(bodyOf(await change({ state_event: 'reopen' }), 200)).toMatchObject({
      state: 'opened',
      closed_at: null,
    });
    const { sql } = ashlar.app.services.database;
    const notes = await sql<{ body: string }[]>`select body from notes where epic_id = ${id} order by id`;
    expect(notes.map(({ body }) => body.replaceAll(/~\d+/g, '~'))).toEqual([
      'changed title from **One t{-wo-}** to **One t{+hree+}**',
      'added ~ label and removed ~ label',
      'closed',
      'reopened',
    ]);
    const states = bodyOf(await as(guest)(`GET ${path}/${iid}/resource_state_events`), 200);
    expect(states.map(({ state }: { state: string }) => state)).toEqual(['closed', 'reopened']);
    expect(states[0]).toMatchObject({ resource_type: 'Epic', resource_id: id, user: { id: planner.id } });
    const labels = bodyOf(await as(guest)(`GET ${path}/${iid}/resource_label_events`), 200);
    expect(
      labels.map((each: { action: string; label: { name: string } }) => [each.action, each.label.name]),
    ).toEqual(
      expect.arrayContaining([
        ['add', 'keep'],
        ['add', 'drop'],
        ['add', 'more'],
        ['remove', 'drop'],
      ]),
    );
    const one = await as(guest)(`GET ${path}/${iid}/resource_label_events/${labels[0].id}`);
    expect(bodyOf(one, 200)).toEqual(labels[0]);
    expect((await as(guest)(`GET ${path}/${iid}/resource_state_events/${labels[0].id}`)).status).toBe(404);
    const audited = await sql<{ event_name: string }[]>`
      select event_name from audit_events where (details ->> 'target_id')::bigint = ${id} and details ->> 'target_type' = 'Epic'`;
    expect(audited.map(({ event_name }) => event_name)).toEqual([
      'epic_created',
      'epic_updated',
      'epic_updated',
    ]);
  });

  test('understands quick actions in its description, and reminds who is called there', async () => {
    const description = `@${guest.username} look\n/label ~quick\n/close`;
    await makeEpic(ashlar, group, { labels: 'quick' });
    const made = await makeEpic(ashlar, group, { description: `for @${stranger.username}` }, planner);
    const body = { description };
    const changed = bodyOf(await as(planner)(`PUT ${path}/${made.iid}`, { body }), 200);
    expect(changed).toMatchObject({
      state: 'closed',
      labels: ['quick'],
      description: `@${guest.username} look`,
    });
    const { sql } = ashlar.app.services.database;
    expect(await sql`select user_id, action from todos where epic_id = ${made.id}`).toMatchObject([
      { user_id: guest.id, action: 'directly_addressed' },
    ]);
  });

  test('takes the deprecated dates, and lets only owners say when it was made', async () => {
    const body = {
      title: 'x',
      start_date: '2026-01-01',
      end_date: '2026-01-02',
      created_at: '2020-01-01T00:00:00Z',
    };
    const mine = bodyOf(await as(planner)(`POST ${path}`, { body }), 201);
    expect(mine).toMatchObject({
      start_date: '2026-01-01',
      start_date_is_fixed: true,
      due_date: '2026-01-02',
    });
    expect(mine.created_at).not.toContain('2020');
    const own = bodyOf(await ashlar.root(`POST ${path}`, { body }), 201);
    expect(own.created_at).toBe('2020-01-01T00:00:00.000Z');
  });
});

test('an epic is as old as it is said to be, in the first centuries too', async () => {
  const { id } = await makeGroup(ashlar);
  const times = ['0001-01-01T00:00:00.000Z', '0031-05-02T01:02:03.456Z', '0099-12-31T23:59:59.999Z'];
  for (const created_at of times)
    bodyOf(await ashlar.root(`POST /groups/${id}/epics`, { body: { title: 'Old', created_at } }), 201);
  const epics = bodyOf(await ashlar.root(`GET /groups/${id}/epics?sort=asc`), 200);
  expect(epics.map(({ created_at }: { created_at: string }) => created_at)).toEqual(times);
});

describe('who sees what', () => {
  test('confidential epics are for Planners, in lists, counts and alone', async () => {
    const home = await makeGroup(ashlar, { visibility: 'public' });
    await addMember(ashlar, `groups/${home.id}`, guest, 10);
    await addMember(ashlar, `groups/${home.id}`, planner, 15);
    const open = await makeEpic(ashlar, home);
    const secret = await makeEpic(ashlar, home, { confidential: true });
    const seen = async (call: typeof ashlar.root) => {
      const listed = await call(`GET /groups/${home.id}/epics`);
      const alone = await call(`GET /groups/${home.id}/epics/${secret.iid}`);
      return [ids(bodyOf(listed, 200)), listed.headers.get('x-total'), alone.status];
    };
    const all = [[secret.id, open.id], '2', 200];
    const some = [[open.id], '1', 404];
    expect(
      await Promise.all([ashlar.root, as(planner), as(guest), as(stranger), ashlar.call].map(seen)),
    ).toEqual([all, all, some, some, some]);
  });

  test('a member of a group below sees its epics only, of a private parent', async () => {
    const member = await makeUser(ashlar);
    await addMember(ashlar, `groups/${inner.id}`, member, 15);
    const inside = await makeEpic(ashlar, inner);
    await makeEpic(ashlar, group);
    expect((await as(member)(`GET ${path}`)).status).toBe(403);
    const list = await as(member)(`GET /groups/${inner.id}/epics`, { query: 'include_ancestor_groups=true' });
    expect(ids(bodyOf(list, 200))).toEqual([inside.id]);
    expect((await as(stranger)(`GET ${path}`)).status).toBe(404);
  });
});

describe('the list', () => {
  test('is narrowed by each filter', async () => {
    const home = await makeGroup(ashlar);
    const below = await makeGroup(ashlar, { parent_id: home.id });
    await addMember(ashlar, `groups/${home.id}`, planner, 15);
    const old = { created_at: '2020-01-01T00:00:00Z' };
    const a = await makeEpic(ashlar, home, { title: 'Alpha 100%', labels: 'x,y', ...old });
    const b = await makeEpic(ashlar, home, { title: 'Beta', description: 'alpha', labels: 'x' }, planner);
    const c = await makeEpic(ashlar, below, { title: 'Gamma', confidential: true });
    await ashlar.root(`PUT /groups/${home.id}/epics/${b.iid}`, { body: { state_event: 'close' } });
    await ashlar.root(`POST /groups/${home.id}/epics/${a.iid}/award_emoji`, { body: { name: 'heart' } });
    const cases: [string, number[]][] = [
      ['', [c.id, b.id, a.id]],
      ['include_descendant_groups=false', [b.id, a.id]],
      ['order_by=title&sort=asc', [a.id, b.id, c.id]],
      [`author_id=${planner.id}`, [b.id]],
      [`author_username=${planner.username.toUpperCase()}`, [b.id]],
      [`not[author_id]=${planner.id}`, [c.id, a.id]],
      ['labels=x', [b.id, a.id]],
      ['labels=x,y', [a.id]],
      ['labels=None', [c.id]],
      ['labels=Any', [b.id, a.id]],
      ['not[labels]=y', [c.id, b.id]],
      ['state=closed', [b.id]],
      ['state=all', [c.id, b.id, a.id]],
      ['search=ALPHA', [b.id, a.id]],
      ['search=ALPHA&in=title', [a.id]],
      ['search=100%25', [a.id]],
      ['search=%25%25', []],
      ['created_before=2021-01-01T00:00:00Z', [a.id]],
      ['created_after=2021-01-01T00:00:00Z', [c.id, b.id]],
      ['updated_after=2999-01-01T00:00:00Z', []],
      [`iids[]=${b.iid}&include_descendant_groups=false`, [b.id]],
      ['confidential=true', [c.id]],
      ['my_reaction_emoji=heart', [a.id]],
      ['my_reaction_emoji=none', [c.id, b.id]],
      ['not[my_reaction_emoji]=heart', [c.id, b.id]],
    ];
    for (const [query, expected] of cases) {
      const list = await ashlar.root(`GET /groups/${home.id}/epics`, { query });
      expect([query, ids(bodyOf(list, 200))]).toEqual([query, expected]);
    }
    const around = await ashlar.root(`GET /groups/${below.id}/epics`, {
      query: 'include_ancestor_groups=true',
    });
    expect(ids(bodyOf(around, 200))).toEqual([c.id, b.id, a.id]);
    const detailed = await ashlar.root(`GET /groups/${home.id}/epics`, { query: 'with_labels_details=true' });
    expect(bodyOf(detailed, 200)[1].labels).toMatchObject([{ name: 'x', color: '#6699cc' }]);
    const references = bodyOf(await ashlar.root(`GET /groups/${home.id}/epics`), 200)[0].references;
    expect(references).toMatchObject({ short: '&1', relative: `${below.full_path}&1` });
  });
});
