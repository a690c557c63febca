/** Lists of issues: the results of each filter, their order, and their pages. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Called, useApp } from '../../../../../test/support/app.ts';
import { insertIssue, insertLabel, insertMilestone } from '../../../../../test/support/issues.ts';
import {
  type MadeUser,
  makeGroup,
  makeMember,
  makeProject,
  makeUser,
} from '../../../../../test/support/rows.ts';

const ashlar = useApp();
const DAY = 86_400_000;
const dayFromNow = (days: number): string => new Date(Date.now() + days * DAY).toISOString().slice(0, 10);

let ada: MadeUser;
let ben: MadeUser;
let project: number;
let group: number;
const ids: Record<string, number> = {};

beforeAll(async () => {
  ada = await makeUser(ashlar, { username: 'ada' });
  ben = await makeUser(ashlar, { username: 'ben' });
  const made = await makeGroup(ashlar, { owner: ada });
  await makeMember(ashlar, { namespace_id: made.id }, ben, 20);
  group = made.id;
  project = (await makeProject(ashlar, { of: made })).id;
  const old = await insertMilestone(ashlar, {
    project_id: project,
    title: 'Old',
    start_date: dayFromNow(-20),
    due_date: dayFromNow(-5),
  });
  const next = await insertMilestone(ashlar, { project_id: project, title: 'Next', due_date: dayFromNow(9) });
  const at = (days: number) => ({
    created_at: new Date(Date.UTC(2026, 0, days)),
    updated_at: new Date(Date.UTC(2026, 1, 28 - days)),
  });
  const base = { project_id: project, author_id: ada.id };
  const issues = {
    one: {
      ...base,
      ...at(1),
      title: 'Bridge falls',
      labels: ['bug', 'urgent'],
      milestone_id: old,
      weight: 3,
    },
    two: {
      ...base,
      ...at(2),
      title: 'Tower leans',
      description: 'Not a bridge.',
      labels: ['bug'],
      upvotes: 5,
    },
    three: {
      ...{ ...base, ...at(3), author_id: ben.id, title: 'Arch', assignee_ids: [ada.id], milestone_id: next },
      ...{ due_date: dayFromNow(0), issue_type: 'incident', health_status: 'at_risk', weight: 0 },
    },
    four: {
      ...{
        ...base,
        ...at(4),
        title: 'Closed 100%',
        state: 'closed',
        closed_by_id: ben.id,
        closed_at: new Date(),
      },
      ...{ assignee_ids: [ada.id, ben.id], due_date: dayFromNow(-3) },
    },
    five: { ...base, ...at(5), title: 'Secret', confidential: true, relative_position: 1, weight: 8 },
  };
  for (const [name, row] of Object.entries(issues)) ids[name] = (await insertIssue(ashlar, row)).id;
  const { db } = ashlar.app.services.database;
  const stamp = { created_at: new Date(), updated_at: new Date() };
  await db
    .insertInto('award_emoji')
    .values({ name: 'rocket', user_id: ada.id, issue_id: ids.two ?? 0, ...stamp })
    .execute();
  const urgent = await insertLabel(ashlar, { project_id: project, name: 'urgent' });
  await db
    .insertInto('label_priorities')
    .values({ project_id: project, label_id: urgent, priority: 0 })
    .execute();
});

const namesOf = ({ body, status, text }: Called): string[] => {
  expect([status, text.slice(0, 300)]).toEqual([200, text.slice(0, 300)]);
  return body.map((issue: { id: number }) => Object.entries(ids).find(([, id]) => id === issue.id)?.[0]);
};
const list = async (query: string, path = `/projects/${project}/issues`): Promise<string> =>
  namesOf(await ashlar.as(ada.token)(`GET ${path}`, { query })).join(' ');

const filters: [query: string, names: string][] = [
  ['', 'five four three two one'],
  ['state=all', 'five four three two one'],
  ['state=opened', 'five three two one'],
  ['state=closed', 'four'],
  ['labels=bug', 'two one'],
  ['labels=bug,urgent', 'one'],
  ['labels[]=bug&labels[]=urgent', 'one'],
  ['labels=none', 'five four three'],
  ['labels=Any', 'two one'],
  ['labels=unknown', ''],
  ['not[labels]=urgent', 'five four three two'],
  ['not[labels]=bug,urgent', 'five four three'],
  ['milestone=Old', 'one'],
  ['milestone=None', 'five four two'],
  ['milestone=Any', 'three one'],
  ['milestone_id=None', 'five four two'],
  ['milestone_id=Any', 'three one'],
  ['milestone_id=Upcoming', 'three'],
  ['milestone_id=Started', 'one'],
  ['milestone=%23started', 'one'],
  ['not[milestone]=Old', 'five four three two'],
  ['not[milestone_id]=Any', 'five four two'],
  ['iids[]=2&iids[]=4', 'four two'],
  ['iids=2,4', 'four two'],
  ['not[iids]=2,4', 'five three one'],
  ['search=bridge', 'two one'],
  ['search=BRIDGE falls', 'one'],
  ['search=bridge&in=title', 'one'],
  ['search=bridge&in=description', 'two'],
  ['search=100%25', 'four'],
  ['search=_', ''],
  ['author_username=BEN', 'three'],
  ['author_username=nobody', ''],
  ['not[author_username]=ben', 'five four two one'],
  ['not[author_username]=nobody', 'five four three two one'],
  ['assignee_id=None', 'five two one'],
  ['assignee_id=0', 'five two one'],
  ['assignee_id=Any', 'four three'],
  ['assignee_username=ada', 'four three'],
  ['assignee_username[]=ada&assignee_username[]=ben', 'four'],
  ['not[assignee_username]=ben', 'five three two one'],
  ['created_after=2026-01-04', 'five four'],
  ['created_before=2026-01-02T00:00:00Z', 'two one'],
  ['updated_after=2026-02-26', 'two one'],
  ['updated_before=2026-02-24', 'five four'],
  ['due_date=0', 'five two one'],
  ['due_date=any', 'four three'],
  ['due_date=today', 'three'],
  ['due_date=overdue', 'four'],
  ['due_date=', 'five four three two one'],
  ['scope=created_by_me', 'five four two one'],
  ['scope=assigned-to-me', 'four three'],
  ['my_reaction_emoji=rocket', 'two'],
  ['my_reaction_emoji=Any', 'two'],
  ['my_reaction_emoji=None', 'five four three one'],
  ['confidential=true', 'five'],
  ['confidential=false', 'four three two one'],
  ['weight=3', 'one'],
  ['weight=None', 'four two'],
  ['weight=Any', 'five three one'],
  ['not[weight]=3', 'five four three two'],
  ['epic_id=None', 'five four three two one'],
  ['epic_id=7', ''],
  ['health_status=at_risk', 'three'],
  ['health_status=none', 'five four two one'],
  ['health_status=any', 'three'],
  ['iteration_id=None', 'five four three two one'],
  ['iteration_id=0', 'five four three two one'],
  ['iteration_id=Any', ''],
  ['iteration_id=Current', ''],
  ['iteration_id=3', ''],
  ['iteration_title=Sprint', ''],
  ['not[iteration_id]=None', ''],
  ['not[iteration_id]=Current', 'five four three two one'],
  ['not[iteration_title]=Sprint', 'five four three two one'],
  ['issue_type=incident', 'three'],
  ['order_by=created_at&sort=asc', 'one two three four five'],
  ['order_by=updated_at', 'one two three four five'],
  ['order_by=title&sort=asc', 'three one four five two'],
  ['order_by=popularity', 'two five four three one'],
  ['order_by=relative_position&sort=asc', 'five one two three four'],
  ['order_by=weight', 'five one three four two'],
  ['order_by=weight&sort=asc', 'three one five two four'],
  ['order_by=due_date&sort=asc', 'four three one two five'],
  ['order_by=milestone_due&sort=asc', 'one three two four five'],
  ['order_by=label_priority&sort=asc', 'one two three four five'],
  ['order_by=priority&sort=asc', 'one three two four five'],
];

test.each(filters)('a project lists for ?%s: %s', async (query, names) => {
  expect(await list(query)).toBe(names);
});

test.each(filters)('a group lists for ?%s: %s', async (query, names) => {
  expect(await list(query, `/groups/${group}/issues`)).toBe(names);
});

test('filters by ids of people', async () => {
  expect(await list(`author_id=${ben.id}`)).toBe('three');
  expect(await list(`assignee_id=${ben.id}`)).toBe('four');
  expect(await list(`not[assignee_id]=${ben.id}&not[author_id]=${ben.id}`)).toBe('five two one');
  expect(await list(`closed_by_id=${ben.id}`)).toBe('four');
});

test.each([
  ['author_id=1&author_username=ada', 'author_id, author_username are mutually exclusive'],
  ['not[assignee_id]=1&not[assignee_username]=ada', 'assignee_id, assignee_username are mutually exclusive'],
  ['milestone=Old&milestone_id=Any', 'milestone, milestone_id are mutually exclusive'],
  ['iteration_id=1&iteration_title=Sprint', 'iteration_id, iteration_title are mutually exclusive'],
  ['iteration_id=next', 'iteration_id is invalid'],
  ['state=merged', 'state does not have a valid value'],
  ['assignee_id=ada', 'assignee_id is invalid'],
  ['created_after=yesterday', 'created_after is invalid'],
  ['order_by=author', 'order_by does not have a valid value'],
])('?%s is refused', async (query, error) => {
  const { status, body } = await ashlar.root(`GET /projects/${project}/issues`, { query });
  expect([status, body.error]).toEqual([400, error]);
});

test('all issues are those that the caller created, unless a scope is named', async () => {
  expect(await list('', '/issues')).toBe('five four two one');
  expect(await list('scope=assigned_to_me', '/issues')).toBe('four three');
  expect(await list('scope=all', '/issues')).toBe('five four three two one');
  expect((await ashlar.call('GET /issues')).status).toBe(401);
  expect(namesOf(await ashlar.call('GET /issues', { query: 'scope=all' }))).toEqual([]);
});

test('pages have totals and links, by offset', async () => {
  const call = ashlar.as(ada.token);
  for (const path of [`/projects/${project}/issues`, `/groups/${group}/issues`]) {
    const page = await call(`GET ${path}`, { query: 'per_page=2&page=2' });
    expect(namesOf(page)).toEqual(['three', 'two']);
    expect([page.headers.get('x-total'), page.headers.get('x-next-page')]).toEqual(['5', '3']);
    const last = await call(`GET ${path}`, { query: 'labels=bug&per_page=1&page=2' });
    expect([namesOf(last), last.headers.get('x-total')]).toEqual([['one'], '2']);
  }
});

describe('keyset pages', () => {
  const orders = ['created_at', 'updated_at', 'title', 'id', 'weight', 'due_date', 'relative_position'];
  test.each(orders.flatMap((by) => [`${by} asc`, `${by} desc`]))('walk all by %s', async (order) => {
    const [by, sort] = order.split(' ');
    const query = `pagination=keyset&per_page=2&order_by=${by}&sort=${sort}`;
    const seen: string[] = [];
    let path: string | undefined = `/api/v4/projects/${project}/issues?${query}`;
    for (let page = 0; path !== undefined && page < 9; page++) {
      const called: Called = await ashlar.as(ada.token)(`GET ${path}`, { raw: true });
      seen.push(...namesOf(called));
      path = /<([^>]+)>; rel="next"/.exec(called.headers.get('link') ?? '')?.[1]?.replace(ashlar.url, '');
    }
    const byOffset = await list(`order_by=${by}&sort=${sort}`);
    expect(seen.join(' ')).toBe(byOffset);
    expect(seen).toHaveLength(5);
  });

  test('a cursor of another order, or none at all, is refused', async () => {
    const query = 'pagination=keyset&order_by=weight&cursor=';
    const cursor = Buffer.from(JSON.stringify({ title: 'x', id: 1, _kd: 'n' })).toString('base64url');
    for (const text of [cursor, 'x']) {
      const { status, body } = await ashlar.root(`GET /projects/${project}/issues`, { query: query + text });
      expect([status, body.message]).toEqual([400, { cursor: ['is invalid'] }]);
    }
  });
});

test('labels are names, or records', async () => {
  const query = 'iids=1&with_labels_details=true';
  const { body } = await ashlar.root(`GET /projects/${project}/issues`, { query });
  expect(body[0].labels.map((label: { name: string; color: string }) => [label.name, label.color])).toEqual([
    ['bug', '#336699'],
    ['urgent', '#336699'],
  ]);
  const plain = await ashlar.root(`GET /projects/${project}/issues`, { query: 'iids=1' });
  expect(plain.body[0].labels).toEqual(['bug', 'urgent']);
});

test('statistics count what the lists show', async () => {
  const call = ashlar.as(ada.token);
  const counts = async (path: string, query = '') =>
    (await call(`GET ${path}`, { query })).body.statistics.counts;
  for (const path of [`/projects/${project}`, `/groups/${group}`])
    expect(await counts(`${path}/issues_statistics`)).toEqual({ all: 5, closed: 1, opened: 4 });
  expect(await counts('/issues_statistics')).toEqual({ all: 4, closed: 1, opened: 3 });
  expect(await counts(`/projects/${project}/issues_statistics`, 'search=bridge')).toEqual({
    ...{ all: 2, closed: 0, opened: 2 },
  });
  expect((await ashlar.call('GET /issues_statistics')).status).toBe(401);
});
