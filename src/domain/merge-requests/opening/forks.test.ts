/** Merge requests from forks: nothing comes from a fork by who may not read it, and what is deleted is gone. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers } from '../../../../test/support/factories.ts';
import { commitTo, makeReviewedProject, waitForFollowing } from '../../../../test/support/merge-requests.ts';
import { readRef, refsBelow } from '../../../platform/git/refs.ts';
import { projectRepository } from '../../repositories/index.ts';

const ashlar = useApp();

async function forkOf(id: number): Promise<number> {
  const name = `fork-${id}`;
  const body = { name, path: name };
  const fork = bodyOf(await ashlar.root(`POST /projects/${id}/fork`, { body }), 201);
  const ready = async () => bodyOf(await ashlar.root(`GET /projects/${fork.id}`), 200).import_status;
  await expect.poll(ready, { timeout: 60_000 }).toBe('finished');
  return fork.id;
}

test('who lost the source does not bring what came since by opening it again', async () => {
  const { id } = await makeReviewedProject(ashlar, { visibility: 'public' });
  const fork = await forkOf(id);
  bodyOf(await ashlar.root(`PUT /projects/${fork}`, { body: { visibility: 'private' } }), 200);
  const { developer } = await makeMembers(ashlar, `projects/${fork}`, 'developer');
  const sha = await commitTo(ashlar, fork, 'topic', { 'f.txt': 'shared\n' });
  const asDeveloper = ashlar.as(developer.token);
  const body = { title: 'Topic', source_branch: 'topic', target_branch: 'main', target_project_id: id };
  bodyOf(await asDeveloper(`POST /projects/${fork}/merge_requests`, { body }), 201);
  const path = `PUT /projects/${id}/merge_requests/1`;
  bodyOf(await asDeveloper(path, { body: { state_event: 'close' } }), 200);
  bodyOf(await ashlar.root(`DELETE /projects/${fork}/members/${developer.id}`), 204);
  const secret = await commitTo(ashlar, fork, 'topic', { 'f.txt': 'secret\n' });
  await waitForFollowing(ashlar);
  const opened = await asDeveloper(path, { body: { state_event: 'reopen' } });
  expect(opened).toMatchObject({
    status: 400,
    body: { message: { source_branch: ['does not exist'] } },
  });
  expect((await ashlar.root(`GET /projects/${id}/repository/commits/${secret}`)).status).toBe(404);
  const shown = bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/1`), 200);
  expect(shown).toMatchObject({ state: 'closed', sha });
  bodyOf(await ashlar.root(path, { body: { state_event: 'reopen' } }), 200);
});

test('what is no fork any more is not opened again', async () => {
  const { id } = await makeReviewedProject(ashlar, { visibility: 'public' });
  const fork = await forkOf(id);
  await commitTo(ashlar, fork, 'topic', { 'f.txt': 'one\n' });
  const body = { title: 'Topic', source_branch: 'topic', target_branch: 'main', target_project_id: id };
  bodyOf(await ashlar.root(`POST /projects/${fork}/merge_requests`, { body }), 201);
  const path = `PUT /projects/${id}/merge_requests/1`;
  bodyOf(await ashlar.root(path, { body: { state_event: 'close' } }), 200);
  bodyOf(await ashlar.root(`DELETE /projects/${fork}/fork`), 204);
  expect(await ashlar.root(path, { body: { state_event: 'reopen' } })).toMatchObject({
    status: 422,
    body: { message: ['Source project is not a fork of the target project'] },
  });
  expect(bodyOf(await ashlar.root(path, { body: { title: 'Other' } }), 200).state).toBe('closed');
});

test('with a merge request its refs go', async () => {
  const { id } = await makeReviewedProject(ashlar, { visibility: 'public' });
  const fork = await forkOf(id);
  await commitTo(ashlar, fork, 'topic', { 'f.txt': 'one\n' });
  const body = { title: 'Topic', source_branch: 'topic', target_branch: 'main', target_project_id: id };
  bodyOf(await ashlar.root(`POST /projects/${fork}/merge_requests`, { body }), 201);
  const path = `/projects/${id}/merge_requests/1`;
  bodyOf(await ashlar.root(`GET ${path}/merge_ref`), 200);
  const head = await commitTo(ashlar, fork, 'topic', { 'f.txt': 'two\n' });
  await waitForFollowing(ashlar);
  const { repositories } = ashlar.app.services;
  const [storage = ''] = repositories.storages.keys();
  const git = repositories.open(projectRepository(id), storage);
  expect(await readRef(git, 'refs/merge-requests/1/head')).toBe(head);
  expect(await refsBelow(git, ['refs/ashlar/fetched'])).toEqual([]);
  bodyOf(await ashlar.root(`DELETE ${path}`), 204);
  await waitForFollowing(ashlar);
  expect(await readRef(git, 'refs/merge-requests/1/head')).toBeUndefined();
  expect(await readRef(git, 'refs/merge-requests/1/merge')).toBeUndefined();
  expect(
    (await ashlar.root(`GET /projects/${id}/repository/commits/${'refs%2Fmerge-requests%2F1%2Fhead'}`))
      .status,
  ).toBe(404);
});

test('a refused opening, another target and a rebase leave no ref of what was brought', async () => {
  const { id } = await makeReviewedProject(ashlar, { visibility: 'public' });
  const fork = await forkOf(id);
  await commitTo(ashlar, id, 'stable', { 's.txt': 'one\n' });
  await commitTo(ashlar, fork, 'topic', { 'f.txt': 'one\n' });
  const { repositories } = ashlar.app.services;
  const [storage = ''] = repositories.storages.keys();
  const brought = (project: number) =>
    refsBelow(repositories.open(projectRepository(project), storage), ['refs/ashlar/fetched']);
  const body = { title: 'Topic', source_branch: 'topic', target_branch: 'main', target_project_id: id };
  const open = (more: Record<string, unknown> = {}) =>
    ashlar.root(`POST /projects/${fork}/merge_requests`, { body: { ...body, ...more } });
  expect((await open({ milestone_id: 999_999_999 })).status).toBe(400);
  expect(await brought(id)).toEqual([]);
  bodyOf(await open(), 201);
  expect((await open()).status).toBe(409);
  expect(await brought(id)).toEqual([]);
  bodyOf(await open({ target_branch: 'stable' }), 201);
  const path = `PUT /projects/${id}/merge_requests`;
  expect((await ashlar.root(`${path}/2`, { body: { target_branch: 'main' } })).status).toBe(409);
  bodyOf(await ashlar.root(`${path}/2`, { body: { state_event: 'close' } }), 200);
  bodyOf(await ashlar.root(`${path}/1`, { body: { target_branch: 'stable' } }), 200);
  expect(await brought(id)).toEqual([]);
  expect((await ashlar.root(`${path}/1/rebase`)).status).toBe(202);
  await commitTo(ashlar, id, 'stable', { 'f.txt': 'other\n' });
  await waitForFollowing(ashlar);
  expect((await ashlar.root(`${path}/1/rebase`)).status).toBe(202);
  const shown = bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/1`), 200);
  expect(shown.merge_error).toMatch(/^Rebase failed/);
  expect(await brought(fork)).toEqual([]);
  await waitForFollowing(ashlar);
  expect(await brought(id)).toEqual([]);
});

test('who may not push to a fork does not let others push there', async () => {
  const { id } = await makeReviewedProject(ashlar, { visibility: 'public' });
  const fork = await forkOf(id);
  const { developer } = await makeMembers(ashlar, `projects/${id}`, 'developer');
  await commitTo(ashlar, fork, 'topic', { 'f.txt': 'one\n' });
  const body = { title: 'Topic', source_branch: 'topic', target_branch: 'main', target_project_id: id };
  bodyOf(await ashlar.root(`POST /projects/${fork}/merge_requests`, { body }), 201);
  const path = `PUT /projects/${id}/merge_requests/1`;
  const allow = { body: { allow_collaboration: true, title: 'New' } };
  expect(bodyOf(await ashlar.as(developer.token)(path, allow), 200)).toMatchObject({
    title: 'New',
    allow_collaboration: false,
  });
  expect(bodyOf(await ashlar.root(path, allow), 200).allow_collaboration).toBe(true);
});
