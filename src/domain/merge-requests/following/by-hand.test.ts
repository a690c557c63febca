/** Merge requests whose branches are pushed by git: merged on the command line, and with commits of all kinds. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
import { bodyOf, type MadeProject, makeMembers, uniqueName } from '../../../../test/support/factories.ts';
import { addressOf, commitFiles, makeHome, mustGit } from '../../../../test/support/git.ts';
import {
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';
import { overtake } from '../../../../test/support/races.ts';

const ashlar = useApp();
const home = makeHome();
afterAll(() => rmSync(home, { recursive: true, force: true }));

const show = async (id: number, iid = 1) =>
  bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/${iid}`), 200);

async function cloneOf(project: MadeProject, token = ROOT_TOKEN): Promise<string> {
  const work = join(home, uniqueName('work'));
  await mustGit(home, ['clone', '--quiet', addressOf(ashlar.url, project.path_with_namespace, token), work]);
  return work;
}

const headOf = async (work: string): Promise<string> => (await mustGit(work, ['rev-parse', 'HEAD'])).trim();

async function pushTo(work: string, ref: string, ...options: string[]): Promise<void> {
  await mustGit(work, ['push', '--quiet', ...options, 'origin', `HEAD:${ref}`]);
  await waitForFollowing(ashlar);
}

describe('merged on the command line', () => {
  test('by a merge commit, it is merged by who pushed, and by that commit', async () => {
    const project = await makeReviewedProject(ashlar);
    const { id } = project;
    const { maintainer } = await makeMembers(ashlar, `projects/${id}`, 'maintainer');
    const { sha } = await makeMergeRequest(ashlar, id, 'topic');
    await makeMergeRequest(ashlar, id, 'other');
    const work = await cloneOf(project, maintainer.token);
    await mustGit(work, ['merge', '--quiet', '--no-ff', '-m', 'By hand', 'origin/topic']);
    const merge = await headOf(work);
    await commitFiles(work, { 'later.txt': 'later\n' });
    await pushTo(work, 'main');
    expect(await show(id)).toMatchObject({
      state: 'merged',
      sha,
      merge_commit_sha: merge,
      squash_commit_sha: null,
      merge_user: { id: maintainer.id },
    });
    expect((await show(id, 2)).state).toBe('opened');
    const events = bodyOf(await ashlar.root(`GET /projects/${id}/events`, { query: 'action=merged' }), 200);
    expect(events).toMatchObject([{ author: { id: maintainer.id }, target_iid: 1 }]);
  });

  test('by moving the branch forward, it is merged by its own commit', async () => {
    const project = await makeReviewedProject(ashlar);
    const { sha } = await makeMergeRequest(ashlar, project.id, 'topic');
    const work = await cloneOf(project);
    await mustGit(work, ['merge', '--quiet', '--ff-only', 'origin/topic']);
    await pushTo(work, 'main');
    expect(await show(project.id)).toMatchObject({ state: 'merged', merge_commit_sha: sha });
  });

  test('into another branch, or from another commit, it is not', async () => {
    const project = await makeReviewedProject(ashlar);
    await makeMergeRequest(ashlar, project.id, 'topic');
    const work = await cloneOf(project);
    await mustGit(work, ['checkout', '--quiet', 'origin/topic']);
    await pushTo(work, 'refs/heads/next');
    await mustGit(work, ['checkout', '--quiet', 'main']);
    await commitFiles(work, { 'topic.txt': 'topic\n' }, 'The same, made again');
    await pushTo(work, 'main');
    expect((await show(project.id)).state).toBe('opened');
  });

  test('and closed at the same moment, it stays closed', async () => {
    const project = await makeReviewedProject(ashlar);
    const { id } = project;
    await makeMergeRequest(ashlar, id, 'topic');
    const work = await cloneOf(project);
    await mustGit(work, ['merge', '--quiet', '--no-ff', '-m', 'By hand', 'origin/topic']);
    await overtake(
      ashlar,
      (tx) => tx`update merge_requests set state = 'closed', closed_at = now(), closed_by_id = 1
        where project_id = ${id}`,
      () => pushTo(work, 'main'),
    );
    expect(await show(id)).toMatchObject({ state: 'closed', merged_at: null, merge_user: null });
    const events = bodyOf(await ashlar.root(`GET /projects/${id}/events`, { query: 'action=merged' }), 200);
    expect(events).toEqual([]);
  });
});

describe('pushed commits', () => {
  test('with messages too long for one answer are followed, told of and merged', async () => {
    const project = await makeReviewedProject(ashlar);
    await makeMergeRequest(ashlar, project.id, 'topic');
    const work = await cloneOf(project);
    await mustGit(work, ['checkout', '--quiet', 'topic']);
    const long = 'long '.repeat(190_000);
    for (let number = 1; number <= 12; number++) {
      await mustGit(work, ['commit', '--quiet', '--allow-empty', '-F', '-'], `Commit ${number}\n\n${long}`);
    }
    const head = await headOf(work);
    await pushTo(work, 'refs/heads/topic');
    expect((await show(project.id)).sha).toBe(head);
    const path = `/projects/${project.id}/merge_requests/1`;
    const notes = bodyOf(await ashlar.root(`GET ${path}/notes`), 200);
    expect(notes[0].body).toMatch(/^added 12 commits\n\n<ul>.*2 earlier commits.*Commit 12<\/li><\/ul>/);
    bodyOf(await ashlar.root(`PUT ${path}/merge`), 200);
  });
});
