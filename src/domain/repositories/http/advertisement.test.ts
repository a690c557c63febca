/** The advertisement is that of git itself, byte for byte. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
import { makeProject } from '../../../../test/support/factories.ts';
import { addressOf, mustGit } from '../../../../test/support/git.ts';
import { git, gitEnvironment, gitText } from '../../../platform/git/program/program.ts';
import { readRefFiles } from '../../../platform/git/ref-files.ts';
import { projectRepository } from '../store/containers.ts';

const ashlar = useApp();
let folder = '';
let address = '';
let path = '';
let commit = '';

beforeEach(async () => {
  const project = await makeProject(ashlar);
  path = project.path_with_namespace;
  address = `${ashlar.url}/${path}.git/info/refs?service=git-`;
  await ashlar.root(`POST /projects/${project.id}/repository/files/a`, {
    body: { branch: 'main', content: 'a', commit_message: 'a' },
  });
  const { repositories } = ashlar.app.services;
  const located = await repositories.locate(projectRepository(project.id), 'read');
  folder = located?.folder ?? '';
  commit = (await gitText(['rev-parse', 'main'], { folder })).trim();
});

async function said(service: string, protocol?: string): Promise<string> {
  const authorization = `Basic ${Buffer.from(`root:${ROOT_TOKEN}`).toString('base64')}`;
  const response = await fetch(`${address}${service}`, {
    headers: { authorization, ...(protocol && { 'git-protocol': protocol }) },
  });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer()).toString('latin1');
}

function byGit(service: string, protocol = ''): string {
  const output = execFileSync('git', [service, '--http-backend-info-refs', folder], {
    env: { ...gitEnvironment, GIT_PROTOCOL: protocol },
    encoding: 'latin1',
  });
  const title = `# service=git-${service}\n`;
  const isBare = service === 'upload-pack' && protocol === 'version=2';
  return isBare ? output : `${(title.length + 4).toString(16).padStart(4, '0')}${title}0000${output}`;
}

const update = (...refs: string[]) =>
  git(['update-ref', '--stdin'], { folder, input: refs.map((ref) => `create ${ref} ${commit}\n`).join('') });

/** Whether the refs are read without git. */
const isReadHere = () => readRefFiles(folder) !== undefined;

test('of branches and tags, loose, packed, and both', async () => {
  expect(await said('receive-pack')).toBe(byGit('receive-pack'));
  await update('refs/heads/a/b/c', 'refs/heads/b', 'refs/heads/b-1', 'refs/tags/v1', 'refs/notes/commits');
  await git(['tag', '-a', '-m', 'tag', 'v2', commit], {
    folder,
    environment: { GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@example.com' },
  });
  expect(await said('receive-pack')).toBe(byGit('receive-pack'));
  await git(['pack-refs', '--all'], { folder });
  await update('refs/heads/a/b/d', 'refs/heads/grün');
  const tree = (await gitText(['rev-parse', 'main^{tree}'], { folder })).trim();
  await git(['update-ref', 'refs/tags/v1', tree], { folder });
  await git(['update-ref', '-d', 'refs/heads/b'], { folder });
  expect(await said('receive-pack')).toBe(byGit('receive-pack'));
  expect(await said('receive-pack', 'version=2')).toBe(byGit('receive-pack', 'version=2'));
  expect(await said('receive-pack', 'version=1')).toBe(byGit('receive-pack', 'version=1'));
  expect(isReadHere()).toBe(true);
});

test('of refs that are hidden, locked, or only begin', async () => {
  await update('refs/ashlar/keep/1', 'refs/ashlars/1', 'refs/merge-requests/1/head');
  writeFileSync(join(folder, 'refs/heads/main.lock'), '');
  mkdirSync(join(folder, 'refs/heads/nothing/yet'), { recursive: true });
  expect(await said('receive-pack')).toBe(byGit('receive-pack'));
  expect(await said('receive-pack')).not.toMatch(/refs\/(ashlar|merge-requests)\//);
  expect(isReadHere()).toBe(true);
});

test('where there is no ref', async () => {
  await git(['update-ref', '-d', 'refs/heads/main'], { folder });
  expect(await said('receive-pack')).toBe(byGit('receive-pack'));
  expect(await said('receive-pack')).toContain('capabilities^{}');
});

test.each([
  ['many', async () => void (await update(...Array.from({ length: 300 }, (_, n) => `refs/heads/many/${n}`)))],
  [
    'symbolic',
    async () => void (await git(['symbolic-ref', 'refs/heads/alias', 'refs/heads/main'], { folder })),
  ],
  ['damaged', async () => writeFileSync(join(folder, 'refs/heads/damaged'), 'no id\n')],
  ['cut off', async () => writeFileSync(join(folder, 'refs/heads/cut'), commit)],
])('of refs that are %s, which git reads', async (_, make) => {
  await make();
  expect(isReadHere()).toBe(false);
  expect(await said('receive-pack')).toBe(byGit('receive-pack'));
});

test('of many that merge requests made: after a push they are read here again', async () => {
  await update(...Array.from({ length: 300 }, (_, n) => `refs/merge-requests/${n}/head`));
  const before = await gitText(['for-each-ref'], { folder });
  await mustGit(folder, [
    'push',
    '--quiet',
    addressOf(ashlar.url, path, ROOT_TOKEN),
    'main:refs/heads/other',
  ]);
  await expect.poll(() => readdirSync(join(folder, 'refs/merge-requests')), { timeout: 30_000 }).toEqual([]);
  expect(await gitText(['for-each-ref', 'refs/merge-requests', 'refs/heads/main'], { folder })).toBe(before);
  expect(await said('receive-pack')).toBe(byGit('receive-pack'));
  expect(isReadHere()).toBe(true);
});

test('to clones: what can be done in the second version, the refs before', async () => {
  for (const protocol of ['version=2', 'version=1', undefined])
    expect(await said('upload-pack', protocol)).toBe(byGit('upload-pack', protocol));
});
