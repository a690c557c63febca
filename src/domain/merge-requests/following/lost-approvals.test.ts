/** Approvals after pushes, over HTTP. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers } from '../../../../test/support/factories.ts';
import {
  commitTo,
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'ultimate' } });

/** A project with an approved merge request of root's that needs one approval. */
async function makeApproved(configuration: Record<string, unknown> = {}) {
  const { id } = await makeReviewedProject(ashlar);
  await makeMergeRequest(ashlar, id, 'topic');
  const { developer } = await makeMembers(ashlar, `projects/${id}`, 'developer');
  const path = `/projects/${id}/merge_requests/1`;
  const body = { approvals_before_merge: 1, ...configuration };
  bodyOf(await ashlar.root(`POST /projects/${id}/approvals`, { body }), 201);
  bodyOf(await ashlar.root(`PUT ${path}`, { body: { reviewer_ids: [developer.id] } }), 200);
  const approve = async () => bodyOf(await ashlar.as(developer.token)(`POST ${path}/approve`), 201);
  await approve();
  const count = async () => bodyOf(await ashlar.root(`GET ${path}/approvals`), 200).approved_by.length;
  const merge = () => ashlar.root(`PUT ${path}/merge`);
  return { id, path, developer, approve, count, merge };
}

test('go with a push, and nothing is merged that nobody approved, followed or not', async () => {
  const { id, path, count, merge, approve } = await makeApproved();
  await commitTo(ashlar, id, 'topic', { 'more.txt': 'more\n' });
  expect((await merge()).status).toBe(405);
  expect(await count()).toBe(0);
  const [reviewer] = bodyOf(await ashlar.root(`GET ${path}/reviewers`), 200);
  expect(reviewer.state).toBe('unapproved');
  await waitForFollowing(ashlar);
  await approve();
  bodyOf(await merge(), 200);
});

test('stay where the project wants that', async () => {
  const { id, count, merge } = await makeApproved({ reset_approvals_on_push: false });
  await commitTo(ashlar, id, 'topic', { 'more.txt': 'more\n' });
  await waitForFollowing(ashlar);
  expect(await count()).toBe(1);
  bodyOf(await merge(), 200);
});

test('go with a push to files of theirs alone, where the project wants that', async () => {
  const { id, path, developer, approve, count, merge } = await makeApproved({
    reset_approvals_on_push: false,
    selective_code_owner_removals: true,
  });
  const { maintainer } = await makeMembers(ashlar, `projects/${id}`, 'maintainer');
  await commitTo(ashlar, id, 'main', {
    CODEOWNERS: `/docs/ @${developer.username}\n^[Style]\n*.rb @@maintainer\n`,
  });
  bodyOf(await ashlar.as(maintainer.token)(`POST ${path}/approve`), 201);
  const push = async (files: Record<string, string>) => {
    await commitTo(ashlar, id, 'topic', files);
    await waitForFollowing(ashlar);
    const { approved_by } = bodyOf(await ashlar.root(`GET ${path}/approvals`), 200);
    return approved_by.map(({ user }: { user: { id: number } }) => user.id).sort();
  };
  const both = [developer.id, maintainer.id].sort();
  const resets = async (): Promise<string[]> =>
    bodyOf(await ashlar.root(`GET ${path}/notes`, { query: 'sort=asc' }), 200)
      .map(({ body }: { body: string }) => body)
      .filter((body: string) => body.startsWith('reset approvals'));
  expect(await push({ 'more.txt': 'more\n' })).toEqual(both);
  expect(await resets()).toEqual([]);
  expect(await push({ 'docs/a.md': 'text\n' })).toEqual([maintainer.id]);
  expect(await resets()).toEqual([`reset approvals from @${developer.username} by pushing to the branch`]);
  const reviewers = bodyOf(await ashlar.root(`GET ${path}/reviewers`), 200);
  expect(reviewers.map(({ state }: { state: string }) => state)).toEqual(['unapproved']);
  await approve();
  // What is owned and as it was before is no change of theirs.
  expect(await push({ 'code.rb': 'code\n' })).toEqual([developer.id]);
  bodyOf(await ashlar.as(maintainer.token)(`POST ${path}/approve`), 201);
  // A target that was merged into the source is no change, whoever owns what is in it.
  await commitTo(ashlar, id, 'main', { 'docs/b.md': 'text\n' });
  expect((await ashlar.root(`PUT ${path}/rebase`)).status).toBe(202);
  await waitForFollowing(ashlar);
  expect(await count()).toBe(2);
  // A push that nobody has followed yet when it is merged.
  await commitTo(ashlar, id, 'topic', { 'docs/a.md': 'other\n', 'code.rb': 'other\n' });
  expect((await merge()).status).toBe(405);
  expect(await count()).toBe(0);
  await waitForFollowing(ashlar);
  const [, , last] = await resets();
  expect(last).toBe(
    `reset approvals from @${developer.username} and @${maintainer.username} by pushing to the branch`,
  );
});

test('stay when the same change is made upon another commit', async () => {
  const { id, path, count } = await makeApproved();
  await commitTo(ashlar, id, 'main', { 'other.txt': 'other\n' });
  expect((await ashlar.root(`PUT ${path}/rebase`)).status).toBe(202);
  await waitForFollowing(ashlar);
  expect(bodyOf(await ashlar.root(`GET ${path}/versions`), 200)).toHaveLength(2);
  expect(await count()).toBe(1);
});

test('go with the target, with a push while it was closed, and when a review is asked for again', async () => {
  const { id, path, developer, approve, count } = await makeApproved({ reset_approvals_on_push: false });
  await commitTo(ashlar, id, 'stable', { 'stable.txt': 'stable\n' });
  bodyOf(await ashlar.root(`PUT ${path}`, { body: { target_branch: 'stable' } }), 200);
  expect(await count()).toBe(0);
  await approve();
  bodyOf(await ashlar.root(`PUT ${path}`, { body: { state_event: 'close' } }), 200);
  await commitTo(ashlar, id, 'topic', { 'more.txt': 'more\n' });
  bodyOf(await ashlar.root(`PUT ${path}`, { body: { state_event: 'reopen' } }), 200);
  expect(await count()).toBe(0);
  await approve();
  const body = { body: `/request_review @${developer.username}` };
  expect((await ashlar.root(`POST ${path}/notes`, { body })).status).toBe(202);
  expect(await count()).toBe(0);
  const [note] = bodyOf(await ashlar.root(`GET ${path}/notes`), 200);
  expect(note.body).toBe(`requested review from @${developer.username} and removed approval`);
});
