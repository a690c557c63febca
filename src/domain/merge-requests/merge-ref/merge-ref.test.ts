/** The ref of a merge over HTTP: what git would make, made once, and anew where a branch has moved. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers } from '../../../../test/support/factories.ts';
import { gitIn, importCommit, openBetween } from '../../../../test/support/git-histories.ts';
import { gitRunsDuring } from '../../../../test/support/git-runs.ts';
import {
  commitTo,
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';

const ashlar = useApp();

const tree = (id: number, revision: string) => gitIn(ashlar, id, ['rev-parse', `${revision}^{tree}`]);

test('holds both branches, is fetched by its name, and follows the target', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const { sha } = await makeMergeRequest(ashlar, id, 'topic');
  const path = `/projects/${id}/merge_requests/1/merge_ref`;
  const main = (await gitIn(ashlar, id, ['rev-parse', 'main'])).trim();
  const asked = await Promise.all(Array.from({ length: 6 }, () => ashlar.root(`GET ${path}`)));
  const [{ commit_id: made }] = asked.map((one) => bodyOf(one, 200));
  expect(asked.map(({ body }) => body)).toEqual(Array(6).fill({ commit_id: made }));
  const shown = await gitIn(ashlar, id, ['log', '-1', '--format=%H %P%n%B', 'refs/merge-requests/1/merge']);
  expect(shown.trim()).toBe(`${made} ${main} ${sha}\nMerge ${sha} into ${main}`);
  // Nothing else changed in main, so that the merge has the source's files.
  expect(await tree(id, made)).toBe(await tree(id, sha));
  const later = await commitTo(ashlar, id, 'main', { 'c.txt': 'c\n' });
  const next = bodyOf(await ashlar.root(`GET ${path}`), 200).commit_id;
  expect((await gitIn(ashlar, id, ['log', '-1', '--format=%P', next])).trim()).toBe(`${later} ${sha}`);
  expect((await gitIn(ashlar, id, ['ls-tree', '--name-only', next])).trim().split('\n')).toEqual([
    'a.txt',
    'c.txt',
    'topic.txt',
  ]);
  expect(bodyOf(await ashlar.root(`GET ${path}`), 200).commit_id).toBe(next);
});

test('is not there for conflicts, nothing, unrelated histories, lost branches, and what is not open', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const refused = { status: 400, body: { message: 'Merge request is not mergeable' } };
  const ask = (iid: number) => ashlar.root(`GET /projects/${id}/merge_requests/${iid}/merge_ref`);
  await commitTo(ashlar, id, 'conflict', { 'a.txt': 'two\n' });
  await gitIn(ashlar, id, ['branch', 'nothing', 'main']);
  await gitIn(ashlar, id, ['branch', 'lost', 'main']);
  await importCommit(ashlar, id, 'unrelated', [{ path: 'a.txt', text: 'a' }]);
  await makeMergeRequest(ashlar, id, 'closed');
  for (const branch of ['conflict', 'nothing', 'unrelated']) await openBetween(ashlar, id, branch);
  await openBetween(ashlar, id, 'conflict', 'lost');
  expect((await ask(1)).status).toBe(200);
  await commitTo(ashlar, id, 'main', { 'a.txt': 'three\n' });
  await gitIn(ashlar, id, ['branch', '-D', 'lost']);
  bodyOf(await ashlar.root(`PUT /projects/${id}/merge_requests/1`, { body: { state_event: 'close' } }), 200);
  for (const iid of [1, 2, 3, 4, 5]) expect(await ask(iid)).toMatchObject(refused);
  expect(await gitIn(ashlar, id, ['for-each-ref', 'refs/merge-requests/2/merge'])).toBe('');
  expect((await ask(99)).status).toBe(404);
  const { guest } = await makeMembers(ashlar, `projects/${id}`, 'guest');
  expect((await ashlar.as(guest.token)(`GET /projects/${id}/merge_requests/1/merge_ref`)).status).toBe(403);
});

test('a conflict that is known is not merged anew each time it is asked for', async () => {
  const { id } = await makeReviewedProject(ashlar);
  await commitTo(ashlar, id, 'conflict', { 'a.txt': 'two\n' });
  await openBetween(ashlar, id, 'conflict');
  await commitTo(ashlar, id, 'main', { 'a.txt': 'three\n' });
  await waitForFollowing(ashlar);
  const ask = async () => {
    const { status } = await ashlar.root(`GET /projects/${id}/merge_requests/1/merge_ref`);
    expect(status).toBe(400);
  };
  expect(await gitRunsDuring(ask)).not.toHaveProperty('merge-tree');
  // What it was judged for is not there any more.
  await commitTo(ashlar, id, 'main', { 'a.txt': 'one\n' });
  bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/1/merge_ref`), 200);
});
