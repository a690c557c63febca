/** Merge requests into a branch that was merged and deleted, over HTTP. */
import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf } from '../../../../test/support/factories.ts';
import {
  commitTo,
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';

const ashlar = useApp();

const show = async (id: number, iid = 1) =>
  bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/${iid}`), 200);

describe('a branch that was merged and is gone', () => {
  test('leaves those into it to the target of what was merged, the oldest four', async () => {
    const { id } = await makeReviewedProject(ashlar);
    await makeMergeRequest(ashlar, id, 'base', { remove_source_branch: true });
    const into = { start: 'base' };
    for (const branch of ['one', 'two', 'three', 'four', 'five']) {
      await commitTo(ashlar, id, branch, { [`${branch}.txt`]: branch }, into);
      const body = { title: branch, source_branch: branch, target_branch: 'base' };
      bodyOf(await ashlar.root(`POST /projects/${id}/merge_requests`, { body }), 201);
    }
    const wait = { body: { title: 'Draft: two' } };
    bodyOf(await ashlar.root(`PUT /projects/${id}/merge_requests/3`, wait), 200);
    const auto = { body: { auto_merge: true } };
    bodyOf(await ashlar.root(`PUT /projects/${id}/merge_requests/3/merge`, auto), 200);
    bodyOf(await ashlar.root(`PUT /projects/${id}/merge_requests/1/merge`), 200);
    await waitForFollowing(ashlar);
    const targets = await Promise.all(
      [2, 3, 4, 5, 6].map(async (iid) => (await show(id, iid)).target_branch),
    );
    expect(targets).toEqual(['main', 'main', 'main', 'main', 'base']);
    expect(await show(id, 2)).toMatchObject({
      state: 'opened',
      changes_count: '1',
      merge_status: 'can_be_merged',
    });
    expect((await show(id, 3)).merge_when_pipeline_succeeds).toBe(false);
    const notes = bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/3/notes`), 200);
    expect(notes.map(({ body }: { body: string }) => body)).toEqual(
      expect.arrayContaining([
        'deleted the `base` branch. This merge request now targets the `main` branch',
        'aborted the automatic merge because target branch was changed',
      ]),
    );
  });

  test('leaves those alone that would be merged into themselves, or are open already', async () => {
    const { id } = await makeReviewedProject(ashlar);
    await makeMergeRequest(ashlar, id, 'base');
    await commitTo(ashlar, id, 'topic', { 't.txt': 't' });
    const open = async (source_branch: string, target_branch: string) =>
      bodyOf(
        await ashlar.root(`POST /projects/${id}/merge_requests`, {
          body: { title: 'x', source_branch, target_branch },
        }),
        201,
      );
    await open('topic', 'main');
    await open('topic', 'base');
    await open('main', 'base');
    bodyOf(await ashlar.root(`PUT /projects/${id}/merge_requests/1/merge`), 200);
    bodyOf(await ashlar.root(`DELETE /projects/${id}/repository/branches/base`), 204);
    await waitForFollowing(ashlar);
    expect((await show(id, 3)).target_branch).toBe('base');
    expect((await show(id, 4)).target_branch).toBe('base');
  });

  test('that was only deleted moves nothing', async () => {
    const { id } = await makeReviewedProject(ashlar);
    await commitTo(ashlar, id, 'base', { 'b.txt': 'b' });
    await commitTo(ashlar, id, 'topic', { 't.txt': 't' });
    const body = { title: 'x', source_branch: 'topic', target_branch: 'base' };
    bodyOf(await ashlar.root(`POST /projects/${id}/merge_requests`, { body }), 201);
    bodyOf(await ashlar.root(`DELETE /projects/${id}/repository/branches/base`), 204);
    await waitForFollowing(ashlar);
    expect((await show(id)).target_branch).toBe('base');
  });
});
