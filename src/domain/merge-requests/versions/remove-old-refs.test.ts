/** The refs of merge requests that ended two weeks ago: gone, with all that they held still there. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf } from '../../../../test/support/factories.ts';
import { gitIn } from '../../../../test/support/git-histories.ts';
import {
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';
import { overtake } from '../../../../test/support/races.ts';
import { moveClock } from '../../../platform/clock.ts';
import { removeOldRefs } from './remove-old-refs.ts';

const ashlar = useApp();
const DAY_MS = 86_400_000;

async function runAfter(days: number): Promise<void> {
  const back = moveClock(days * DAY_MS);
  await removeOldRefs(ashlar.app.services)({}).finally(back);
}

const refsOf = async (id: number): Promise<string[]> =>
  (await gitIn(ashlar, id, ['for-each-ref', '--format=%(refname)', 'refs/merge-requests']))
    .split('\n')
    .filter(Boolean);

const act = (request: string, body?: Record<string, unknown>) => ashlar.root(request, body && { body });

async function makeEnded() {
  const { id } = await makeReviewedProject(ashlar);
  const path = `/projects/${id}/merge_requests`;
  const made = [];
  for (const branch of ['merged', 'closed', 'open']) made.push(await makeMergeRequest(ashlar, id, branch));
  bodyOf(await act(`GET ${path}/1/merge_ref`), 200);
  bodyOf(await act(`PUT ${path}/1/merge`, { should_remove_source_branch: true }), 200);
  await waitForFollowing(ashlar);
  bodyOf(await act(`PUT ${path}/2`, { state_event: 'close' }), 200);
  return { id, path, heads: made.map(({ sha }) => sha as string) };
}

test('they go after two weeks, and what they held stays', async () => {
  const { id, path, heads } = await makeEnded();
  const all = ['1/head', '1/merge', '2/head', '3/head'].map((name) => `refs/merge-requests/${name}`);
  await runAfter(13);
  expect(await refsOf(id)).toEqual(all);
  for (let run = 0; run < 2; run++) {
    await runAfter(15);
    expect(await refsOf(id)).toEqual(['refs/merge-requests/3/head']);
  }
  bodyOf(await act(`DELETE /projects/${id}/repository/branches/closed`), 204);
  await gitIn(ashlar, id, ['gc', '--quiet', '--prune=now']);
  for (const [place, head] of heads.slice(0, 2).entries()) {
    const one = `${path}/${place + 1}`;
    expect(bodyOf(await act(`GET ${one}/commits`), 200)).toMatchObject([{ id: head }]);
    expect(bodyOf(await act(`GET ${one}/diffs`), 200)).toHaveLength(1);
    const [version] = bodyOf(await act(`GET ${one}/versions`), 200);
    expect(bodyOf(await act(`GET ${one}/versions/${version.id}`), 200)).toMatchObject({
      head_commit_sha: head,
      commits: [{ id: head }],
    });
  }
  const restored = { branch: 'closed', ref: heads[1] };
  expect(bodyOf(await act(`POST /projects/${id}/repository/branches`, restored), 201).commit.id).toBe(
    heads[1],
  );
});

test('reopened, one has its ref again until it ends anew', async () => {
  const { id, path } = await makeEnded();
  await runAfter(15);
  bodyOf(await act(`PUT ${path}/2`, { state_event: 'reopen' }), 200);
  const open = ['2/head', '3/head'].map((name) => `refs/merge-requests/${name}`);
  expect(await refsOf(id)).toEqual(open);
  await runAfter(15);
  expect(await refsOf(id)).toEqual(open);
  bodyOf(await act(`PUT ${path}/2`, { state_event: 'close' }), 200);
  await runAfter(15);
  expect(await refsOf(id)).toEqual(open.slice(1));
});

test('one that is reopened while they are removed keeps its ref', async () => {
  const { id } = await makeEnded();
  await overtake(
    ashlar,
    (tx) =>
      tx`update merge_requests set state = 'opened', closed_at = null where project_id = ${id} and iid = 2`,
    () => runAfter(15),
  );
  expect(await refsOf(id)).toContain('refs/merge-requests/2/head');
});
