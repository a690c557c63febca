/** Renovate, which keeps dependencies up to date: the merge requests and the issue that it opens, updates and closes. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { soon, useGitbeaker } from './gitbeaker-client.ts';
import { runInstalled } from './programs.ts';
import { makeFolder } from './support.ts';

const gitbeaker = useGitbeaker();

/** Packages by name, and their versions, oldest first. */
const published: Record<string, string[]> = { beacon: ['2.0.0'], gauge: ['3.0.0'], lantern: ['1.0.0'] };

/** A registry of npm that has them. */
let registry: Server;
beforeAll(async () => {
  registry = createServer((request, response) => {
    const name = request.url?.slice(1) ?? '';
    const versions = published[name] ?? [];
    response.writeHead(versions.length > 0 ? 200 : 404, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        name,
        'dist-tags': { latest: versions.at(-1) },
        versions: Object.fromEntries(versions.map((version) => [version, { name, version }])),
        time: Object.fromEntries(versions.map((version) => [version, '2025-01-01T00:00:00.000Z'])),
      }),
    );
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
});
afterAll(() => {
  registry.closeAllConnections();
  registry.close();
});

/** How the group wants its dependencies updated: in a project that renovate looks for by its name. */
const preset = {
  dependencyDashboard: true,
  prHourlyLimit: 0,
  minimumReleaseAge: '3 days',
  labels: ['dependencies'],
  reviewers: ['keeper'],
  assignees: ['keeper'],
  filterUnavailableUsers: true,
  packageRules: [
    { matchPackageNames: ['beacon'], automerge: true },
    { matchPackageNames: ['gauge'], automerge: true, platformAutomerge: false, ignoreTests: true },
  ],
};

type Logged = { level: number; msg: string; hosts?: Record<string, unknown> };
const WARN = 40;

/** One run, as a schedule starts it: in all projects of the bot. It must warn of nothing, and ask nobody but us. */
async function renovate(home: string, token: string, env: Record<string, string> = {}): Promise<void> {
  const { port } = registry.address() as AddressInfo;
  const { code, output } = await runInstalled('renovate', 'renovate/dist/renovate.js', [], {
    folder: home,
    home,
    env: {
      RENOVATE_PLATFORM: 'gitlab',
      RENOVATE_ENDPOINT: `${gitbeaker.url}/api/v4/`,
      RENOVATE_TOKEN: token,
      RENOVATE_AUTODISCOVER: 'true',
      RENOVATE_AUTODISCOVER_FILTER: '!lights/renovate-config',
      RENOVATE_BASE_DIR: join(home, 'renovate'),
      RENOVATE_NPMRC: `registry=http://127.0.0.1:${port}/\n`,
      RENOVATE_INTERNAL_HOST_ACCESS: 'allow',
      // It waits for the pipelines of its branches, which there are none of.
      RENOVATE_X_GITLAB_AUTO_MERGEABLE_CHECK_ATTEMPS: '1',
      RENOVATE_X_GITLAB_BRANCH_STATUS_CHECK_ATTEMPTS: '0',
      RENOVATE_X_GITLAB_BRANCH_STATUS_DELAY: '1',
      RENOVATE_X_IGNORE_RE2: 'true',
      LOG_LEVEL: 'debug',
      LOG_FORMAT: 'json',
      ...env,
    },
  });
  expect(code, output).toBe(0);
  const lines = output.split('\n').filter((line) => line !== '');
  const logged = lines.map((line): Logged => JSON.parse(line));
  expect(logged.filter(({ level }) => level >= WARN)).toEqual([]);
  const { hosts } = logged.find(({ msg }) => msg === 'HTTP statistics') ?? {};
  expect(Object.keys(hosts ?? {})).toEqual(['127.0.0.1']);
}

