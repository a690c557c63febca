/** Housekeeping: repositories are repacked and measured while they are used, and go with their containers. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup, makeMembers, makeProject } from '../../../../test/support/factories.ts';
import { fillProject, importStream } from '../../../../test/support/repositories.ts';
import { BACKUP_LOCK } from '../../../platform/blobs/blobs.ts';
import { git, gitText, gitUnless } from '../../../platform/git/program/program.ts';
import { groupWiki, projectRepository } from '../store/containers.ts';
import { leaseForHousekeeping } from './leases.ts';
import { WRITES_TO_REPACK } from './queries.ts';

const ashlar = useApp();

const run = async (task: string) => {
  const tasks = ashlar.app.capabilities.find(({ name }) => name === 'housekeeping')?.tasks;
  await tasks?.[`housekeeping.${task}`]?.({});
};
const sql = () => ashlar.app.services.database.sql;
const folderOf = (id: number) => ashlar.app.services.repositories.folder(projectRepository(id), 'default');
const rowOf = async (id: number) =>
  (await sql()`select * from repositories where container = 'project' and container_id = ${id}`)[0];

const filled = async () => {
  const { id } = await makeProject(ashlar);
  await fillProject(ashlar, id, [{ 'a.txt': 'one' }, { 'a.txt': 'two' }]);
  return id;
};
const writeOften = (id: number) =>
  sql()`update repositories set writes = ${WRITES_TO_REPACK} where container_id = ${id} and container = 'project'`;

/** An object that nothing points to, last touched so many days ago. */
async function storeLoose(folder: string, content: string, days: number): Promise<string> {
  const oid = (await gitText(['hash-object', '-w', '--stdin'], { folder, input: content })).trim();
  const time = new Date(Date.now() - days * 86_400_000);
  await utimes(join(folder, 'objects', oid.slice(0, 2), oid.slice(2)), time, time);
  return oid;
}
const has = async (folder: string, oid: string) =>
  (await gitUnless(1, ['cat-file', '-e', oid], { folder })) !== undefined;

/** The git commands that run in the folder now; readers of objects stay for a while on purpose. */
const programsOf = (folder: string): string[] =>
  readdirSync('/proc').flatMap((pid) => {
    try {
      const read = (name: string) => readFileSync(join('/proc', pid, name), 'utf8');
      const [program, ...args] = read('cmdline').split('\0');
      const command = args.find((arg) => !arg.startsWith('-'));
      const its = program?.endsWith('git') && `${args}${read('environ')}`.includes(folder);
      return its && command !== undefined && command !== 'cat-file' ? [command] : [];
    } catch {
      // It is no process, or has ended meanwhile.
      return [];
    }
  });

test('a first push that was taken, and not recorded since the process died, is found', async () => {
  const { id } = await makeProject(ashlar);
  const { id: empty } = await makeProject(ashlar);
  const { repositories } = ashlar.app.services;
  await repositories.write(projectRepository(empty), 'main', async () => undefined);
  await repositories.write(projectRepository(id), 'main', ({ folder }) =>
    git(['fast-import', '--quiet'], { folder, input: importStream([{ 'a.txt': 'one' }], 'trunk') }),
  );
  expect(bodyOf(await ashlar.root(`GET /projects/${id}`), 200)).toMatchObject({ empty_repo: true });
  await run('find_forgotten');
  expect(bodyOf(await ashlar.root(`GET /projects/${id}`), 200)).toMatchObject({
    empty_repo: false,
    default_branch: 'trunk',
  });
  expect(bodyOf(await ashlar.root(`GET /projects/${id}/protected_branches/trunk`), 200).name).toBe('trunk');
  expect(bodyOf(await ashlar.root(`GET /projects/${empty}`), 200)).toMatchObject({ empty_repo: true });
});

