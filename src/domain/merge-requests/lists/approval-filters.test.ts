/** Lists of merge requests by whether they are approved, and by who is asked to: in a project, a group, everywhere. */
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeUser,
} from '../../../../test/support/factories.ts';
import { commitTo, makeMergeRequest, makeReviewedProject } from '../../../../test/support/merge-requests.ts';

const app = useApp({ env: { ASHLAR_TIER: 'ultimate' } });

let group: { id: number };
let [ruled, bare]: MadeProject[] = [];
let [developer, named, member, above]: MadeUser[] = [];

const addRule = async (place: string, body: Record<string, unknown>) =>
  bodyOf(
    await app.root(`POST /${place}/approval_rules` as 'POST /', {
      body: { name: 'Rule', approvals_required: 1, ...body },
    }),
    201,
  );

/** The titles of the list, sorted; of the project, the group and everywhere they must be the same. */
async function listed(query: string, places = [`/groups/${group.id}`, '']): Promise<string[]> {
  const lists: string[][] = [];
  for (const place of places) {
    const { body, headers } = await app.root(`GET ${place}/merge_requests` as 'GET /', {
      query: `scope=all&per_page=50&${query}`,
    });
    expect(headers.get('x-total')).toBe(String(body.length));
    lists.push(body.map(({ title }: { title: string }) => title).sort());
  }
  for (const list of lists) expect(list).toEqual(lists[0]);
  return lists[0] ?? [];
}
const inProject = (project: MadeProject | undefined, query: string) =>
  listed(query, [`/projects/${project?.id}`]);

beforeAll(async () => {
  group = await makeGroup(app);
  const inner = await makeGroup(app, { parent_id: group.id });
  const team = await makeGroup(app);
  [developer, named, member, above] = [
    await makeUser(app),
    await makeUser(app),
    await makeUser(app),
    await makeUser(app),
  ];
  ruled = await makeReviewedProject(app, { namespace_id: inner.id });
  bare = await makeReviewedProject(app, { namespace_id: group.id });
  for (const user of [developer, named]) await addMember(app, `projects/${ruled.id}`, user, 30);
  await addMember(app, `projects/${bare.id}`, developer, 30);
  await addMember(app, `groups/${team.id}`, member, 30);
  await addMember(app, `groups/${group.id}`, above, 30);
  // Everything has owners, whom no branch asks: their rules change no list.
  for (const { id } of [ruled, bare]) await commitTo(app, id, 'main', { CODEOWNERS: '* @root\n' });
  for (const [project, title] of [
    [ruled, 'plain'],
    [ruled, 'own'],
    [bare, 'bare'],
    [bare, 'approved'],
  ] as const)
    await makeMergeRequest(app, project.id, title, { title });
  const approve = `POST /projects/${bare.id}/merge_requests/2/approve` as const;
  bodyOf(await app.as(developer.token)(approve), 201);
  await addRule(`projects/${ruled.id}`, { user_ids: [named.id], group_ids: [team.id] });
  await addRule(`projects/${ruled.id}/merge_requests/2`, { name: 'Own', user_ids: [developer.id] });
});

test('approved', async () => {
  expect(await listed('approved=yes')).toEqual(['approved']);
  expect(await listed('approved=no')).toEqual(['bare', 'own', 'plain']);
  expect(await inProject(ruled, 'approved=yes')).toEqual([]);
  expect(await inProject(bare, 'approved=no')).toEqual(['bare']);
  expect(
    (await app.root(`GET /projects/${bare?.id}/merge_requests`, { query: 'approved=maybe' })).status,
  ).toBe(400);
});

test('approvers, by name and by group; own rules stand in the place of the project’s', async () => {
  expect(await listed(`approver_ids=${named?.id}`)).toEqual(['plain']);
  expect(await listed(`approver_ids[]=${member?.id}`)).toEqual(['plain']);
  expect(await listed(`approver_ids[]=${member?.id}&approver_ids[]=${named?.id}`)).toEqual(['plain']);
  expect(await listed(`approver_ids[]=${developer?.id}&approver_ids[]=${named?.id}`)).toEqual([]);
  expect(await listed(`approver_ids=${developer?.id}`)).toEqual(['own']);
  expect(await inProject(ruled, `approver_ids=${developer?.id}`)).toEqual(['own']);
  expect(await inProject(bare, `approver_ids=${developer?.id}`)).toEqual([]);
  expect(await listed('approver_ids=999999999')).toEqual([]);
});

