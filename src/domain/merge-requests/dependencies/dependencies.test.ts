/** Dependencies over HTTP: who makes and sees them, what they hold up, and no circles however many ask at once. */
import { beforeEach, describe, expect, test } from 'vitest';
import { type Call, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers, makeUser } from '../../../../test/support/factories.ts';
import {
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });
let id = 0;

const pathOf = (iid: number, project = id) => `/projects/${project}/merge_requests/${iid}`;
const block = (blocked: number, body: Record<string, unknown>, call: Call = ashlar.root) =>
  call(`POST ${pathOf(blocked)}/blocks`, { body });
const waitFor = async (blocked: number, blocking: number) =>
  bodyOf(await block(blocked, { blocking_merge_request_iid: blocking }), 201);
const shown = async (iid: number) => bodyOf(await ashlar.root(`GET ${pathOf(iid)}`), 200);

/** A project with the open merge requests 1, 2 and 3. */
beforeEach(async () => {
  ({ id } = await makeReviewedProject(ashlar, { visibility: 'public' }));
  for (const branch of ['one', 'two', 'three']) await makeMergeRequest(ashlar, id, branch);
});

test('are made, listed from both sides, and removed', async () => {
  const { id: blockingId } = await shown(2);
  const made = bodyOf(await block(1, { blocking_merge_request_id: blockingId }), 201);
  expect(made).toMatchObject({
    blocking_merge_request: { id: blockingId, iid: 2 },
    blocked_merge_request: { iid: 1 },
    project_id: id,
  });
  await waitFor(1, 3);
  const blocks = await ashlar.call(`GET ${pathOf(1)}/blocks`, { query: 'per_page=1' });
  expect([blocks.headers.get('x-total'), blocks.body]).toEqual(['2', [made]]);
  expect(bodyOf(await ashlar.call(`GET ${pathOf(2)}/blockees`), 200)).toEqual([made]);
  expect(bodyOf(await ashlar.call(`GET ${pathOf(1)}/blockees`), 200)).toEqual([]);
  expect(bodyOf(await ashlar.call(`GET ${pathOf(1)}/blocks/${made.id}`), 200)).toEqual(made);
  // It is a dependency of the first one alone.
  expect((await ashlar.root(`GET ${pathOf(2)}/blocks/${made.id}`)).status).toBe(404);
  expect((await ashlar.root(`DELETE ${pathOf(2)}/blocks/${made.id}`)).status).toBe(404);
  expect((await ashlar.root(`DELETE ${pathOf(1)}/blocks/${made.id}`)).status).toBe(204);
  expect((await ashlar.root(`DELETE ${pathOf(1)}/blocks/${made.id}`)).status).toBe(404);
});

test('hold a merge up until the last is merged, and a closed one holds it up, too', async () => {
  await waitFor(1, 2);
  await waitFor(1, 3);
  expect((await shown(1)).detailed_merge_status).toBe('merge_request_blocked');
  const [listed] = bodyOf(
    await ashlar.root(`GET /projects/${id}/merge_requests`, { query: 'iids[]=1' }),
    200,
  );
  expect(listed.detailed_merge_status).toBe('merge_request_blocked');
  expect((await ashlar.root(`PUT ${pathOf(1)}/merge`)).status).toBe(405);
  bodyOf(await ashlar.root(`PUT ${pathOf(2)}/merge`), 200);
  bodyOf(await ashlar.root(`PUT ${pathOf(3)}`, { body: { state_event: 'close' } }), 200);
  // The branch has moved, and is to be judged again.
  await waitForFollowing(ashlar);
  expect((await shown(1)).detailed_merge_status).toBe('merge_request_blocked');
  bodyOf(await ashlar.root(`PUT ${pathOf(3)}`, { body: { state_event: 'reopen' } }), 200);
  bodyOf(await ashlar.root(`PUT ${pathOf(3)}/merge`), 200);
  await waitForFollowing(ashlar);
  expect((await shown(1)).detailed_merge_status).toBe('mergeable');
  expect(bodyOf(await ashlar.root(`PUT ${pathOf(1)}/merge`), 200).state).toBe('merged');
});

describe('one that waits for them with auto_merge', () => {
  beforeEach(async () => {
    await waitFor(1, 2);
    const waiting = bodyOf(await ashlar.root(`PUT ${pathOf(1)}/merge`, { body: { auto_merge: true } }), 200);
    expect(waiting).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: true });
  });

  test('is merged when the last of them is', async () => {
    bodyOf(await ashlar.root(`PUT ${pathOf(2)}/merge`), 200);
    await waitForFollowing(ashlar);
    expect((await shown(1)).state).toBe('merged');
  });

  test('is merged when the dependency is removed', async () => {
    const [{ id: blockId }] = bodyOf(await ashlar.root(`GET ${pathOf(1)}/blocks`), 200);
    expect((await ashlar.root(`DELETE ${pathOf(1)}/blocks/${blockId}`)).status).toBe(204);
    await waitForFollowing(ashlar);
    expect((await shown(1)).state).toBe('merged');
  });
});