test('it asks whether it shall, updates what is old, merges what it may, and closes what is not wanted', async () => {
  const { root } = gitbeaker;
  const { id: group } = await root.Groups.create('Lights', 'lights', { visibility: 'private' });
  const bot = await gitbeaker.makeUser('renovate');
  const keeper = await gitbeaker.makeUser('keeper');
  await root.GroupMembers.add(group, 40, { userId: bot.id });
  await root.GroupMembers.add(group, 30, { userId: keeper.id });
  const write = (id: number, action: 'create' | 'update', filePath: string, value: unknown) =>
    root.Commits.create(id, 'main', `Write ${filePath}`, [
      { action, filePath, content: `${JSON.stringify(value, null, 2)}\n` },
    ]);
  const { id: presets } = await root.Projects.create({ name: 'renovate-config', namespaceId: group });
  await write(presets, 'create', 'default.json', preset);
  const { id } = await root.Projects.create({ name: 'house', namespaceId: group });
  await write(id, 'create', 'package.json', {
    dependencies: { beacon: '2.0.0' },
    devDependencies: { gauge: '3.0.0' },
    optionalDependencies: { lantern: '1.0.0' },
  });
  const read = async (path: string, ref = 'main') =>
    JSON.parse(String(await root.RepositoryFiles.showRaw(id, path, ref)));
  const main = async () => (await root.Branches.show(id, 'main')).commit.id;
  const shown = (iid: number) => root.MergeRequests.show(id, iid, { includeDivergedCommitsCount: true });
  const branches = async () => (await root.Branches.all(id)).map(({ name }) => name).sort();
  const dashboard = () => root.Issues.show(1, { projectId: id });
  const home = makeFolder();
  const run = () => renovate(home, bot.token);

  await run();
  expect(await shown(1)).toMatchObject({
    title: 'Configure Renovate',
    author: { username: 'renovate' },
    source_branch: 'renovate/configure',
    target_branch: 'main',
    assignees: [{ username: 'keeper' }],
    reviewers: [{ username: 'keeper' }],
    labels: ['dependencies'],
    force_remove_source_branch: true,
    detailed_merge_status: 'mergeable',
  });
  expect(await read('renovate.json', 'renovate/configure')).toMatchObject({
    extends: ['local>lights/renovate-config'],
  });
  expect(await root.Issues.all({ projectId: id })).toEqual([]);
  await root.MergeRequests.merge(id, 1);
  await expect.poll(branches, soon).toEqual(['main']);

  for (const [name, first] of [
    ['beacon', '2.0.1'],
    ['gauge', '3.0.1'],
    ['lantern', '1.0.1'],
  ] as const)
    published[name]?.push(first);
  await run();
  const byBot = { state: 'merged', merged_by: { username: 'renovate' } };
  // One by asking us to merge it as soon as it can be, the other by itself.
  expect(await shown(2)).toMatchObject({ title: 'Update dependency beacon to v2.0.1', ...byBot });
  expect(await shown(3)).toMatchObject({ title: 'Update dependency gauge to v3.0.1', ...byBot });
  const opened = await shown(4);
  expect(opened).toMatchObject({
    title: 'Update dependency lantern to v1.0.1',
    state: 'opened',
    source_branch: 'renovate/lantern-1.x',
    assignees: [{ username: 'keeper' }],
    reviewers: [{ username: 'keeper' }],
    labels: ['dependencies'],
  });
  expect(await read('package.json')).toMatchObject({
    dependencies: { beacon: '2.0.1' },
    devDependencies: { gauge: '3.0.1' },
    optionalDependencies: { lantern: '1.0.0' },
  });
  expect(await root.Commits.allStatuses(id, String(opened.sha))).toMatchObject([
    { name: 'renovate/stability-days', status: 'success', author: { username: 'renovate' } },
  ]);
  await expect.poll(branches, soon).toEqual(['main', 'renovate/lantern-1.x']);
  expect(await dashboard()).toMatchObject({
    title: 'Dependency Dashboard',
    author: { username: 'renovate' },
    description: expect.stringContaining('Update dependency lantern to v1.0.1'),
  });

  published.lantern?.push('1.0.2');
  await run();
  const updated = await shown(4);
  expect(updated).toMatchObject({
    title: 'Update dependency lantern to v1.0.2',
    state: 'opened',
    diverged_commits_count: 0,
    diff_refs: { base_sha: await main() },
    detailed_merge_status: 'mergeable',
  });
  expect(updated.sha).not.toBe(opened.sha);
  const versions = await root.MergeRequests.allDiffVersions(id, 4);
  expect(versions.map(({ head_commit_sha }) => head_commit_sha)).toEqual([updated.sha, opened.sha]);
  expect((await root.MergeRequests.allDiffs(id, 4)).map(({ diff }) => diff)).toEqual([
    expect.stringContaining('-    "lantern": "1.0.0"\n+    "lantern": "1.0.2"\n'),
  ]);
  expect((await dashboard()).description).toContain('Update dependency lantern to v1.0.2');

  await write(id, 'update', 'package.json', { dependencies: { beacon: '2.0.1' } });
  await run();
  expect(await shown(4)).toMatchObject({
    title: 'Update dependency lantern to v1.0.2 - autoclosed',
    state: 'closed',
    closed_by: { username: 'renovate' },
  });
  expect(await branches()).toEqual(['main']);
  expect((await dashboard()).description).not.toContain('lantern');
  expect(await root.MergeRequests.all({ projectId: id, state: 'opened' })).toEqual([]);
});