describe('a repository that was written often', () => {
  test('is repacked whole; what nothing points to goes after two weeks, not before', async () => {
    const id = await filled();
    const folder = folderOf(id);
    const [old, young] = [await storeLoose(folder, 'old', 20), await storeLoose(folder, 'young', 10)];
    await writeOften(id);
    await run('repack');
    expect(await rowOf(id)).toMatchObject({
      writes: 0,
      commit_count: 2,
      size: expect.any(Number),
      tended_at: expect.any(Date),
      packed_at: expect.any(Date),
    });
    expect((await rowOf(id))?.size).toBeGreaterThan(100);
    expect([await has(folder, old), await has(folder, young)]).toEqual([false, true]);
    expect(existsSync(join(folder, 'packed-refs'))).toBe(true);
    expect((await readdir(join(folder, 'objects', 'info'))).includes('commit-graph')).toBe(true);
    await git(['fsck', '--full', '--strict'], { folder });
    expect(await sql()`select 1 from repository_uses where purpose = 'tend'`).toEqual([]);
  });

  test('is repacked by halves when it was repacked whole lately', async () => {
    const id = await filled();
    await sql()`update repositories set packed_at = now() where container_id = ${id}`;
    const before = (await rowOf(id))?.packed_at;
    const folder = folderOf(id);
    await writeOften(id);
    await run('repack');
    expect(await rowOf(id)).toMatchObject({ writes: 0, commit_count: 2, packed_at: before });
    expect(await readdir(join(folder, 'objects', 'pack'))).toContain('multi-pack-index');
    await git(['fsck', '--full', '--strict'], { folder });
  });

  test('is not repacked whole while a backup reads: it may need what has just lost its ref', async () => {
    const id = await filled();
    const folder = folderOf(id);
    const old = await storeLoose(folder, 'of a branch that was deleted', 20);
    const holder = await sql().reserve();
    try {
      await holder`select pg_advisory_lock(${BACKUP_LOCK})`;
      await writeOften(id);
      await run('repack');
      expect(await rowOf(id)).toMatchObject({ writes: 0, packed_at: null });
      expect(await has(folder, old)).toBe(true);
    } finally {
      await holder`select pg_advisory_unlock(${BACKUP_LOCK})`;
      holder.release();
    }
    await sql()`update repositories set tended_at = null where container_id = ${id}`;
    await writeOften(id);
    await run('repack');
    expect(await rowOf(id)).toMatchObject({ packed_at: expect.any(Date) });
  });

  test('is left alone while it moves', async () => {
    const id = await filled();
    await writeOften(id);
    await sql()`update projects set repository_read_only = true where id = ${id}`;
    await run('repack');
    expect(await rowOf(id)).toMatchObject({ writes: WRITES_TO_REPACK, tended_at: null });
  });

  test('is left alone when it is to move while it is tended: nothing goes on in it, and a later run does it', async () => {
    const id = await filled();
    const folder = folderOf(id);
    // The repack reads this file, and waits for a writer.
    await mkdir(join(folder, 'info'), { recursive: true });
    execFileSync('mkfifo', [join(folder, 'info', 'attributes')]);
    await writeOften(id);
    const tended = run('repack');
    await expect.poll(() => programsOf(folder), { timeout: 10_000 }).toContainEqual('pack-objects');
    await sql()`update projects set repository_read_only = true where id = ${id}`;
    await tended;
    expect(programsOf(folder)).toEqual([]);
    expect(await sql()`select from repository_uses where container_id = ${id}`).toEqual([]);
    expect(await rowOf(id)).toMatchObject({ writes: WRITES_TO_REPACK, packed_at: null });
    await rm(join(folder, 'info', 'attributes'));
    await sql()`update projects set repository_read_only = false where id = ${id}`;
    await sql()`update repositories set tended_at = null where container_id = ${id}`;
    await run('repack');
    expect(await rowOf(id)).toMatchObject({ writes: 0, packed_at: expect.any(Date) });
    await git(['fsck', '--full', '--strict'], { folder });
  });

  test('is tended by one at a time', async () => {
    const id = await filled();
    const { repositories } = ashlar.app.services;
    const claims = await Promise.all(
      [1, 2, 3].map(() => leaseForHousekeeping(repositories, projectRepository(id))),
    );
    const held = claims.filter((claim) => claim !== undefined);
    expect(held.length).toBeLessThanOrEqual(1);
    for (const claim of held) await claim.release();
    const next = await leaseForHousekeeping(repositories, projectRepository(id));
    expect(next).toBeDefined();
    expect(await leaseForHousekeeping(repositories, projectRepository(id))).toBeUndefined();
    await next?.release();
  });

  test('does not keep others from their turn when it is damaged', async () => {
    const [damaged, sound] = [await filled(), await filled()];
    await sql()`update repositories set writes = 1000 where container_id = ${damaged}`;
    await writeFile(join(folderOf(damaged), 'HEAD'), 'nonsense');
    await writeOften(sound);
    await run('repack');
    expect(await rowOf(sound)).toMatchObject({ writes: 0 });
    expect(await rowOf(damaged)).toMatchObject({ writes: 1000, packed_at: null });
    expect(ashlar.log.join()).toContain('housekeeping of a repository failed');
  });
});