test('are the business of developers and of the author', async () => {
  const { reporter, developer } = await makeMembers(ashlar, `projects/${id}`, 'reporter', 'developer');
  const stranger = await makeUser(ashlar);
  const body = { blocking_merge_request_iid: 2 };
  expect((await block(1, body, ashlar.call)).status).toBe(401);
  for (const { token } of [reporter, stranger])
    expect((await block(1, body, ashlar.as(token))).status).toBe(403);
  const made = bodyOf(await block(1, body, ashlar.as(developer.token)), 201);
  const removed = await ashlar.as(reporter.token)(`DELETE ${pathOf(1)}/blocks/${made.id}`);
  expect(removed.status).toBe(403);
});

test('into a project out of sight are 404, and hold others up without a name', async () => {
  const hidden = await makeReviewedProject(ashlar, { visibility: 'private' });
  const secret = await makeMergeRequest(ashlar, hidden.id, 'secret');
  const { developer } = await makeMembers(ashlar, `projects/${id}`, 'developer');
  const as = ashlar.as(developer.token);
  const [unseen, missing] = await Promise.all(
    [secret.id, 987_654_321].map((each) => block(1, { blocking_merge_request_id: each }, as)),
  );
  expect([unseen?.status, unseen?.body]).toEqual([404, missing?.body]);
  const byNumber = { blocking_merge_request_iid: 1, blocking_project_id: hidden.id };
  expect((await block(1, byNumber, as)).status).toBe(404);
  const made = bodyOf(await block(1, { ...byNumber, blocking_project_id: hidden.path_with_namespace }), 201);
  expect(made.blocking_merge_request.references.full).toBe(`${hidden.path_with_namespace}!1`);
  const [block1] = bodyOf(await as(`GET ${pathOf(1)}/blocks`), 200);
  expect(block1).toEqual({ id: made.id, project_id: id, blocked_merge_request: expect.anything() });
  const seen = bodyOf(await as(`GET ${pathOf(1)}`), 200);
  expect(seen.detailed_merge_status).toBe('merge_request_blocked');
  // Its owners see what waits for it.
  const [waiting] = bodyOf(await ashlar.root(`GET ${pathOf(1, hidden.id)}/blockees`), 200);
  expect(waiting.blocked_merge_request).toMatchObject({ iid: 1, project_id: id });
  expect((await as(`DELETE ${pathOf(1)}/blocks/${made.id}`)).status).toBe(204);
});

test.each<[what: string, body: Record<string, unknown>, status: number]>([
  ['of itself', { blocking_merge_request_iid: 1 }, 422],
  ['that exists', { blocking_merge_request_iid: 2 }, 409],
  ['without a blocker', {}, 400],
  ['with two blockers', { blocking_merge_request_iid: 2, blocking_merge_request_id: 1 }, 400],
  ['of a number that is not there', { blocking_merge_request_iid: 99 }, 404],
])('one %s is refused', async (_what, body, status) => {
  await waitFor(1, 2);
  expect((await block(1, body)).status).toBe(status);
});

test('of other projects leave the ten of one’s own', async () => {
  const other = await makeReviewedProject(ashlar);
  await makeMergeRequest(ashlar, other.id, 'topic');
  const { id: blockingId } = await shown(2);
  const { sql } = ashlar.app.services.database;
  // Nobody who waits is looked at: merge requests of any state count.
  const fill = (project: number, count: number) => sql`
    with made as (insert into merge_requests (project_id, iid, source_project_id, title, source_branch, target_branch,
        author_id, draft, state, created_at, updated_at)
      select ${project}, 100 + g, ${project}, 'Waits', 'waits-' || g, 'main', 1, false, 'closed', now(), now()
      from generate_series(1, ${count}::integer) g returning id)
    insert into merge_request_blocks (blocking_id, blocked_id, created_at) select ${blockingId}, id, now() from made`;
  await fill(other.id, 10);
  const body = { blocking_merge_request_id: blockingId };
  const refused = await ashlar.root(`POST ${pathOf(1, other.id)}/blocks`, { body });
  expect(refused.status).toBe(422);
  await fill(id, 9);
  bodyOf(await block(1, body), 201);
  expect((await block(3, body)).status).toBe(422);
});

test('make no circle, whoever is the fastest', async () => {
  const circle = [
    [1, 2],
    [2, 3],
    [3, 1],
  ] as const;
  const made = await Promise.all(
    circle.map(([blocked, blocking]) => block(blocked, { blocking_merge_request_iid: blocking })),
  );
  expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 422]);
});

test('go with either merge request', async () => {
  await waitFor(1, 2);
  await waitFor(3, 1);
  expect((await ashlar.root(`DELETE ${pathOf(1)}`)).status).toBe(204);
  expect(bodyOf(await ashlar.root(`GET ${pathOf(3)}/blocks`), 200)).toEqual([]);
  expect((await shown(3)).detailed_merge_status).toBe('mergeable');
});
