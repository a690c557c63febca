/** Merge trains over HTTP, in a project that has none. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers } from '../../../../test/support/factories.ts';
import { makeMergeRequest, makeReviewedProject } from '../../../../test/support/merge-requests.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });

test('are empty, and take nobody aboard', async () => {
  const { id } = await makeReviewedProject(ashlar, { visibility: 'public' });
  const { sha } = await makeMergeRequest(ashlar, id, 'topic');
  const path = `/projects/${id}/merge_trains`;
  for (const list of [path, `${path}/main`])
    expect(bodyOf(await ashlar.call(`GET ${list}`), 200)).toEqual([]);
  expect((await ashlar.root(`GET ${path}/merge_requests/1`)).status).toBe(404);
  const add = (body: Record<string, unknown>, iid = 1) =>
    ashlar.root(`POST ${path}/merge_requests/${iid}`, { body });
  expect((await add({}, 2)).status).toBe(404);
  expect((await add({ sha: 'f'.repeat(40) })).status).toBe(409);
  expect(await add({ sha })).toMatchObject({
    status: 400,
    body: { message: '400 Bad request - Merge trains are not enabled for this project' },
  });
  const { developer } = await makeMembers(ashlar, `projects/${id}`, 'developer');
  expect((await ashlar.as(developer.token)(`POST ${path}/merge_requests/1`)).status).toBe(403);
  expect(bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/1`), 200).state).toBe('opened');
});
