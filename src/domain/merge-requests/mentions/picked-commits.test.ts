/** Merged changes that are picked into other branches. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf } from '../../../../test/support/factories.ts';
import {
  commitTo,
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';

const ashlar = useApp();

test.each([
  ['its merge commit', {}, {}, 'merge_commit_sha'],
  ['its squashed commit', {}, { squash: true }, 'squash_commit_sha'],
  ['its newest commit, where it made none', { merge_method: 'ff' }, {}, 'sha'],
])('a merge request is told that %s was picked', async (_, settings, merge, name) => {
  const { id, path_with_namespace } = await makeReviewedProject(ashlar);
  bodyOf(await ashlar.root(`PUT /projects/${id}`, { body: { merge_method: 'merge', ...settings } }), 200);
  await commitTo(ashlar, id, 'releases/next', { 'next.txt': 'next\n' });
  await makeMergeRequest(ashlar, id, 'topic');
  await waitForFollowing(ashlar);
  const path = `/projects/${id}/merge_requests/1` as const;
  const merged = bodyOf(await ashlar.root(`PUT ${path}/merge`, { body: merge }), 200);
  const pick = (body: Record<string, unknown>) =>
    ashlar.root(`POST /projects/${id}/repository/commits/${merged[name]}/cherry_pick`, { body });
  bodyOf(await pick({ branch: 'releases/next', dry_run: true }), 200);
  const picked = bodyOf(await pick({ branch: 'releases/next' }), 201);
  await waitForFollowing(ashlar);
  const notes = async (): Promise<string[]> =>
    bodyOf(await ashlar.root(`GET ${path}/notes`), 200)
      .map(({ body }: { body: string }) => body)
      .filter((body: string) => body.startsWith('picked'));
  expect(await notes()).toEqual([
    `picked the changes into the branch [\`releases/next\`](/${path_with_namespace}/-/tree/releases/next) with commit ${picked.id}`,
  ]);
});
