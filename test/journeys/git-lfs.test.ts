/** git-lfs, which pushes, fetches and locks large files, and what git itself pushes of them. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { useGitbeaker } from './gitbeaker-client.ts';
import { mustEnd, startPython } from './python.ts';
import { makeFolder } from './support.ts';

const gitbeaker = useGitbeaker();
const run = promisify(execFile);

const MISSING =
  'LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".';

/** Runs git in a folder, with a home where git-lfs is set up; throws with its output when it fails. */
async function git(folder: string, ...args: string[]): Promise<string> {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    GIT_TERMINAL_PROMPT: '0',
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [
        [`GIT_${who}_NAME`, 'Ada'],
        [`GIT_${who}_EMAIL`, 'ada@example.com'],
      ]),
    ),
  };
  const all = ['-c', 'init.defaultBranch=main', ...args];
  const { stdout, stderr } = await run('git', all, { cwd: folder, env, timeout: 120_000 }).catch((error) => {
    throw new Error(`git ${args.join(' ')}: ${error.stdout}${error.stderr}`);
  });
  return stdout + stderr;
}
const home = makeFolder();

test('large files are pushed, cloned, forked and locked, and none is missing', async () => {
  await git(home, 'lfs', 'version').catch((error) => {
    throw new Error('no git-lfs: apt-get install git-lfs', { cause: error });
  });
  await git(home, 'lfs', 'install', '--skip-repo');
  await git(home, 'config', '--global', 'lfs.locksverify', 'true');
  const { root, url } = gitbeaker;
  const group = await gitbeaker.makeGroup('quarry');
  const project = await root.Projects.create({ name: 'stone', namespaceId: group.id, visibility: 'private' });
  const [mason, carver, reader] = [
    await gitbeaker.makeUser('mason'),
    await gitbeaker.makeUser('carver'),
    await gitbeaker.makeUser('reader'),
  ];
  for (const { id } of [mason, carver]) await root.ProjectMembers.add(project.id, 40, { userId: id });
  await root.ProjectMembers.add(project.id, 20, { userId: reader.id });
  const remote = (user: { token: string }, path = 'quarry/stone') =>
    `${url.replace('://', `://any:${user.token}@`)}/${path}.git`;
  const clone = async (user: { token: string }, path?: string): Promise<string> => {
    const folder = makeFolder();
    await git(folder, 'clone', '-q', remote(user, path), 'work');
    return join(folder, 'work');
  };
  const commit = async (work: string, name: string, content: Buffer | string): Promise<void> => {
    mkdirSync(join(work, 'art'), { recursive: true });
    writeFileSync(join(work, name), content);
    await git(work, 'add', '--all');
    await git(work, 'commit', '-q', '-m', `Add ${name}`);
  };

  const work = await clone(mason);
  await git(work, 'checkout', '-q', '-B', 'main');
  await git(work, 'lfs', 'track', '--lockable', '*.psd');
  const [picture, second] = [randomBytes(3_000_000), randomBytes(100_000)];
  await commit(work, 'art/a.psd', picture);
  await git(work, 'push', '-q', '-u', 'origin', 'main');
  expect(await git(work, 'show', 'HEAD:art/a.psd')).toContain('size 3000000');
  const statistics = async () => (await root.Projects.show(project.id, { statistics: true })).statistics;
  expect(await statistics()).toMatchObject({ lfs_objects_size: 3_000_000 });

  // Elsewhere, by who only reads.
  const copy = await clone(reader);
  expect(readFileSync(join(copy, 'art/a.psd'))).toEqual(picture);
  await commit(copy, 'art/mine.psd', second);
  await expect(git(copy, 'push', 'origin', 'HEAD:refs/heads/mine')).rejects.toThrow(
    /403|not allowed|forbidden/i,
  );

  // An archive has it too, as Python unpacks that.
  const archived = await fetch(`${url}/api/v4/projects/${project.id}/repository/archive.zip`, {
    headers: { 'private-token': reader.token },
  });
  const unpacking = makeFolder();
  writeFileSync(join(unpacking, 'a.zip'), Buffer.from(await archived.arrayBuffer()));
  const unzip = [
    'import zipfile',
    "archive = zipfile.ZipFile('a.zip')",
    'assert archive.testzip() is None',
    "[name] = [each for each in archive.namelist() if each.endswith('/art/a.psd')]",
    "open('a.psd', 'wb').write(archive.read(name))",
  ].join('\n');
  await mustEnd(startPython(unpacking, ['-c', unzip]));
  expect(readFileSync(join(unpacking, 'a.psd'))).toEqual(picture);

  // A fork has what its source has, and takes more.
  const response = await fetch(`${url}/api/v4/projects/${project.id}/fork`, {
    method: 'POST',
    headers: { 'private-token': reader.token },
  });
  expect(response.status).toBe(201);
  const forked = await clone(reader, 'reader/stone');
  expect(readFileSync(join(forked, 'art/a.psd'))).toEqual(picture);
  await git(copy, 'push', '-q', remote(reader, 'reader/stone'), 'HEAD:refs/heads/mine');
  await expect(git(makeFolder(), 'clone', '-q', remote(carver, 'reader/stone'), 'work')).rejects.toThrow();

  // Locks: a second one is refused what the first one holds.
  expect(await git(work, 'lfs', 'lock', 'art/a.psd')).toContain('Locked art/a.psd');
  const others = await clone(carver);
  expect(await git(others, 'lfs', 'locks')).toMatch(/art\/a\.psd\s+The mason\s+ID:\d+/);
  await expect(git(others, 'lfs', 'lock', 'art/a.psd')).rejects.toThrow(/already locked|Lock exists/);
  await expect(git(others, 'lfs', 'unlock', 'art/a.psd')).rejects.toThrow('is locked by @mason');
  await git(others, 'config', 'lfs.setlockablereadonly', 'false');
  expect(statSync(join(work, 'art/a.psd')).mode & 0o200).toBe(0o200);
  await git(others, 'lfs', 'checkout');
  await commit(others, 'art/b.psd', second);
  await git(others, 'push', '-q', 'origin', 'HEAD:main');
  await git(others, 'rm', '-q', '-f', 'art/a.psd');
  await git(others, 'commit', '-q', '-m', 'Remove');
  await expect(git(others, 'push', 'origin', 'HEAD:main')).rejects.toThrow(/locked/);
  // The server says so, too, where the client does not.
  await expect(git(others, 'push', '--no-verify', 'origin', 'HEAD:main')).rejects.toThrow(
    "The path 'art/a.psd' is locked in Git LFS by @mason",
  );
  expect(await git(others, 'lfs', 'unlock', '--force', '--id', '1')).toContain('Unlocked');
  expect(await git(work, 'lfs', 'locks')).toBe('');
  await git(others, 'push', '-q', 'origin', 'HEAD:main');

  // A pointer alone is refused until its object is there.
  await git(work, 'pull', '-q');
  await commit(work, 'art/c.psd', randomBytes(50_000));
  await expect(git(work, 'push', '--no-verify', 'origin', 'main')).rejects.toThrow(MISSING);
  await git(work, 'lfs', 'push', '--all', 'origin');
  await git(work, 'push', '--no-verify', 'origin', 'main');
  expect(await statistics()).toMatchObject({ lfs_objects_size: 3_150_000 });
  await expect(git(makeFolder(), 'clone', '-q', remote({ token: 'wrong' }), 'work')).rejects.toThrow();
});
