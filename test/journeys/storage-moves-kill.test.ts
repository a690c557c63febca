/** Interrupted moves: kill -9 of the program at every step and of its database, and a disk that is full before the copy is whole. */
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { steps } from '../../src/domain/repositories/moves/run-move.ts';
import { diskPath } from '../../src/domain/repositories/store/containers.ts';
import {
  cleanUp,
  databaseProcesses,
  killNow,
  makeFolder,
  type Program,
  ROOT_TOKEN,
  startProgram,
} from './support.ts';

const victim = join(import.meta.dirname, 'move-victim.ts');
/** A disk that reports at once that it is full, and one with space for bytes but soon none for another file. */
const disks = { small: 'size=1m', crowded: 'size=64m,nr_inodes=24' };
const folders: Record<string, string> = {};

beforeAll(() => {
  for (const [name, options] of Object.entries(disks)) {
    const folder = makeFolder();
    folders[name] = folder;
    const { status, stderr, error } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], {
      encoding: 'utf8',
    });
    if (status === 0) continue;
    throw new Error(
      `this journey mounts small disks of tmpfs: it needs root (CAP_SYS_ADMIN) and the program mount (Debian package mount): ${error?.message ?? stderr}`,
    );
  }
});

afterAll(() => cleanUp(() => Object.values(folders).map((folder) => spawnSync('umount', [folder]))));

/** Two storages below a folder, and those on the small disks. */
function makeStorages(): { env: Record<string, string>; roots: Record<string, string> } {
  const root = makeFolder();
  const roots = { default: join(root, 'default'), fast: join(root, 'fast'), ...folders };
  for (const folder of Object.values(roots)) mkdirSync(folder, { recursive: true });
  const list = Object.entries(roots).map(([name, folder]) => `${name}:${folder}`);
  return { env: { ASHLAR_STORAGES: list.join(',') }, roots };
}

const bodyOf = async (response: Promise<Response>, status: number) => {
  const { status: given, text } = await response.then(async (each) => ({
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

/** The names of a project's repositories, and all names beside them, in a storage. */
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

test.each([
  ['small', 'There is no room for the copy in the storage small.'],
  ['crowded', 'There is no space left on the destination.'],
])(
  'a destination that is full, or gets full under the copy, fails the move; the source is as it was and takes commits: %s',
  async (name, reason) => {
    const { env, roots } = makeStorages();
    const program = await startProgram({ env });
    const project = await makeProject(program, 'large');
    await commit(program, project, 'large.txt', randomBytes(1_500_000).toString('hex'));
    for (let count = 0; count < 8; count++) await commit(program, project, `${count}.txt`, `${count}`);
    const before = contentOf(roots.default ?? '', project);
    const body = { destination_storage_name: name };
    await bodyOf(program.root(`POST /projects/${project}/repository_storage_moves`, body), 201);
    expect(await endOf(program, project)).toMatchObject({ state: 'failed', error_message: reason });
    expect(contentOf(roots.default ?? '', project)).toEqual(before);
    for (const folder of foldersOf(roots.default ?? '', project)) gitIn(folder, 'fsck', '--full', '--strict');
    await expect.poll(() => namesOf(roots[name] ?? '', project)).toEqual([]);
    await commit(program, project, 'after.txt', 'still here');
    expect((await bodyOf(program.root(`GET /projects/${project}`), 200)).repository_storage).toBe('default');
    await bodyOf(program.root(`POST /projects/${project}/repository_storage_moves`, toFast), 201);
    expect((await endOf(program, project)).state).toBe('finished');
    expect(await program.stop(), program.output()).toEqual({ code: 0, signal: null });
  },
);

/** A push of a branch to a commit that is there already, without its last bytes; `finish` sends them and reads the response. */
function beginPush(program: Program, path: string, ref: string, oid: string) {
  const request = httpRequest(`${program.url}/${path}.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`oauth2:${ROOT_TOKEN}`).toString('base64')}`,
      'content-type': 'application/x-git-receive-pack-request',
    },
  });
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;
  const pack = Buffer.concat([Buffer.from('PACK'), Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])]);
  const command = `${'0'.repeat(40)} ${oid} ${ref}\0report-status`;
  request.write(`${(command.length + 4).toString(16).padStart(4, '0')}${command}0000`);
  request.write(pack);
  return {
    async finish(): Promise<string> {
      request.end(createHash('sha1').update(pack).digest());
      const [response] = await answered;
      return text(response);
    },
  };
}

/** Whether a program runs whose command line has all the words. */
const isRunning = (...words: string[]): boolean =>
  readdirSync('/proc').some((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return words.every((word) => line.includes(word));
    } catch {
      // It is no process, or has ended meanwhile.
      return false;
    }
  });

test('a push that a move waits for is waited for also after the database has crashed, and is not lost', async () => {
  const { env, roots } = makeStorages();
  const program = await startProgram({ env });
  const project = await makeProject(program, 'pushed');
  const [own = ''] = foldersOf(roots.default ?? '', project);
  const head = gitIn(own, 'rev-parse', 'main').trim();
  const push = beginPush(program, 'root/pushed', 'refs/heads/late', head);
  await expect.poll(() => isRunning('receive-pack', own), { timeout: 10_000 }).toBe(true);
  await bodyOf(program.root(`POST /projects/${project}/repository_storage_moves`, toFast), 201);
  const state = async () => (await moveOf(program, project).catch(() => undefined))?.state;
  await expect.poll(state).toBe('started');

  // A backend: the server ends all others and recovers.
  const [backend = 0] = databaseProcesses(program.data).filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('postgres: ashlar '),
  );
  killNow(backend);
  const readiness = () => fetch(`${program.url}/-/readiness`).then(({ status }) => status);
  await expect.poll(() => program.output()).toContain('connection of the workers ended');
  await expect.poll(readiness, { timeout: 15_000 }).toBe(200);
  await expect.poll(state).toBe('started');
  // A process that had lost the push's lease would copy now, and be done.
  await sleep(3_000);
  expect(await state()).toBe('started');

  expect(await push.finish()).toContain('ok refs/heads/late');
  expect((await endOf(program, project)).state).toBe('finished');
  const [moved = ''] = foldersOf(roots.fast ?? '', project);
  expect(gitIn(moved, 'rev-parse', 'late').trim()).toBe(head);
  expect(namesOf(roots.default ?? '', project)).toEqual([]);
  expect(await program.stop(), program.output()).toEqual({ code: 0, signal: null });
});
