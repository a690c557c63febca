/**
 * semantic-release, which makes a version of what was merged: its tag and its notes in git, and what its plugin says on
 * merge requests and issues, and its release.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addressOf, mustGit } from '../support/git.ts';
import { soon, useGitbeaker } from './gitbeaker-client.ts';
import { runInstalled } from './programs.ts';
import { makeFolder, ROOT_TOKEN } from './support.ts';

const gitbeaker = useGitbeaker();

const configuration = {
  branches: ['main'],
  plugins: [
    '@semantic-release/commit-analyzer',
    '@semantic-release/release-notes-generator',
    ['@semantic-release/gitlab', { labels: 'release,broken' }],
  ],
};

/** A project to release, and what is done to it. */
async function makeReleased() {
  const { root } = gitbeaker;
  const { id: group } = await root.Groups.create('Lights', 'lights', { visibility: 'private' });
  const { id } = await root.Projects.create({
    name: 'house',
    namespaceId: group,
    initializeWithReadme: true,
  });
  const home = makeFolder();
  return {
    id,
    async makeMember(username: string, accessLevel: 20 | 30 | 40): Promise<string> {
      const user = await gitbeaker.makeUser(username);
      await root.ProjectMembers.add(id, accessLevel, { userId: user.id });
      return user.token;
    },
    /** A merge request of one commit, merged. */
    async mergeNew(branch: string, message: string, options: { description?: string } = {}): Promise<void> {
      const file = { action: 'create' as const, filePath: `${branch}.txt`, content: `${branch}\n` };
      await root.Commits.create(id, branch, message, [file], { startBranch: 'main' });
      const { iid } = await root.MergeRequests.create(id, branch, 'main', branch, options);
      const status = async () => (await root.MergeRequests.show(id, iid)).detailed_merge_status;
      await expect.poll(status, soon).toBe('mergeable');
      await root.MergeRequests.merge(id, iid, { shouldRemoveSourceBranch: true });
    },
    /** As a job of a pipeline does it, in a clone of its own. */
    async release(token: string, steps: object = {}): Promise<{ code: number | null; output: string }> {
      const work = mkdtempSync(join(home, 'clone-'));
      await mustGit(home, ['clone', '-q', addressOf(gitbeaker.url, 'lights/house', token), work]);
      // What it pushes with is the token of its environment.
      await mustGit(work, ['remote', 'set-url', 'origin', addressOf(gitbeaker.url, 'lights/house')]);
      writeFileSync(join(work, '.releaserc.json'), JSON.stringify({ ...configuration, ...steps }));
      return runInstalled('semantic-release', 'semantic-release/bin/semantic-release.js', [], {
        folder: work,
        home,
        env: {
          CI: 'true',
          GITLAB_CI: 'true',
          CI_COMMIT_REF_NAME: 'main',
          CI_COMMIT_SHA: (await mustGit(work, ['rev-parse', 'HEAD'])).trim(),
          CI_PROJECT_ID: String(id),
          CI_PROJECT_PATH: 'lights/house',
          CI_PROJECT_URL: `${gitbeaker.url}/lights/house`,
          CI_API_V4_URL: `${gitbeaker.url}/api/v4`,
          GL_TOKEN: token,
        },
      });
    },
    /** The refs of the repository that begin so, and the commits that they lead to. */
    async refs(beginning: string): Promise<Record<string, string>> {
      const address = addressOf(gitbeaker.url, 'lights/house', ROOT_TOKEN);
      const lines = (await mustGit(home, ['ls-remote', address, `${beginning}*`])).trim().split('\n');
      return Object.fromEntries(lines.filter(Boolean).map((line) => line.split('\t').reverse()));
    },
  };
}

test('it makes a version of what was merged, and says so where it was asked for', async () => {
  const { root } = gitbeaker;
  const { id, makeMember, mergeNew, release, refs } = await makeReleased();
  const maintainer = await makeMember('releaser', 40);
  const reporter = await makeMember('reporter', 20);
  const main = async () => String((await root.Branches.show(id, 'main')).commit.id);
  const said = (notes: readonly { system: boolean; author: object; body: string }[]) =>
    notes
      .filter(({ system }) => !system)
      .map(({ author, body }) => [(author as { username: string }).username, body.split(' :tada:')[0]]);
  const onMergeRequest = async (iid: number) => said(await root.MergeRequestNotes.all(id, iid));
  const onIssue = async (iid: number) => said(await root.IssueNotes.all(id, iid));

  const { iid: dark } = await root.Issues.create(id, 'It is dark');
  await mergeNew('lamp', 'feat: a lamp', { description: `Closes #${dark}` });
  const closed = async () => (await root.Issues.show(dark, { projectId: id })).state;
  await expect.poll(closed, soon).toBe('closed');
  const first = await release(maintainer);
  expect(first.code, first.output).toBe(0);
  const lit = await main();
  expect(await refs('refs/tags/')).toEqual({ 'refs/tags/v1.0.0': lit });
  expect(Object.keys(await refs('refs/notes/'))).toEqual(['refs/notes/semantic-release-v1.0.0']);
  expect(await onMergeRequest(1)).toEqual([['releaser', ':tada: This MR is included in version 1.0.0']]);
  expect(await onIssue(dark)).toEqual([['releaser', ':tada: This issue has been resolved in version 1.0.0']]);

  await mergeNew('bulb', 'fix: a bulb');
  const second = await release(maintainer);
  expect(second.code, second.output).toBe(0);
  const releases = await root.ProjectReleases.all(id);
  expect(releases.map(({ tag_name }) => tag_name)).toEqual(['v1.0.1', 'v1.0.0']);
  expect(releases[1]).toMatchObject({
    author: { username: 'releaser' },
    commit: { id: lit },
    description: expect.stringContaining('a lamp'),
  });
  const tags = { 'refs/tags/v1.0.0': lit, 'refs/tags/v1.0.1': await main() };
  expect(await refs('refs/tags/')).toEqual(tags);
  expect(await onMergeRequest(2)).toEqual([['releaser', ':tada: This MR is included in version 1.0.1']]);
  expect(await onMergeRequest(1)).toHaveLength(1);

  await mergeNew('wick', 'fix: a wick');
  const refused = await release(reporter);
  expect(refused.code, refused.output).toBe(1);
  expect(refused.output).toContain('EGITNOPERMISSION');
  const opened = () => root.Issues.all({ projectId: id, state: 'opened' });
  expect(await opened()).toEqual([]);
  // There is nothing for npm in the project.
  const broken = { prepare: ['@semantic-release/npm'] };
  const failed = await release(maintainer, broken);
  expect(failed.code, failed.output).toBe(1);
  const [failure, ...others] = await opened();
  expect(failure).toMatchObject({
    title: 'The automated release is failing 🚨',
    author: { username: 'releaser' },
    labels: ['broken', 'release'],
    description: expect.stringContaining('Missing `package.json` file'),
  });
  expect(others).toEqual([]);
  expect((await release(maintainer, broken)).code).toBe(1);
  expect(await opened()).toHaveLength(1);
  expect(await onIssue(Number(failure?.iid))).toMatchObject([['releaser', expect.any(String)]]);
  expect(await refs('refs/tags/')).toEqual(tags);
});