describe('asked by a client', () => {
  test('housekeeping is for maintainers, and for one at a time', async () => {
    const id = await filled();
    const path = `POST /projects/${id}/housekeeping`;
    const { developer } = await makeMembers(ashlar, `projects/${id}`, 'developer');
    expect((await ashlar.as(developer.token)(path)).status).toBe(403);
    const claim = await leaseForHousekeeping(ashlar.app.services.repositories, projectRepository(id));
    expect((await ashlar.root(path)).status).toBe(409);
    await claim?.release();
    expect((await ashlar.root(path, { body: { task: 'everything' } })).status).toBe(400);
    expect((await ashlar.root(path, { body: { task: 'prune' } })).status).toBe(201);
    await expect.poll(async () => (await rowOf(id))?.packed_at, { timeout: 20_000 }).toBeInstanceOf(Date);
    expect((await rowOf(id))?.writes).toBeLessThan(WRITES_TO_REPACK);
  });

  test('housekeeping of a project without a repository has nothing to do', async () => {
    const { id } = await makeProject(ashlar);
    expect((await ashlar.root(`POST /projects/${id}/housekeeping`)).status).toBe(201);
  });

  test('sizes are measured at once, and shown as statistics', async () => {
    const id = await filled();
    const { reporter } = await makeMembers(ashlar, `projects/${id}`, 'reporter');
    expect((await ashlar.root(`POST /projects/${id}/repository_size`)).status).toBe(201);
    const shown = await ashlar.as(reporter.token)(`GET /projects/${id}`, { query: 'statistics=true' });
    const { statistics, empty_repo } = bodyOf(shown, 200);
    expect(empty_repo).toBe(false);
    expect(statistics.commit_count).toBe(2);
    expect(statistics.repository_size).toBeGreaterThan(100);
    expect(statistics.storage_size).toBe(statistics.repository_size);
    const listed = await ashlar.root('GET /projects', { query: 'statistics=true&per_page=100' });
    expect(bodyOf(listed, 200).find((each: { id: number }) => each.id === id).statistics).toEqual(statistics);
  });
});

