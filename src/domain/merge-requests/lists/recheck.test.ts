/** `with_merge_status_recheck`: who lists merge requests may have those judged whose merge status is not known. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { addMember, bodyOf, type MadeUser, makeGroup, makeUser } from '../../../../test/support/factories.ts';
import {
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';

const app = useApp();
let group: { id: number };
let project: { id: number };
let [developer, reporter]: MadeUser[] = [];

/** The statuses of the list after what it asked for is done. */
async function recheck(path: string, token: string, query = 'with_merge_status_recheck=true') {
  const list = `GET ${path}/merge_requests` as 'GET /';
  bodyOf(await app.as(token)(list, { query: `scope=all&${query}` }), 200);
  await waitForFollowing(app);
  const records = bodyOf(await app.root(list, { query: 'scope=all&sort=asc' }), 200);
  return records.map(({ merge_status }: { merge_status: string }) => merge_status);
}

/** As after a push whose following did not come to judge them. */
const forget = (): Promise<unknown> => {
  const { sql } = app.app.services.database;
  return sql`update merge_requests set merge_status = case merge_status
    when 'cannot_be_merged' then 'cannot_be_merged_recheck' else 'unchecked' end, judged_target_sha = null`;
};

const known = ['can_be_merged', 'can_be_merged'];
const unknown = ['unchecked', 'unchecked'];

beforeAll(async () => {
  group = await makeGroup(app, { visibility: 'public' });
  project = await makeReviewedProject(app, { namespace_id: group.id, visibility: 'public' });
  [developer, reporter] = [await makeUser(app), await makeUser(app)];
  await addMember(app, `projects/${project.id}`, developer, 30);
  await addMember(app, `projects/${project.id}`, reporter, 20);
  for (const branch of ['one', 'two']) await makeMergeRequest(app, project.id, branch);
  await waitForFollowing(app);
});

test('of a project, a group and everywhere', async () => {
  for (const path of [`/projects/${project.id}`, `/groups/${group.id}`, '']) {
    await forget();
    expect(await recheck(path, developer?.token ?? '')).toEqual(known);
  }
  await forget();
  const root = bodyOf(
    await app.root('GET /merge_requests', { query: 'scope=all&with_merge_status_recheck=true' }),
    200,
  );
  expect(root).toHaveLength(2);
  await waitForFollowing(app);
  expect(await recheck('', developer?.token ?? '', '')).toEqual(known);
});

test('not unless it is asked for, nor for who changes no merge requests', async () => {
  await forget();
  const path = `/projects/${project.id}`;
  for (const query of [
    '',
    'with_merge_status_recheck=false',
    'with_merge_status_recheck=true&search=nothing',
  ])
    expect(await recheck(path, developer?.token ?? '', query)).toEqual(unknown);
  expect(await recheck(path, reporter?.token ?? '')).toEqual(unknown);
  expect(await recheck('', reporter?.token ?? '')).toEqual(unknown);
  expect(
    (await app.call(`GET ${path}/merge_requests` as 'GET /', { query: 'with_merge_status_recheck=true' }))
      .status,
  ).toBe(200);
  await waitForFollowing(app);
  expect(await recheck(path, reporter?.token ?? '', '')).toEqual(unknown);
});

test('what was a conflict is looked at again, too', async () => {
  const { sql } = app.app.services.database;
  const [row] = await sql<{ iid: number }[]>`select iid from merge_requests order by id limit 1`;
  await sql`update merge_requests set merge_status = 'cannot_be_merged_recheck' where iid = ${row?.iid ?? 0}`;
  expect(await recheck(`/groups/${group.id}`, developer?.token ?? '')).toEqual(known);
});