test('with any rule, or none', async () => {
  expect(await listed('approver_ids=Any')).toEqual(['own', 'plain']);
  expect(await listed('approver_ids=None')).toEqual(['approved', 'bare']);
  expect(await listed('approver_ids=None&approved=yes')).toEqual(['approved']);
  const wrong = await app.root(`GET /projects/${bare?.id}/merge_requests`, { query: 'approver_ids=me' });
  expect(wrong.status).toBe(400);
});

test('code owners, whose rules stand in nobody’s place', async () => {
  const { id } = await makeReviewedProject(app, { namespace_id: group.id });
  const team = await makeGroup(app);
  await addMember(app, `groups/${team.id}`, developer ?? { id: 0 }, 30);
  const [role, reader] = [await makeUser(app), await makeUser(app)];
  await addMember(app, `projects/${id}`, role, 40);
  await addMember(app, `projects/${id}`, reader, 20);
  const share = { group_id: team.id, group_access: 30 };
  bodyOf(await app.root(`POST /projects/${id}/share`, { body: share }), 201);
  const file = `* @${named?.username}\n[Docs]\n* @${team.full_path} ${member?.username}@example.com @@maintainer\n`;
  await commitTo(app, id, 'main', { CODEOWNERS: file });
  await addRule(`projects/${id}`, { user_ids: [above?.id] });
  await makeMergeRequest(app, id, 'owned', { title: 'owned' });
  const titles = (query: string) => listed(query, [`/projects/${id}`]);
  for (const user of [named, above, developer, member, role])
    expect(await titles(`approver_ids=${user?.id}`)).toEqual(['owned']);
  expect(await titles(`approver_ids=${reader.id}`)).toEqual([]);
  const seenBy = async (call: typeof app.root, user: MadeUser | undefined) =>
    bodyOf(await call(`GET /projects/${id}/merge_requests`, { query: `approver_ids=${user?.id}` }), 200)
      .length;
  const as = (user: MadeUser | undefined) => app.as(user?.token ?? '');
  // The group is private, and the address is shown to nobody.
  expect([await seenBy(as(reader), developer), await seenBy(as(reader), member)]).toEqual([0, 0]);
  expect([await seenBy(as(reader), role), await seenBy(as(developer), developer)]).toEqual([1, 1]);
  expect(await titles('approver_ids=Any')).toEqual(['owned']);
  expect(await titles('approver_ids=None')).toEqual([]);
  bodyOf(await app.root(`DELETE /projects/${id}/merge_requests/1`), 204);
});

test('rules of a group are for all below it, and hold beside own ones', async () => {
  await addRule(`groups/${group.id}`, { name: 'Above', user_ids: [above?.id] });
  const all = ['approved', 'bare', 'own', 'plain'];
  expect(await listed(`approver_ids=${above?.id}`)).toEqual(all);
  expect(await listed('approver_ids=Any')).toEqual(all);
  expect(await inProject(bare, 'approver_ids=None')).toEqual([]);
});

test('who sees less is listed less', async () => {
  const outsider = await makeUser(app);
  const list = async (query: string) =>
    bodyOf(await app.as(outsider.token)('GET /merge_requests', { query: `scope=all&${query}` }), 200);
  for (const query of ['approved=yes', 'approver_ids=Any', `approver_ids=${named?.id}`])
    expect(await list(query)).toEqual([]);
});

test('who is in a group that the caller does not see is not told', async () => {
  const { id } = await makeReviewedProject(app, { visibility: 'public' });
  const team = await makeGroup(app);
  const [insider, outsider] = [await makeUser(app), await makeUser(app)];
  await addMember(app, `groups/${team.id}`, insider, 30);
  await addRule(`projects/${id}`, { group_ids: [team.id] });
  await makeMergeRequest(app, id, 'topic');
  const count = async (user: MadeUser) =>
    bodyOf(
      await app.as(user.token)(`GET /projects/${id}/merge_requests`, { query: `approver_ids=${insider.id}` }),
      200,
    ).length;
  expect([await count(insider), await count(outsider)]).toEqual([1, 0]);
});