describe('a snapshot', () => {
  test('is a tar file with all that the repository has', async () => {
    const id = await filled();
    const head = await gitText(['rev-parse', 'main'], { folder: folderOf(id) });
    const response = await fetch(`${ashlar.url}/api/v4/projects/${id}/snapshot`, {
      headers: { 'private-token': ROOT_TOKEN },
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-tar']);
    const folder = mkdtempSync(join(tmpdir(), 'ashlar-snapshot-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    execFileSync('tar', ['-x', '-C', folder], { input: Buffer.from(await response.arrayBuffer()) });
    await mkdir(join(folder, 'refs'), { recursive: true });
    expect(await gitText(['rev-parse', 'main'], { folder })).toBe(head);
    await git(['fsck', '--full', '--strict'], { folder });
    await expect.poll(() => readdir(dirname(folderOf(id)))).toHaveLength(1);
  });

  test('is for administrators, and of what there is', async () => {
    const { id } = await makeProject(ashlar);
    const { owner } = await makeMembers(ashlar, `projects/${id}`, 'owner');
    const path = `GET /projects/${id}/snapshot`;
    expect((await ashlar.as(owner.token)(path)).status).toBe(403);
    expect((await ashlar.root(path)).status).toBe(404);
    expect((await ashlar.root('GET /projects/987654/snapshot')).status).toBe(404);
  });
});

test('what was written is measured soon, and once', async () => {
  const id = await filled();
  await run('measure');
  const measured = await rowOf(id);
  expect(measured).toMatchObject({ writes: 1, measured_writes: 1, commit_count: 2 });
  await fillProject(ashlar, id, [{ 'b.txt': 'three' }]);
  expect(await rowOf(id)).toMatchObject({ writes: 2, measured_writes: 1 });
  await run('measure');
  expect(await rowOf(id)).toMatchObject({ writes: 2, measured_writes: 2, commit_count: 3 });
});

describe('what is gone', () => {
  let folder: string;
  let id: number;
  const remove = async () => {
    await sql()`delete from projects where id = ${id}`;
  };
  const left = async () => [
    ...(await readdir(dirname(folder))),
    ...(await sql()`select folder from repository_removals`),
  ];
  beforeAll(async () => {
    id = await filled();
    folder = folderOf(id);
  });

  test('goes from the disk only when nobody uses it any more', async () => {
    const reading = await ashlar.app.services.repositories.lease(projectRepository(id), 'read');
    await remove();
    await run('remove_gone');
    expect([existsSync(folder), (await rowOf(id)) !== undefined]).toEqual([true, true]);
    await reading.release();
    await run('remove_gone');
    expect([existsSync(folder), await rowOf(id), await left()]).toEqual([false, undefined, []]);
  });

  test('goes also when the process died in between', async () => {
    const other = await filled();
    const its = folderOf(other);
    const [row] = await sql()<{ id: number }[]>`
      insert into repository_removals (storage, folder, created_at)
      values ('default', ${its.slice((ashlar.app.services.repositories.storages.get('default') ?? '').length + 1)}, now())
      returning id`;
    const removing = join(dirname(its), `.removing-${row?.id}`);
    await rename(its, removing);
    await run('remove_gone');
    expect([existsSync(its), existsSync(removing), await sql()`select id from repository_removals`]).toEqual([
      false,
      false,
      [],
    ]);
  });

  test('waits while the disk that it is on is not there', async () => {
    const [other, staying] = [await filled(), await filled()];
    const its = folderOf(other);
    const root = ashlar.app.services.repositories.storages.get('default') ?? '';
    for (const leaves of ['nothing', 'an empty folder']) {
      await rename(root, `${root}.away`);
      if (leaves === 'an empty folder') await mkdir(root);
      await sql()`delete from projects where id = ${other}`;
      await run('remove_gone');
      await rm(root, { recursive: true, force: true });
      await rename(`${root}.away`, root);
      expect([leaves, existsSync(its), (await left()).length > 0]).toEqual([leaves, true, true]);
    }
    await run('remove_gone');
    expect([existsSync(its), existsSync(folderOf(staying))]).toEqual([false, true]);
  });

  test("takes a group's wiki along", async () => {
    const group = await makeGroup(ashlar);
    await sql()`insert into group_wikis (id, repository_storage, created_at, updated_at)
      values (${group.id}, 'default', now(), now())`;
    const { repositories } = ashlar.app.services;
    const wiki = await repositories.write(groupWiki(group.id), 'main', async (git) => git.folder);
    await sql()`delete from namespaces where id = ${group.id}`;
    await run('remove_gone');
    expect(existsSync(wiki)).toBe(false);
  });

  test('includes drafts of yesterday, and not those of today', async () => {
    const parent = dirname(folderOf(await filled()));
    const drafts = ['.new-00112233', '.new-00112233.draft', '.new-44556677', 'kept'].map((name) =>
      join(parent, name),
    );
    const old = new Date(Date.now() - 2 * 86_400_000);
    for (const draft of drafts) {
      await mkdir(draft);
      if (!draft.endsWith('77')) await utimes(draft, old, old);
    }
    await run('sweep_drafts');
    expect(drafts.map((draft) => existsSync(draft))).toEqual([false, false, true, true]);
  });
});
