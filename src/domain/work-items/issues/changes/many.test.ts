/** Lists by a property that very many issues share: who sees how many of them, however they are found and counted. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../../../test/support/app.ts';
import { insertLabel } from '../../../../../test/support/issues.ts';
import {
  type MadeUser,
  makeGroup,
  makeMember,
  makeProject,
  makeUser,
} from '../../../../../test/support/rows.ts';

const COUNT_LIMIT = 600;
const ashlar = useApp({ env: { ASHLAR_PAGINATION_COUNT_LIMIT: String(COUNT_LIMIT) } });

/** In two projects by turns, a minute apart. Every hundredth is confidential, the newest 1,250 are closed. */
const ISSUES = 1_300;
const OPEN = 50;

let owner: MadeUser;
let guest: MadeUser;
let group = 0;
let other = 0;

beforeAll(async () => {
  owner = await makeUser(ashlar, { username: 'owner' });
  guest = await makeUser(ashlar, { username: 'guest' });
  const made = await makeGroup(ashlar, { owner });
  const first = await makeProject(ashlar, { of: made });
  const second = await makeProject(ashlar, { of: made });
  [group, other] = [made.id, second.id];
  await makeMember(ashlar, { project_id: other }, guest, 10);
  const projects = [first.id, second.id];
  const { sql } = ashlar.app.services.database;
  await sql`
    insert into issues (iid, project_id, author_id, title, state, confidential, relative_position, created_at, updated_at)
    select i, (${projects}::bigint[])[1 + i % 2], ${owner.id}, 'Issue ' || i,
      case when i <= ${OPEN}::integer then 'opened' else 'closed' end, i % 100 = 1, i, t, t
    from (select i, timestamptz '2026-01-01' + i * interval '1 minute' as t
      from generate_series(1, ${ISSUES}::integer) i) made order by i`;
  await sql`
    with big as (
      insert into milestones (iid, namespace_id, title, created_at, updated_at)
      values (1, ${group}, 'Big', now(), now()) returning id)
    update issues set milestone_id = big.id from big`;
  await sql`
    insert into project_counters (project_id, issues) select project_id, max(iid) from issues group by project_id`;
  // `common` are all, by a label of each project; `broad` are those but the oldest 200.
  for (const project_id of projects)
    for (const [name, from] of [
      ['common', 1],
      ['broad', 201],
    ] as const)
      await sql`
        insert into label_links (label_id, issue_id)
        select ${await insertLabel(ashlar, { project_id, name })}::bigint, id from issues
        where project_id = ${project_id} and iid >= ${from}`;
});

/** The numbers on the first page, and the total where it was counted to its end. */
async function listed(user: MadeUser, query: string): Promise<{ iids: number[]; total: string | null }> {
  const called = await ashlar.as(user.token)(`GET /groups/${group}/issues`, { query: `per_page=3&${query}` });
  expect([called.status, called.text.slice(0, 200)]).toEqual([200, called.text.slice(0, 200)]);
  return {
    iids: called.body.map(({ iid }: { iid: number }) => iid),
    total: called.headers.get('x-total'),
  };
}

describe('by a label', () => {
  test.each([
    ['labels=common', [1300, 1299, 1298], null],
    ['labels=common&sort=asc', [1, 2, 3], null],
    // All were read, more than are counted.
    ['labels=broad', [1300, 1299, 1298], null],
    ['labels=broad&order_by=title&sort=asc', [1000, 1001, 1002], null],
    // None of the newest, so that all of them are read.
    ['labels=common&state=opened', [50, 49, 48], '50'],
    ['labels=common&state=opened&confidential=true', [1], '1'],
    ['labels=broad&state=opened', [], '0'],
    ['labels=broad&confidential=true', [1201, 1101, 1001], '11'],
    ['labels=common,broad&confidential=true&sort=asc', [201, 301, 401], '11'],
  ])('?%s: %j, and %j in all', async (query, iids, total) => {
    expect(await listed(owner, query)).toEqual({ iids, total });
  });
});

test('who sees one of the projects sees no others, and nothing confidential of others', async () => {
  await ashlar.app.services.database.sql`
    update issues set confidential = true where project_id = ${other} and iid % 4 = 1`;
  const seen = async (query: string) => (await listed(guest, query)).total;
  // Of the 650 with odd numbers 325 are confidential now, which are those that leave 1 when divided by 4.
  expect(await listed(guest, 'labels=common')).toEqual({ iids: [1299, 1295, 1291], total: '325' });
  expect(await seen('labels=broad')).toBe('275');
  expect(await seen('labels=common&confidential=true')).toBe('0');
  expect(await seen('labels=common&state=opened')).toBe('12');
});

test.each(['author_username=owner', 'milestone=Big'])('?%s: all of them', async (query) => {
  expect(await listed(owner, query)).toEqual({ iids: [1300, 1299, 1298], total: null });
  expect(await listed(guest, query)).toEqual({ iids: [1299, 1295, 1291], total: '325' });
});
