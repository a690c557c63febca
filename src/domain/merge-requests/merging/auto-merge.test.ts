/** Automatic merges that others change, or that come too late. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers } from '../../../../test/support/factories.ts';
import {
  commitTo,
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';
import { autoMerge } from './after-merge.ts';
import { requestMerge } from './requested-merges.ts';

const ashlar = useApp();

const show = async (id: number, iid = 1) =>
  bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/${iid}`), 200);

test('what was to be merged into one branch is not merged into another', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const { developer } = await makeMembers(ashlar, `projects/${id}`, 'developer');
  const before = await commitTo(ashlar, id, 'main', { 'b.txt': 'b\n' });
  await commitTo(ashlar, id, 'next', { 'next.txt': 'next\n' });
  await commitTo(ashlar, id, 'topic', { 'topic.txt': 'topic\n' });
  const asDeveloper = ashlar.as(developer.token);
  const body = { title: 'Draft: Topic', source_branch: 'topic', target_branch: 'next' };
  bodyOf(await asDeveloper(`POST /projects/${id}/merge_requests`, { body }), 201);
  const path = `PUT /projects/${id}/merge_requests/1`;
  bodyOf(await ashlar.root(`${path}/merge`, { body: { auto_merge: true } }), 200);
  bodyOf(await asDeveloper(path, { body: { target_branch: 'main' } }), 200);
  bodyOf(await asDeveloper(path, { body: { title: 'Topic' } }), 200);
  await waitForFollowing(ashlar);
  expect(await show(id)).toMatchObject({
    state: 'opened',
    target_branch: 'main',
    merge_when_pipeline_succeeds: false,
    merge_user: null,
  });
  const main = bodyOf(await ashlar.root(`GET /projects/${id}/repository/branches/main`), 200);
  expect(main.commit.id).toBe(before);
  const notes = bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/1/notes`), 200);
  expect(notes.map(({ body }: { body: string }) => body)).toContain(
    'aborted the automatic merge because target branch was changed',
  );
});

test('what a blocked user wanted is not merged', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const { maintainer } = await makeMembers(ashlar, `projects/${id}`, 'maintainer');
  await makeMergeRequest(ashlar, id, 'topic', { title: 'Draft: Topic' });
  const path = `PUT /projects/${id}/merge_requests/1`;
  bodyOf(await ashlar.as(maintainer.token)(`${path}/merge`, { body: { auto_merge: true } }), 200);
  bodyOf(await ashlar.root(`POST /users/${maintainer.id}/block`), 201);
  bodyOf(await ashlar.root(path, { body: { title: 'Topic' } }), 200);
  await waitForFollowing(ashlar);
  expect(await show(id)).toMatchObject({ state: 'opened' });
});

test('what /merge wanted in one branch is not merged into another, nor for who is blocked', async () => {
  const { id } = await makeReviewedProject(ashlar);
  const { maintainer } = await makeMembers(ashlar, `projects/${id}`, 'maintainer');
  await commitTo(ashlar, id, 'next', { 'next.txt': 'next\n' });
  for (const branch of ['topic', 'other'])
    await makeMergeRequest(ashlar, id, branch, { target_branch: 'next' });
  const { services } = ashlar.app;
  const rows = await services.database.db
    .selectFrom('merge_requests')
    .selectAll()
    .where('project_id', '=', id)
    .orderBy('iid')
    .execute();
  // As the jobs that both texts added find them.
  bodyOf(await ashlar.root(`PUT /projects/${id}/merge_requests/1`, { body: { target_branch: 'main' } }), 200);
  bodyOf(await ashlar.root(`POST /users/${maintainer.id}/block`), 201);
  const [moved, same] = rows;
  if (!moved || !same) throw new Error('two were made');
  await requestMerge(services.database.db, { id: 1 }, moved);
  await requestMerge(services.database.db, { id: maintainer.id }, same);
  await waitForFollowing(ashlar);
  expect([(await show(id, 1)).state, (await show(id, 2)).state]).toEqual(['opened', 'opened']);
  await requestMerge(services.database.db, { id: 1 }, same);
  await waitForFollowing(ashlar);
  expect((await show(id, 2)).state).toBe('merged');
});

test('whatever many that can never be merged wait before it, one that waits has its turn', async () => {
  const crowd = await makeReviewedProject(ashlar);
  const { id } = await makeReviewedProject(ashlar);
  const { services } = ashlar.app;
  const { sql } = services.database;
  // Who wanted them is gone.
  await sql`
    insert into merge_requests (iid, project_id, source_project_id, source_branch, target_branch, author_id, title, draft,
      auto_merge, created_at, updated_at)
    select 1000 + n, ${crowd.id}, ${crowd.id}, 'gone-' || n, 'main', 1, 'Waits', false, '{}', now(), now()
    from generate_series(1, 1000) n`;
  await makeMergeRequest(ashlar, id, 'topic', { title: 'Draft: Topic' });
  const merge = `PUT /projects/${id}/merge_requests/1/merge`;
  bodyOf(await ashlar.root(merge, { body: { auto_merge: true } }), 200);
  await waitForFollowing(ashlar);
  // No fact tells of it.
  await sql`update merge_requests set draft = false, title = 'Topic' where project_id = ${id}`;
  const task = autoMerge(services);
  for (let run = 0; run < 2; run++) await task({});
  expect((await show(id)).state).toBe('merged');
  await sql`delete from merge_requests where project_id = ${crowd.id}`;
});
