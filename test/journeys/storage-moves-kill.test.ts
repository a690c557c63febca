/** Moves that are cut off: kill -9 of the program at every step, and a disk that is full before the copy is whole. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { diskPath } from '../../src/core/repositories/containers.ts';
import { steps } from '../../src/domain/storage-moves/carry-out.ts';
import { cleanUp, makeFolder, type Program, startProgram } from './support.ts';

const victim = join(import.meta.dirname, 'move-victim.ts');
let disk: string;

beforeAll(() => {
  disk = makeFolder();
  const { status, stderr, error } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], {
    encoding: 'utf8',
  });
  if (status === 0) return;
  throw new Error(
    `this journey mounts a small tmpfs: it needs root (CAP_SYS_ADMIN) and the program mount (Debian package mount): ${error?.message ?? stderr}`,
  );
});

afterAll(() => cleanUp(() => spawnSync('umount', [disk])));

/** Two storages below a folder, and one on the small disk. */
function makeStorages(): { env: Record<string, string>; roots: Record<string, string> } {
  const root = makeFolder();
  const roots = { default: join(root, 'default'), fast: join(root, 'fast'), small: disk };
  for (const folder of Object.values(roots)) mkdirSync(folder, { recursive: true });
  const list = Object.entries(roots).map(([name, folder]) => `${name}:${folder}`);
  return { env: { ASHLAR_STORAGES: list.join(',') }, roots };
}

const bodyOf = async (answer: Promise<Response>, status: number) => {
  const { status: given, text } = await answer.then(async (each) => ({
    status: each.status,
    text: await each.text(),
  }));
  expect(given, text).toBe(status);
  return JSON.parse(text);
};

/** A commit of one file through the API; the id of the commit. */
async function commit(program: Program, project: number, path: string, content: string): Promise<string> {
  const body = {
    branch: 'main',
    commit_message: path,
    actions: [{ action: 'create', file_path: path, content }],
  };
  return (await bodyOf(program.root(`POST /projects/${project}/repository/commits`, body), 201)).id;
}

async function makeProject(program: Program, name: string): Promise<number> {
  const { id } = await bodyOf(program.root('POST /projects', { name, path: name }), 201);
  await commit(program, id, 'README.md', `# ${name}\n`);
  await commit(program, id, 'noise.txt', randomBytes(8_192).toString('hex'));
  const page = { title: 'home', content: 'Welcome' };
  await bodyOf(program.root(`POST /projects/${id}/wikis`, page), 201);
  return id;
}

const gitIn = (folder: string, ...args: string[]): string => {
  const { status, stdout, stderr } = spawnSync(
    'git',
    ['-c', 'safe.directory=*', `--git-dir=${folder}`, ...args],
    {
      encoding: 'utf8',
    },
  );
  expect(status, stderr).toBe(0);
  return stdout;
};

const foldersOf = (root: string, project: number): string[] =>
  ['.git', '.wiki.git'].map((ending) => `${join(root, diskPath({ kind: 'project', id: project }))}${ending}`);

/** Everything that stands beside or in the place of a project's repositories in a storage. */
function namesOf(root: string, project: number): string[] {
  const [own = ''] = foldersOf(root, project);
  const parent = join(own, '..');
  return existsSync(parent) ? readdirSync(parent).sort() : [];
}

/** All refs and all objects, of the project's own repository and its wiki's. */
const contentOf = (root: string, project: number): string[] =>
  foldersOf(root, project).flatMap((folder) => [
    gitIn(folder, 'for-each-ref'),
    gitIn(folder, 'rev-list', '--all', '--objects'),
  ]);

const moveOf = (program: Program, project: number) =>
  bodyOf(program.root(`GET /projects/${project}/repository_storage_moves`), 200).then(([newest]) => newest);

const endOf = async (program: Program, project: number) => {
  const state = async () => (await moveOf(program, project)).state;
  await expect.poll(state, { timeout: 40_000 }).toBeOneOf(['finished', 'failed']);
  return moveOf(program, project);
};

const toFast = { destination_storage_name: 'fast' };

test('after kill -9 at every step the move goes on, and nothing is lost and nothing stays behind', async () => {
  const { env, roots } = makeStorages();
  const data = join(makeFolder(), 'data');
  for (const step of steps) {
    const dying = await startProgram({ data, env: { ...env, FATAL_STEP: step }, command: [victim] });
    const project = await makeProject(dying, `at-${step.replace(' ', '-')}`);
    const before = contentOf(roots.default ?? '', project);
    await dying.root(`POST /projects/${project}/repository_storage_moves`, toFast).catch(() => undefined);
    expect(await dying.ended, step).toEqual({ code: null, signal: 'SIGKILL' });

    const program = await startProgram({ data, env });
    const { state } = await endOf(program, project);
    const [home, left] = state === 'finished' ? ['fast', 'default'] : ['default', 'fast'];
    expect([step, state]).toEqual([step, 'finished']);
    const record = await bodyOf(program.root(`GET /projects/${project}`), 200);
    expect(record.repository_storage).toBe(home);
    expect(contentOf(roots[home] ?? '', project)).toEqual(before);
    for (const folder of foldersOf(roots[home] ?? '', project)) gitIn(folder, 'fsck', '--full', '--strict');
    expect(namesOf(roots[left] ?? '', project)).toEqual([]);
    expect(namesOf(roots[home] ?? '', project)).toHaveLength(2);
    const oid = await commit(program, project, 'after.txt', 'still here');
    expect(gitIn(foldersOf(roots[home] ?? '', project)[0] ?? '', 'rev-parse', 'main').trim()).toBe(oid);
    expect(await program.stop(), program.output()).toEqual({ code: 0, signal: null });
  }
});

test('a full destination fails the move with a reason; the source is as it was and takes commits', async () => {
  const { env, roots } = makeStorages();
  const program = await startProgram({ env });
  const project = await makeProject(program, 'large');
  await commit(program, project, 'large.txt', randomBytes(1_500_000).toString('hex'));
  const before = contentOf(roots.default ?? '', project);
  const body = { destination_storage_name: 'small' };
  await bodyOf(program.root(`POST /projects/${project}/repository_storage_moves`, body), 201);
  expect(await endOf(program, project)).toMatchObject({
    state: 'failed',
    error_message: 'There is no space left on the destination.',
  });
  expect(contentOf(roots.default ?? '', project)).toEqual(before);
  await expect.poll(() => namesOf(disk, project)).toEqual([]);
  await commit(program, project, 'after.txt', 'still here');
  expect((await bodyOf(program.root(`GET /projects/${project}`), 200)).repository_storage).toBe('default');
  await bodyOf(program.root(`POST /projects/${project}/repository_storage_moves`, toFast), 201);
  expect((await endOf(program, project)).state).toBe('finished');
  expect(await program.stop(), program.output()).toEqual({ code: 0, signal: null });
});