test('what must be approved waits for it; what people have changed or refused is theirs', async () => {
  const { root } = gitbeaker;
  const { id } = await root.Projects.create({ name: 'boats' });
  const bot = await gitbeaker.makeUser('fitter');
  const owner = await gitbeaker.makeUser('owner');
  const approver = await gitbeaker.makeUser('approver');
  await root.ProjectMembers.add(id, 40, { userId: bot.id });
  for (const { id: userId } of [owner, approver]) await root.ProjectMembers.add(id, 30, { userId });
  await root.MergeRequestApprovals.createApprovalRule(id, 'Approvers', 1, { userIds: [approver.id] });
  const config = {
    prHourlyLimit: 0,
    reviewersFromCodeOwners: true,
    packageRules: [
      { matchPackageNames: ['anchor'], automerge: true },
      { matchPackageNames: ['buoy'], automerge: true, gitLabIgnoreApprovals: true },
      { matchPackageNames: ['compass'], autoApprove: true },
    ],
  };
  const manifest = {
    dependencies: { anchor: '1.0.0' },
    devDependencies: { buoy: '1.0.0' },
    optionalDependencies: { compass: '1.0.0' },
    peerDependencies: { dinghy: '1.0.0' },
  };
  const action = 'create' as const;
  await root.Commits.create(id, 'main', 'Begin', [
    { action, filePath: 'package.json', content: `${JSON.stringify(manifest, null, 2)}\n` },
    { action, filePath: 'renovate.json', content: JSON.stringify(config) },
    { action, filePath: 'CODEOWNERS', content: 'package.json @owner\n' },
  ]);
  for (const name of ['anchor', 'buoy', 'compass', 'dinghy']) published[name] = ['1.0.0', '1.0.1'];
  const home = makeFolder();
  const run = () => renovate(home, bot.token, { RENOVATE_X_GITLAB_AUTO_APPROVE_TOKEN: approver.token });
  const shown = (iid: number) => root.MergeRequests.show(id, iid);
  const approved = async (iid: number) => {
    const { approved_by } = await root.MergeRequestApprovals.showConfiguration(id, { mergerequestIId: iid });
    return approved_by?.map(({ user }) => user.username);
  };
  /** What the bot has said of it: the first line of each note. */
  const said = async (iid: number) =>
    (await root.MergeRequestNotes.all(id, iid))
      .filter(({ author, system }) => author.id === bot.id && !system)
      .map(({ body }) => body.split('\n')[0]);

  await run();
  const waiting = { state: 'opened', detailed_merge_status: 'not_approved' };
  expect(await shown(1)).toMatchObject({
    ...waiting,
    title: 'Update dependency anchor to v1.0.1',
    merge_when_pipeline_succeeds: true,
    merge_user: { username: 'fitter' },
    reviewers: [],
  });
  expect(await shown(2)).toMatchObject({ title: 'Update dependency buoy to v1.0.1', state: 'merged' });
  expect(await approved(2)).toEqual([]);
  expect(await shown(3)).toMatchObject({
    title: 'Update dependency compass to v1.0.1',
    detailed_merge_status: 'mergeable',
    reviewers: [{ username: 'owner' }],
  });
  expect(await approved(3)).toEqual(['approver']);
  expect(await shown(4)).toMatchObject({
    ...waiting,
    title: 'Update dependency dinghy to v1.0.1',
    merge_when_pipeline_succeeds: false,
    reviewers: [{ username: 'owner' }],
  });

  await approver.api.MergeRequestApprovals.approve(id, 1);
  const state = async () => (await shown(1)).state;
  await expect.poll(state, soon).toBe('merged');
  expect(await shown(1)).toMatchObject({ merged_by: { username: 'fitter' } });
  await owner.api.MergeRequests.edit(id, 3, { stateEvent: 'close' });
  const { id: changed } = await owner.api.Commits.create(id, 'renovate/dinghy-1.x', 'Ours', [
    { action, filePath: 'oars.txt', content: 'two\n' },
  ]);
  const head = async () => (await shown(4)).sha;
  await expect.poll(head, soon).toBe(changed);
  published.dinghy?.push('1.0.2');
  await run();
  expect(await shown(3)).toMatchObject({ title: 'Update dependency compass to v1.0.1', state: 'closed' });
  expect(await said(3)).toEqual(['### Renovate Ignore Notification']);
  expect(await shown(4)).toMatchObject({ title: 'Update dependency dinghy to v1.0.1', sha: changed });
  expect(await said(4)).toEqual(['### Edited/Blocked Notification']);
  expect(await root.MergeRequests.all({ projectId: id })).toHaveLength(4);
});
