/** Pushes and commits over the API: pointers whose objects are missing, and files that others have locked. */
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import {
  bodyOf,
  type MadeUser,
  makeMembers,
  makeProject,
  uniqueName,
} from '../../../test/support/factories.ts';
import { addressOf, commitFiles, makeHome, mustGit, runGit } from '../../../test/support/git.ts';
import { commitTo } from '../../../test/support/merge-requests.ts';

const app = useApp();
const home = makeHome();
afterAll(() => rmSync(home, { recursive: true, force: true }));

const MISSING =
  'LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".';
const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex');
const pointerTo = (content: string): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256(content)}\nsize ${content.length}\n`;

async function makeWorld() {
  const project = await makeProject(app);
  const members = await makeMembers(app, `projects/${project.id}`, 'developer', 'maintainer');
  await commitTo(app, project.id, 'main', { 'art/a.psd': 'a', 'b.txt': 'b' });
  const call = (user: MadeUser, line: string, body: unknown) => {
    const [method = '', path = ''] = line.split(' ');
    const authorization = `Basic ${Buffer.from(`x:${user.token}`).toString('base64')}`;
    return fetch(`${app.url}/${project.path_with_namespace}.git/${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/vnd.git-lfs+json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  };
  const bring = async (content: string) =>
    expect(
      (await call(members.developer, `PUT lfs/objects/${sha256(content)}/${content.length}`, content)).status,
    ).toBe(200);
  const lock = async (user: MadeUser, path: string) => {
    const response = await call(user, 'POST info/lfs/locks', { path });
    expect(response.status).toBe(201);
    return ((await response.json()) as { lock: { id: string } }).lock.id;
  };
  const unlock = (user: MadeUser, id: string) => call(user, `POST info/lfs/locks/${id}/unlock`, {});
  const clone = async (user: MadeUser): Promise<string> => {
    const work = join(home, uniqueName('work'));
    await mustGit(home, ['clone', '-q', addressOf(app.url, project.path_with_namespace, user.token), work]);
    return work;
  };
  /** Pushes a commit upon what main is now. */
  const push = async (user: MadeUser, files: Record<string, string>, ref = uniqueName('branch')) => {
    const work = await clone(user);
    await commitFiles(work, files);
    const { code, output } = await runGit(work, ['push', 'origin', `HEAD:refs/heads/${ref}`]);
    return { taken: code === 0, output };
  };
  return { project, ...members, bring, lock, unlock, clone, push };
}

test('a pointer is pushed when its object is there, and no text that only looks like one is refused', async () => {
  const { project, developer, maintainer, bring, push } = await makeWorld();
  const refused = await push(developer, { 'a.bin': pointerTo('granite') });
  expect(refused.output).toContain(`remote: ${MISSING}`);
  expect(refused.output).toContain('pre-receive hook declined');
  // Among many, and by whoever.
  await bring('granite');
  const both = { 'a.bin': pointerTo('granite'), 'b.bin': pointerTo('slate'), 'c.txt': 'c'.repeat(300) };
  expect((await push(maintainer, both)).taken).toBe(false);
  expect((await push(maintainer, both, 'main')).taken).toBe(false);
  expect((await push(developer, { 'a.bin': pointerTo('granite') })).taken).toBe(true);
  const text = {
    'doc.md': `A pointer is\n\n${pointerTo('sand')}`,
    'one.txt': pointerTo('sand').slice(0, -8),
  };
  expect((await push(developer, text)).taken).toBe(true);
  // Of many packed objects too.
  const many = Object.fromEntries(
    Array.from({ length: 150 }, (_, at) => [`many/${at}`, `${at} `.repeat(100)]),
  );
  expect((await push(developer, many)).taken).toBe(true);
  expect((await push(developer, { ...many, 'z.bin': pointerTo('slate') })).output).toContain(MISSING);
  await app.root(`PUT /projects/${project.id}`, { body: { lfs_enabled: false } });
  expect((await push(developer, { 'b.bin': pointerTo('slate') })).taken).toBe(true);
});

test('a push that changes what another one has locked is refused', async () => {
  const { developer, maintainer, lock, unlock, clone, push } = await makeWorld();
  const id = await lock(developer, 'art/a.psd');
  const refused = await push(maintainer, { 'art/a.psd': 'other' });
  expect(refused.taken).toBe(false);
  expect(refused.output).toContain(`The path 'art/a.psd' is locked in Git LFS by @${developer.username}`);
  expect((await push(maintainer, { 'b.txt': 'other' }, 'main')).taken).toBe(true);
  expect((await push(developer, { 'art/a.psd': 'other' })).taken).toBe(true);
  // What its owner pushed to a branch, another one may merge and push.
  const work = await clone(developer);
  await commitFiles(work, { 'art/a.psd': 'newer' });
  await mustGit(work, ['push', '-q', 'origin', 'HEAD:refs/heads/art']);
  const others = await clone(maintainer);
  await commitFiles(others, { 'c.txt': 'c' });
  await mustGit(others, ['merge', '-q', 'origin/art', '-m', 'Merge']);
  await mustGit(others, ['push', '-q', 'origin', 'HEAD:main']);
  expect((await unlock(developer, id)).status).toBe(200);
  expect((await push(maintainer, { 'art/a.psd': 'other' })).taken).toBe(true);
});

test('commits over the API are refused alike', async () => {
  const { project, developer, maintainer, lock } = await makeWorld();
  await lock(developer, 'art/a.psd');
  const change = (user: MadeUser, file_path: string) => ({
    body: { branch: 'main', commit_message: 'Change', content: uniqueName('content') },
    line: `PUT /projects/${project.id}/repository/files/${encodeURIComponent(file_path)}` as const,
    as: app.as(user.token),
  });
  const refused = change(maintainer, 'art/a.psd');
  const { status, body } = await refused.as(refused.line, { body: refused.body });
  expect([status, body.message]).toEqual([
    400,
    `The path 'art/a.psd' is locked in Git LFS by @${developer.username}`,
  ]);
  const other = change(maintainer, 'b.txt');
  bodyOf(await other.as(other.line, { body: other.body }), 200);
  const moved = await app.as(maintainer.token)(`POST /projects/${project.id}/repository/commits`, {
    body: {
      branch: 'topic',
      start_branch: 'main',
      commit_message: 'Move',
      actions: [{ action: 'move', previous_path: 'art/a.psd', file_path: 'z.psd' }],
    },
  });
  expect(moved.status).toBe(400);
});
