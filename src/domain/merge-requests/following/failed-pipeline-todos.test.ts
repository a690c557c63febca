/** To-dos about pipelines that failed: of merge requests with that head, for those who answer for them. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers } from '../../../../test/support/factories.ts';
import { commitTo, makeReviewedProject, waitForFollowing } from '../../../../test/support/merge-requests.ts';
import { isOfFailedBranch } from './failed-pipeline-todos.ts';

const app = useApp();

test('a pipeline of the head that fails is told to the author and to who wants it merged by itself, once', async () => {
  const { id } = await makeReviewedProject(app);
  const people = await makeMembers(app, `projects/${id}`, 'developer', 'maintainer');
  const { developer, maintainer } = people;
  const first = await commitTo(app, id, 'topic', { 'a.txt': 'one\n' });
  const body = { title: 'Draft: Topic', source_branch: 'topic', target_branch: 'main' };
  bodyOf(await app.as(developer.token)(`POST /projects/${id}/merge_requests`, { body }), 201);
  const auto = { body: { auto_merge: true } };
  bodyOf(await app.as(maintainer.token)(`PUT /projects/${id}/merge_requests/1/merge`, auto), 200);
  await waitForFollowing(app);
  const say = async (sha: string, ref: string, state: string, name: string) => {
    const path = `POST /projects/${id}/statuses/${sha}`;
    bodyOf(await app.root(path, { body: { state, ref, name } }), 201);
    await waitForFollowing(app);
  };
  const todosOf = async ({ token }: { token: string }) =>
    bodyOf(await app.as(token)('GET /todos'), 200).map(
      (todo: { action_name: string; target: { iid: number }; author: { id: number } }) => [
        todo.action_name,
        todo.target.iid,
        todo.author.id,
      ],
    );
  await say(first, 'topic', 'success', 'fine');
  await say(first, 'main', 'failed', 'elsewhere');
  expect(await todosOf(developer)).toEqual([]);
  await say(first, 'topic', 'failed', 'broken');
  await say(first, 'topic', 'success', 'broken');
  await say(first, 'topic', 'failed', 'broken');
  expect(await todosOf(developer)).toEqual([['build_failed', 1, developer.id]]);
  expect(await todosOf(maintainer)).toEqual([['build_failed', 1, maintainer.id]]);
  bodyOf(await app.as(developer.token)('POST /todos/mark_as_done'), 201);
  await commitTo(app, id, 'topic', { 'a.txt': 'two\n' });
  await waitForFollowing(app);
  await say(first, 'topic', 'success', 'broken');
  await say(first, 'topic', 'failed', 'broken');
  expect(await todosOf(developer)).toEqual([]);
});

test.each([
  [{ status: 'failed', tag: false }, true],
  [{ status: 'failed', tag: true }, false],
  [{ status: 'success', tag: false }, false],
])('%j: %s', (fact, expected) => {
  expect(isOfFailedBranch(fact)).toBe(expected);
});
