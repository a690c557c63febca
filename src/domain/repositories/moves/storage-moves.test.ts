/** Moves of repositories between storages, over HTTP and on the disk. */

import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, inject, test } from 'vitest';
import { type Called, movableContainers, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeProject, makeUser, uniqueName } from '../../../../test/support/factories.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import type { RepositoryKey } from '../../../kernel/repository-store.ts';
import { allRefs } from '../../../platform/git/copies/copy.ts';
import { newObject } from '../../../platform/git/parse.ts';
import { gitEnvironment, gitText } from '../../../platform/git/program/program.ts';
import { findBranch } from '../../../platform/git/refs.ts';
import { commitChanges } from '../pushes/commits.ts';
import { groupWiki, projectRepository, projectWiki, snippetRepository } from '../store/containers.ts';
import { type Step, storageMovesCapability } from './capability.ts';

const root = join(inject('dataFolders'), `moves-${randomUUID()}`);
const storages = ['default', 'fast', 'slow', 'blocked', 'gone', 'alias'] as const;
for (const name of ['default', 'fast', 'slow', 'blocked']) mkdirSync(join(root, name), { recursive: true });
// Nothing can be made below a file, by root neither.
writeFileSync(join(root, 'blocked', '@hashed'), '');
symlinkSync(join(root, 'default'), join(root, 'alias'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const ASHLAR_STORAGES = storages.map((name) => `${name}:${join(root, name)}`).join(',');
/** The test's work after a step of a move, before it goes on. */
let onStep: ((step: Step) => void) | undefined;
const app = useApp({
  env: { ASHLAR_STORAGES, ASHLAR_TIER: 'premium' },
  instead: (services) =>
    storageMovesCapability(services, movableContainers, {
      // All readers of these tests have leases.
      pace: { settling: 50 },
      onStep: (step) => onStep?.(step),
    }),
});
afterEach(() => {
  onStep = undefined;
});

const services = () => app.app.services;
const folderOf = (key: RepositoryKey, storage: string): string =>
  services().repositories.folder(key, storage);

/** All names below the storages that belong to a move and not to a repository. */
const leftovers = (): string[] =>
  storages.flatMap((name) =>
    existsSync(join(root, name))
      ? readdirSync(join(root, name), { recursive: true, encoding: 'utf8' }).filter((path) =>
          /\.move-|\.draft/.test(path),
        )
      : [],
  );

/** One more commit, as a client of the API would make it; returns its id. */
const commit = (key: RepositoryKey, path: string, branch = 'main'): Promise<string> =>
  services().repositories.write(key, branch, async (git) => {
    const blob = newObject('blob', Buffer.from(path));
    const { commit: made } = await commitChanges(git, {
      branch,
      head: await findBranch(git, branch),
      changes: [{ path: [path], entry: { mode: '100644', oid: blob.oid } }],
      blobs: [blob],
      message: path,
      author: { name: 'Ada', email: 'ada@example.com' },
    });
    return made.oid;
  });

const over = ['finished', 'failed', 'cleanup failed'];

/** The record of the move when it is over. */
async function endOf(path: string): Promise<Called['body']> {
  const read = async () => bodyOf(await app.root(`GET ${path}`), 200);
  const state = async () => (await read()).state;
  await expect.poll(state, { timeout: 30_000, interval: 50 }).toBeOneOf(over);
  return read();
}

async function schedule(id: number, destination?: string): Promise<Called['body']> {
  const body = destination === undefined ? {} : { destination_storage_name: destination };
  return bodyOf(await app.root(`POST /projects/${id}/repository_storage_moves`, { body }), 201);
}

const move = async (id: number, destination: string): Promise<Called['body']> =>
  endOf(`/projects/${id}/repository_storage_moves/${(await schedule(id, destination)).id}`);

const storageOf = async (id: number): Promise<string> =>
  bodyOf(await app.root(`GET /projects/${id}`), 200).repository_storage;

/** A project with two commits, and a page in its wiki. */
async function makeFull(): Promise<{ id: number; head: string }> {
  const { id } = await makeProject(app);
  const head = await fillProject(app, id, [{ 'a.txt': 'one\n' }, { 'a.txt': 'two\n' }]);
  await commit(projectWiki(id), 'home.md');
  return { id, head };
}

describe('a move of a project', () => {
  test('takes its repository and its wiki along, and nothing stays behind', async () => {
    const { id, head } = await makeFull();
    const before = await allRefs(folderOf(projectRepository(id), 'default'));
    const scheduled = await schedule(id, 'fast');
    const project = bodyOf(await app.root(`GET /projects/${id}`), 200);
    expect(scheduled).toEqual({
      id: expect.any(Number),
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      state: 'scheduled',
      source_storage_name: 'default',
      destination_storage_name: 'fast',
      error_message: null,
      project: {
        id,
        description: null,
        name: project.name,
        name_with_namespace: project.name_with_namespace,
        path: project.path,
        path_with_namespace: project.path_with_namespace,
        created_at: project.created_at,
      },
    });
    const ended = await endOf(`/project_repository_storage_moves/${scheduled.id}`);
    expect(ended).toEqual({ ...scheduled, state: 'finished' });
    expect(await storageOf(id)).toBe('fast');
    for (const key of [projectRepository(id), projectWiki(id)]) {
      expect(existsSync(folderOf(key, 'fast'))).toBe(true);
      expect(existsSync(folderOf(key, 'default'))).toBe(false);
    }
    expect(await allRefs(folderOf(projectRepository(id), 'fast'))).toBe(before);
    expect(leftovers()).toEqual([]);
    expect(await commit(projectRepository(id), 'b.txt')).toMatch(/^[0-9a-f]{40}$/);
    const { folder } = services().repositories.open(projectRepository(id), 'fast');
    expect((await gitText(['rev-list', 'main'], { folder })).split('\n')).toContain(head);
    expect(app.log.join('')).toMatch(/"event":"storage move".*"phase":"switched"/);

    const storage = bodyOf(await app.root(`GET /projects/${id}/storage`), 200);
    expect(storage).toEqual({
      project_id: id,
      disk_path: expect.stringMatching(/^@hashed\/[0-9a-f]{2}\/[0-9a-f]{2}\/[0-9a-f]{64}$/),
      created_at: project.created_at,
      repository_storage: 'fast',
    });
    const listed = bodyOf(await app.root('GET /projects', { query: 'repository_storage=fast' }), 200);
    expect(listed.map((each: { id: number }) => each.id)).toContain(id);
  });

  test('of one that has no repository yet moves its row', async () => {
    const { id } = await makeProject(app);
    expect((await move(id, 'fast')).state).toBe('finished');
    expect(await storageOf(id)).toBe('fast');
    await commit(projectRepository(id), 'first.txt');
    expect(existsSync(folderOf(projectRepository(id), 'fast'))).toBe(true);
  });

  test('waits for writers, refuses new ones, and goes on for readers', async () => {
    const { id, head } = await makeFull();
    const key = projectRepository(id);
    const writer = await services().repositories.lease(key, 'write');
    const scheduled = await schedule(id, 'fast');
    await expect(commit(key, 'refused.txt')).rejects.toThrow(
      'The repository is temporarily read-only. Please try again later.',
    );
    const reader = await services().repositories.lease(key, 'read');
    await writer.release();
    const path = `/projects/${id}/repository_storage_moves/${scheduled.id}`;
    const state = async () => bodyOf(await app.root(`GET ${path}`), 200).state;
    await expect.poll(state, { timeout: 20_000 }).toBe('replicated');
    const { text: metrics } = await app.call('GET /-/metrics', { raw: true });
    expect(metrics).toMatch(
      new RegExp(`repository_storage_move_bytes\\{move="${scheduled.id}",phase="switched"\\} [1-9]`),
    );
    // It is writable in the new storage, while the old copy stays for its readers.
    await commit(key, 'accepted.txt');
    expect(await gitText(['cat-file', '-p', `${head}:a.txt`], { folder: reader.git.folder })).toBe('two\n');
    const again = await app.root(`POST /projects/${id}/repository_storage_moves`, {
      body: { destination_storage_name: 'slow' },
    });
    expect([again.status, again.body]).toEqual([400, { message: { project: ['is read-only'] } }]);
    const read = await services().repositories.read(key, 'default', (git) => git.info('refs/heads/main'));
    expect(read).toBeDefined();
    await reader.release();
    expect((await endOf(path)).state).toBe('finished');
    expect(existsSync(folderOf(key, 'default'))).toBe(false);
    expect(await services().repositories.read(key, 'default', (git) => git.info(head))).toMatchObject({
      oid: head,
    });
  });

  test('is scheduled by PUT with repository_storage, by administrators only', async () => {
    const { id } = await makeFull();
    const owner = await makeUser(app);
    bodyOf(
      await app.root(`POST /projects/${id}/members`, { body: { user_id: owner.id, access_level: 40 } }),
      201,
    );
    const body = { repository_storage: 'fast' };
    await app.as(owner.token)(`PUT /projects/${id}`, { body: { ...body, description: 'x' } });
    expect(bodyOf(await app.root(`GET /projects/${id}/repository_storage_moves`), 200)).toEqual([]);
    bodyOf(await app.root(`PUT /projects/${id}`, { body }), 200);
    const [made] = bodyOf(await app.root(`GET /projects/${id}/repository_storage_moves`), 200);
    expect(await endOf(`/projects/${id}/repository_storage_moves/${made.id}`)).toMatchObject({
      state: 'finished',
      destination_storage_name: 'fast',
    });
  });

  test('to a storage that is not there is refused under the name that was sent', async () => {
    const { id } = await makeProject(app);
    const refused = { message: { repository_storage: ['is invalid'] } };
    for (const storage of ['nowhere', '', 'constructor']) {
      const body = { repository_storage: storage, description: 'x' };
      const response = await app.root(`PUT /projects/${id}`, { body });
      expect([response.status, response.body]).toEqual([400, refused]);
      const created = await app.root('POST /projects', { body: { name: `at-${storage}`, ...body } });
      expect([created.status, created.body]).toEqual([400, refused]);
    }
    expect(bodyOf(await app.root(`GET /projects/${id}`), 200).description).toBeNull();
    expect(bodyOf(await app.root(`GET /projects/${id}/repository_storage_moves`), 200)).toEqual([]);
  });

  test('at the start is for administrators to choose', async () => {
    const user = await makeUser(app);
    const body = { name: 'placed', repository_storage: 'slow', initialize_with_readme: true };
    const placed = bodyOf(await app.root('POST /projects', { body }), 201);
    expect(placed.repository_storage).toBe('slow');
    expect(statSync(folderOf(projectRepository(placed.id), 'slow')).isDirectory()).toBe(true);
    const theirs = bodyOf(
      await app.as(user.token)('POST /projects', { body: { ...body, repository_storage: 'nowhere' } }),
      201,
    );
    expect(await storageOf(theirs.id)).toBe('default');
  });

  test('to another name of the same folder copies nothing and removes nothing', async () => {
    const { id, head } = await makeFull();
    const { ino } = statSync(folderOf(projectRepository(id), 'default'));
    expect((await move(id, 'alias')).state).toBe('finished');
    expect(await storageOf(id)).toBe('alias');
    expect(statSync(folderOf(projectRepository(id), 'alias')).ino).toBe(ino);
    const { folder } = services().repositories.open(projectRepository(id), 'alias');
    expect((await gitText(['rev-parse', 'main'], { folder })).trim()).toBe(head);
    expect((await move(id, 'default')).state).toBe('finished');
    expect(statSync(folderOf(projectRepository(id), 'default')).ino).toBe(ino);
  });

  test('removes what it made when the project goes under it', async () => {
    const { id } = await makeFull();
    const writer = await services().repositories.lease(projectRepository(id), 'write');
    const { id: moveId } = await schedule(id, 'fast');
    await services().database.sql`delete from projects where id = ${id}`;
    await writer.release();
    const rows = () => services().database.sql`select state from storage_moves where id = ${moveId}`;
    await expect.poll(async () => (await rows()).length, { timeout: 20_000 }).toBe(0);
    expect(existsSync(folderOf(projectRepository(id), 'default'))).toBe(false);
    expect(existsSync(folderOf(projectRepository(id), 'fast'))).toBe(false);
    expect(leftovers()).toEqual([]);
  });
});

test('writers that commit throughout 20 moves lose nothing', async () => {
  const { id } = await makeFull();
  const kept = new Map<string, string[]>();
  let moving = true;
  const write = async (key: RepositoryKey, branch: string) => {
    const acknowledged: string[] = [];
    kept.set(branch, acknowledged);
    for (let count = 0; moving && count < 100_000; count++) {
      const oid = await commit(key, `${branch}-${count}.txt`, branch).catch((error: Error) => {
        if (!error.message.includes('temporarily read-only')) throw error;
      });
      if (oid) acknowledged.push(oid);
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
  };
  const writers = [
    write(projectRepository(id), 'one'),
    write(projectRepository(id), 'two'),
    write(projectWiki(id), 'wiki'),
  ];
  try {
    const fewest = () => Math.min(...[...kept.values()].map(({ length }) => length));
    for (let moves = 0; moves < 20 || fewest() <= 20; moves += 2) {
      expect((await move(id, 'fast')).state).toBe('finished');
      expect((await move(id, 'default')).state).toBe('finished');
    }
  } finally {
    moving = false;
  }
  await Promise.all(writers);
  for (const [branch, acknowledged] of kept) {
    const folder = folderOf(branch === 'wiki' ? projectWiki(id) : projectRepository(id), 'default');
    const there = new Set((await gitText(['rev-list', `refs/heads/${branch}`], { folder })).split('\n'));
    expect(acknowledged.length).toBeGreaterThan(20);
    expect(acknowledged.filter((oid) => !there.has(oid))).toEqual([]);
    await gitText(['fsck', '--full', '--strict'], { folder });
  }
  expect(leftovers()).toEqual([]);
});

describe('a move that cannot be', () => {
  /** The source has its path and its refs, and takes commits. */
  async function expectUntouched(id: number, refs: string): Promise<void> {
    const folder = folderOf(projectRepository(id), 'default');
    expect(await allRefs(folder)).toBe(refs);
    expect(await storageOf(id)).toBe('default');
    expect(await commit(projectRepository(id), uniqueName('after'))).toMatch(/^[0-9a-f]{40}$/);
    await expect.poll(leftovers).toEqual([]);
  }

  test.each([
    ['gone', 'The folder of the storage gone is not there.'],
    ['blocked', 'The destination cannot be written (ENOTDIR).'],
  ])('to %s fails with a reason', async (destination, reason) => {
    const { id } = await makeFull();
    const refs = await allRefs(folderOf(projectRepository(id), 'default'));
    expect(await move(id, destination)).toMatchObject({ state: 'failed', error_message: reason });
    await expectUntouched(id, refs);
  });

  test('of a damaged pack fails with a reason, and leaves it to who mends it', async () => {
    const { id } = await makeFull();
    const folder = folderOf(projectRepository(id), 'default');
    const refs = await allRefs(folder);
    await gitText(['repack', '-a', '-d', '-q'], { folder });
    const packs = join(folder, 'objects', 'pack');
    const pack = join(packs, readdirSync(packs).find((name) => name.endsWith('.pack')) ?? '');
    const bytes = readFileSync(pack);
    const whole = Buffer.from(bytes);
    const middle = Math.floor(bytes.length / 2);
    bytes[middle] = 255 - (bytes[middle] ?? 0);
    chmodSync(pack, 0o600);
    writeFileSync(pack, bytes);
    expect(await move(id, 'fast')).toMatchObject({
      state: 'failed',
      error_message: expect.stringMatching(/^The file pack-[0-9a-f]+\.pack is damaged\.$/),
    });
    expect(readFileSync(pack).equals(bytes)).toBe(true);
    expect(existsSync(folderOf(projectRepository(id), 'fast'))).toBe(false);
    writeFileSync(pack, whole);
    await expectUntouched(id, refs);
    expect((await move(id, 'fast')).state).toBe('finished');
  });

  test.each<[string, string[]]>([
    ['a new branch', ['branch', 'late', 'main']],
    ['a branch that goes back', ['update-ref', 'refs/heads/main', 'main~1']],
    ['a branch that goes', ['update-ref', '-d', 'refs/heads/other']],
    ['another branch at HEAD', ['symbolic-ref', 'HEAD', 'refs/heads/other']],
  ])('since somebody who was taken for dead wrote after the copy loses nothing: %s', async (_, args) => {
    const { id } = await makeFull();
    const folder = folderOf(projectRepository(id), 'default');
    await gitText(['branch', 'other', 'main'], { folder });
    let copies = 0;
    onStep = (step) => {
      // The second copy is the wiki's; then both are whole.
      if (step === 'verified' && ++copies === 2)
        execFileSync('git', [`--git-dir=${folder}`, ...args], { env: gitEnvironment });
    };
    const refsAndHead = (its: string) =>
      gitText(['for-each-ref', '--format=%(HEAD) %(objectname) %(refname)'], { folder: its });
    const before = await refsAndHead(folder);
    expect(await move(id, 'fast')).toMatchObject({
      state: 'failed',
      error_message: 'The repository was written to meanwhile.',
    });
    expect(await refsAndHead(folder)).not.toBe(before);
    expect(existsSync(folderOf(projectRepository(id), 'fast'))).toBe(false);
    await expectUntouched(id, await allRefs(folder));
    onStep = undefined;
    const written = await refsAndHead(folder);
    expect((await move(id, 'fast')).state).toBe('finished');
    expect(await refsAndHead(folderOf(projectRepository(id), 'fast'))).toBe(written);
  });

  test('of a repository that is not there fails', async () => {
    const { id } = await makeFull();
    rmSync(folderOf(projectWiki(id), 'default'), { recursive: true });
    expect(await move(id, 'fast')).toMatchObject({
      state: 'failed',
      error_message: "The wiki's repository is not in the source storage.",
    });
    expect(existsSync(folderOf(projectRepository(id), 'fast'))).toBe(false);
  });
});

describe('one whose process died', () => {
  const strangers = (id: number) => services().database.sql`
    select process_id from storage_moves where container_id = ${id} and container = 'project'`;

  test('and that lives after all changes nothing', async () => {
    const { id } = await makeFull();
    const { sql } = services().database;
    const writer = await services().repositories.lease(projectRepository(id), 'write');
    const scheduled = await schedule(id, 'fast');
    const state = async () => {
      const [row] = await sql<
        { state: string }[]
      >`select state from storage_moves where id = ${scheduled.id}`;
      return row?.state;
    };
    await expect.poll(state).toBe('started');
    // Another process takes it for dead, and then dies itself.
    const other = randomUUID();
    await sql`insert into processes (id, beat_at) values (${other}, clock_timestamp())`;
    await sql`update storage_moves set process_id = ${other} where id = ${scheduled.id}`;
    await writer.release();
    await expect.poll(() => app.log.join('')).toContain(`"move":${scheduled.id},"phase":"unwritten"`);
    await expect.poll(leftovers).toEqual([]);
    expect([await state(), await storageOf(id)]).toEqual(['started', 'default']);
    await sql`delete from processes where id = ${other}`;
    expect((await endOf(`/project_repository_storage_moves/${scheduled.id}`)).state).toBe('finished');
    expect(await storageOf(id)).toBe('fast');
  });

  test.each(['scheduled', 'started', 'replicated'])('is taken up when it is %s', async (state) => {
    const { id } = await makeFull();
    const { sql } = services().database;
    const refs = await allRefs(folderOf(projectRepository(id), 'default'));
    const draft = `${folderOf(projectRepository(id), 'fast')}.move-`;
    if (state === 'replicated') {
      // As after the switch: the row names the new storage, and the old copy is still there.
      expect((await move(id, 'fast')).state).toBe('finished');
      await gitText([
        'clone',
        '--quiet',
        '--mirror',
        folderOf(projectRepository(id), 'fast'),
        folderOf(projectRepository(id), 'default'),
      ]);
    }
    const dead = randomUUID();
    const [row] = await sql<{ id: number }[]>`
      insert into storage_moves (container, container_id, state, source_storage_name, destination_storage_name,
        process_id, created_at, updated_at)
      values ('project', ${id}, ${state}, 'default', 'fast', ${dead}, now(), now()) returning id`;
    if (state !== 'replicated') {
      await sql`update projects set repository_read_only = true where id = ${id}`;
      mkdirSync(`${draft}${row?.id}-0badcafe.draft/objects`, { recursive: true });
    }
    expect(await endOf(`/project_repository_storage_moves/${row?.id}`)).toMatchObject({ state: 'finished' });
    expect(await storageOf(id)).toBe('fast');
    expect(await allRefs(folderOf(projectRepository(id), 'fast'))).toBe(refs);
    expect(existsSync(folderOf(projectRepository(id), 'default'))).toBe(false);
    expect(leftovers()).toEqual([]);
    expect([...(await strangers(id))].every(({ process_id }) => process_id === null)).toBe(true);
    await commit(projectRepository(id), 'after.txt');
  });
});

describe('scheduling', () => {
  test.each<[object, unknown]>([
    [{ destination_storage_name: 'nowhere' }, { destination_storage_name: ['is not included in the list'] }],
    [{ destination_storage_name: 'default' }, { destination_storage_name: ['must not be same as source'] }],
    [{}, { destination_storage_name: ["can't be blank"] }],
  ])('%j is refused', async (body, message) => {
    const { id } = await makeProject(app);
    const response = await app.root(`POST /projects/${id}/repository_storage_moves`, { body });
    expect([response.status, response.body]).toEqual([400, { message }]);
  });

  test('without a destination chooses one by weight', async () => {
    const { id } = await makeProject(app);
    const weights = (repository_storages_weighted: object) =>
      app.root('PUT /application/settings', { body: { repository_storages_weighted } });
    expect((await weights({ default: 100, fast: 0, slow: 10 })).status).toBe(200);
    const scheduled = await schedule(id);
    expect(scheduled.destination_storage_name).toBe('slow');
    expect((await weights({ default: 100 })).status).toBe(200);
    await endOf(`/project_repository_storage_moves/${scheduled.id}`);
  });

  test('twice at once is one move', async () => {
    const { id } = await makeFull();
    const responses = await Promise.all(
      Array.from({ length: 4 }, () =>
        app.root(`POST /projects/${id}/repository_storage_moves`, {
          body: { destination_storage_name: 'fast' },
        }),
      ),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
    const made = responses.find(({ status }) => status === 201)?.body;
    await endOf(`/project_repository_storage_moves/${made.id}`);
  });

  test.each(['project', 'snippet', 'group'])('of all %ss checks the names', async (kind) => {
    const path = `/${kind}_repository_storage_moves`;
    const wrong = await app.root(`POST ${path}`, { body: { source_storage_name: 'nowhere' } });
    expect(wrong.status).toBe(400);
    expect(wrong.body.error).toBe('source_storage_name does not have a valid value');
    const body = { source_storage_name: 'slow', destination_storage_name: 'nowhere' };
    expect((await app.root(`POST ${path}`, { body })).body.error).toBe(
      'destination_storage_name does not have a valid value',
    );
    expect((await app.root(`POST ${path}`, { body: {} })).status).toBe(400);
  });

  test('of all projects of a storage moves those that can be', async () => {
    const projects = [await makeFull(), await makeFull(), await makeFull()];
    const { sql } = services().database;
    for (const { id } of projects) expect((await move(id, 'slow')).state).toBe('finished');
    const [blocked] = projects;
    await sql`update projects set repository_read_only = true where id = ${blocked?.id ?? 0}`;
    const body = { source_storage_name: 'slow', destination_storage_name: 'fast' };
    const response = await app.root('POST /project_repository_storage_moves', { body });
    expect([response.status, response.body]).toEqual([202, { message: '202 Accepted' }]);
    const moves = bodyOf(
      await app.root('GET /project_repository_storage_moves', { query: 'per_page=2' }),
      200,
    );
    expect(moves.map((each: { project: { id: number } }) => each.project.id).sort()).toEqual(
      projects.slice(1).map(({ id }) => id),
    );
    for (const each of moves)
      expect((await endOf(`/project_repository_storage_moves/${each.id}`)).state).toBe('finished');
    expect(await Promise.all(projects.map(({ id }) => storageOf(id)))).toEqual(['slow', 'fast', 'fast']);
  });
});

test('a snippet and the wiki of a group move too', async () => {
  const { sql } = services().database;
  const [made] = await sql<{ id: number }[]>`
    insert into snippets (author_id, title, visibility, files, repository_storage, ready, created_at, updated_at)
    values (1, 'Notes', 0, '{a.md}', 'default', true, now(), now()) returning id`;
  const id = made?.id ?? 0;
  await commit(snippetRepository(id), 'a.md');
  const group = await makeGroup(app);
  const body = { destination_storage_name: 'fast' };
  const none = await app.root(`POST /groups/${group.id}/repository_storage_moves`, { body });
  expect([none.status, none.body]).toEqual([400, { message: { group: ['has no wiki repository'] } }]);
  await sql`
    insert into group_wikis (id, repository_storage, created_at, updated_at) values (${group.id}, 'default', now(), now())`;
  await commit(groupWiki(group.id), 'home.md');

  const places = [
    [`/snippets/${id}`, 'snippet', snippetRepository(id)],
    [`/groups/${group.id}`, 'group', groupWiki(group.id)],
  ] as const;
  for (const [path, kind, key] of places) {
    const scheduled = bodyOf(await app.root(`POST ${path}/repository_storage_moves`, { body }), 201);
    const own = `${path}/repository_storage_moves/${scheduled.id}`;
    const ended = await endOf(own);
    expect(ended).toMatchObject({ id: scheduled.id, state: 'finished', [kind]: { id: key.id } });
    for (const list of [`${path}/repository_storage_moves`, `/${kind}_repository_storage_moves`])
      expect(bodyOf(await app.root(`GET ${list}`), 200)).toEqual([ended]);
    expect(existsSync(folderOf(key, 'fast'))).toBe(true);
    expect(existsSync(folderOf(key, 'default'))).toBe(false);
  }
  const all = { source_storage_name: 'fast', destination_storage_name: 'slow' };
  expect((await app.root('POST /snippet_repository_storage_moves', { body: all })).status).toBe(202);
  expect((await app.root('POST /group_repository_storage_moves', { body: all })).status).toBe(202);
  for (const [path] of places) {
    const [newest] = bodyOf(await app.root(`GET ${path}/repository_storage_moves`), 200);
    expect(await endOf(`${path}/repository_storage_moves/${newest.id}`)).toMatchObject({
      state: 'finished',
      destination_storage_name: 'slow',
    });
  }
});

test('moves go with the snippet and the group that they were of, and not before', async () => {
  const { sql } = services().database;
  const made: number[] = [];
  for (let count = 0; count < 2; count++) {
    const [snippet] = await sql<{ id: number }[]>`
      insert into snippets (author_id, title, visibility, files, repository_storage, ready, created_at, updated_at)
      values (1, 'Notes', 0, '{}', 'default', true, now(), now()) returning id`;
    const group = await makeGroup(app);
    await sql`
      insert into group_wikis (id, repository_storage, created_at, updated_at) values (${group.id}, 'default', now(), now())`;
    for (const path of [`/snippets/${snippet?.id}`, `/groups/${group.id}`]) {
      const body = { destination_storage_name: 'fast' };
      const { id } = bodyOf(await app.root(`POST ${path}/repository_storage_moves`, { body }), 201);
      await endOf(`${path}/repository_storage_moves/${id}`);
      made.push(id);
    }
    if (count > 0) continue;
    bodyOf(await app.root(`DELETE /snippets/${snippet?.id}`), 204);
    await sql`delete from namespaces where id = ${group.id}`;
  }
  const left = async () =>
    (await sql<{ id: number }[]>`select id from storage_moves where id = any(${made}) order by id`).map(
      ({ id }) => id,
    );
  const untidy = () => sql`select from storage_moves where id = any(${made}) and process_id is not null`;
  await expect.poll(untidy).toEqual([]);
  const task = app.app.capabilities.find(({ name }) => name === 'storage-moves')?.tasks;
  await task?.['storage_moves.forget_gone']?.({});
  expect(await left()).toEqual(made.slice(2));
});

test('moves are for administrators, and of what there is', async () => {
  const user = await makeUser(app);
  const { id } = await makeProject(app);
  const other = await makeProject(app);
  const made = await schedule(other.id, 'fast');
  await endOf(`/project_repository_storage_moves/${made.id}`);
  for (const request of [
    'GET /project_repository_storage_moves',
    `GET /project_repository_storage_moves/${made.id}`,
    'POST /project_repository_storage_moves',
    `GET /projects/${id}/repository_storage_moves`,
    `POST /projects/${id}/repository_storage_moves`,
    `GET /projects/${id}/storage`,
    'GET /snippet_repository_storage_moves',
    'GET /group_repository_storage_moves',
  ]) {
    expect((await app.call(request)).status).toBe(401);
    expect((await app.as(user.token)(request)).status).toBe(403);
  }
  for (const request of [
    'GET /project_repository_storage_moves/999999',
    `GET /snippet_repository_storage_moves/${made.id}`,
    `GET /projects/${id}/repository_storage_moves/${made.id}`,
    'GET /projects/999999/repository_storage_moves',
    'POST /projects/999999/repository_storage_moves',
    'GET /snippets/999999/repository_storage_moves',
    'GET /groups/999999/repository_storage_moves',
    'GET /projects/999999/storage',
  ])
    expect((await app.root(request)).status).toBe(404);
});
