/** Merge requests of which somebody has a part and is deleted, over HTTP. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers } from '../../../../test/support/factories.ts';
import { commitTo, makeMergeRequest, makeReviewedProject } from '../../../../test/support/merge-requests.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'premium' } });

test.each(['', 'hard_delete=true'])('what a deleted user did is the ghost’s: %j', async (query) => {
  const project = await makeReviewedProject(ashlar);
  const at = `/projects/${project.id}`;
  const { maintainer, developer } = await makeMembers(
    ashlar,
    `projects/${project.id}`,
    'maintainer',
    'developer',
  );
  const as = ashlar.as(maintainer.token);
  const made = async (branch: string) => {
    await commitTo(ashlar, project.id, branch, { [branch]: branch });
    const body = {
      title: branch,
      source_branch: branch,
      target_branch: 'main',
      assignee_ids: [maintainer.id, developer.id],
      reviewer_ids: [maintainer.id],
    };
    return bodyOf(await as(`POST ${at}/merge_requests`, { body }), 201);
  };
  const [merged, closed] = [await made('merged'), await made('closed')];
  const waiting = await makeMergeRequest(ashlar, project.id, 'waiting', { title: 'Draft: waiting' });
  bodyOf(await as(`PUT ${at}/merge_requests/${merged.iid}/merge`), 200);
  bodyOf(await as(`PUT ${at}/merge_requests/${closed.iid}`, { body: { state_event: 'close' } }), 200);
  const auto = { auto_merge: true, should_remove_source_branch: true };
  expect(
    bodyOf(await as(`PUT ${at}/merge_requests/${waiting.iid}/merge`, { body: auto }), 200),
  ).toMatchObject({
    merge_when_pipeline_succeeds: true,
    merge_user: { id: maintainer.id },
  });
  expect((await ashlar.root(`DELETE /users/${maintainer.id}`, { query })).status).toBe(204);
  const read = async ({ iid }: { iid: number }) =>
    (await ashlar.root(`GET ${at}/merge_requests/${iid}`)).body;
  await expect.poll(async () => (await read(merged)).author.username, { timeout: 60_000 }).toBe('ghost');
  const ghost = expect.objectContaining({ username: 'ghost' });
  const parts = { assignees: [expect.objectContaining({ id: developer.id })], reviewers: [] };
  expect(await read(merged)).toMatchObject({ author: ghost, merge_user: ghost, closed_by: null, ...parts });
  expect(await read(closed)).toMatchObject({ author: ghost, merge_user: null, closed_by: ghost, ...parts });
  expect(await read(waiting)).toMatchObject({
    author: { id: 1 },
    merge_user: null,
    merge_when_pipeline_succeeds: false,
    should_remove_source_branch: null,
  });
});
