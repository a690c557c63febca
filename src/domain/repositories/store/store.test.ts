/** Leases of repositories: concurrent writes, reads, and records of pushes. */
import { rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { makeGroup, makeProject } from '../../../../test/support/factories.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { NO_OBJECT } from '../../../platform/git/names.ts';
import { gitText } from '../../../platform/git/program/program.ts';
import { startService } from '../../../platform/git/program/transport.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import { trailersOf } from '../commits/records.ts';
import { commitChanges } from '../pushes/commits.ts';
import { recordPush } from '../pushes/pushes.ts';
import { diskPath, projectRepository, projectWiki, READ_ONLY, repositoryPath } from './containers.ts';

const ashlar = useApp();
const services = () => ashlar.app.services;
const store = () => services().repositories;
const sql = () => services().database.sql;

describe('where repositories are', () => {
  test('follows from ids alone', () => {
    expect(diskPath({ kind: 'project', id: 1 })).toBe(
      '@hashed/6b/86/6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b',
    );
    expect(repositoryPath(projectWiki(1))).toMatch(/^@hashed\/6b\/86\/6b86b2\w+\.wiki\.git$/);
    expect(repositoryPath({ kind: 'snippet', id: 1, wiki: false })).toMatch(
      /^@snippets\/6b\/86\/6b86b2\w+\.git$/,
    );
  });

  test('a storage that the settings do not know is 503', () => {
    expect(() => store().folder(projectRepository(1), 'gone')).toThrow('no storage is named gone');
  });
});

describe('holding', () => {
  test('a write makes the repository once, and leaves no record behind', async () => {
    const { id } = await makeProject(ashlar);
    const key = projectRepository(id);
    const read = () => store().read(key, 'default', (git) => findCommit(git, 'main'));
    expect(await read()).toBeUndefined();
    await Promise.all([1, 2, 3].map(() => store().write(key, 'main', async () => undefined)));
    expect(await sql()`select wiki from repositories where container_id = ${id}`).toEqual([{ wiki: false }]);
    expect(await store().uses('project', id, ['read', 'write', 'tend'])).toBe(0);
    expect(await read()).toBeUndefined();
  });

  test('while it is read-only nobody begins a write, and reading goes on', async () => {
    const { id } = await makeProject(ashlar);
    await fillProject(ashlar, id);
    await sql()`update projects set repository_read_only = true where id = ${id}`;
    await expect(store().write(projectRepository(id), 'main', async () => undefined)).rejects.toThrow(
      READ_ONLY,
    );
    expect(
      await store().read(projectRepository(id), 'default', (git) => findCommit(git, 'main')),
    ).toBeDefined();
    const lease = await store().lease(projectRepository(id), 'read');
    expect(await store().uses('project', id, ['read'], 'default')).toBe(1);
    expect(await store().uses('project', id, ['read'], 'other')).toBe(0);
    await Promise.all([lease.release(), lease.release()]);
    expect(await store().uses('project', id, ['read'])).toBe(0);
    await sql()`update projects set repository_read_only = false where id = ${id}`;
    await expect(store().lease(projectRepository(999_999), 'write')).rejects.toThrow('404');
  });

  test('whoever makes it read-only sees every write that began before', async () => {
    const { id } = await makeProject(ashlar);
    await store().write(projectRepository(id), 'main', async () => undefined);
    let began = 0;
    let refused = 0;
    const writers = Array.from({ length: 20 }, async (_, index) => {
      await sleep(index % 5);
      try {
        const lease = await store().lease(projectRepository(id), 'write');
        began += 1;
        await sleep(300);
        await lease.release();
      } catch {
        refused += 1;
      }
    });
    await sleep(2);
    await sql()`update projects set repository_read_only = true where id = ${id}`;
    const seen = await store().uses('project', id, ['write']);
    await Promise.all(writers);
    expect(began + refused).toBe(20);
    expect(seen).toBe(began);
  });

  test('what a dead process held counts no more', async () => {
    const { id } = await makeProject(ashlar);
    const lease = await store().lease(projectRepository(id), 'write');
    expect(await store().uses('project', id, ['write'])).toBe(1);
    await sql()`
      insert into processes (id, beat_at) values ('00000000-0000-4000-8000-000000000000', now() - interval '11 seconds')`;
    await sql()`update repository_uses set process_id = '00000000-0000-4000-8000-000000000000'
      where container_id = ${id}`;
    expect(await store().uses('project', id, ['write'])).toBe(0);
    await lease.release();
  });

  test('a write that was passed by is not acknowledged', async () => {
    for (const change of [
      (id: number) => sql()`delete from repository_uses where container_id = ${id}`,
      (id: number) => sql()`update projects set repository_storage = 'other' where id = ${id}`,
    ]) {
      const { id } = await makeProject(ashlar);
      const writing = store().write(projectRepository(id), 'main', async () => {
        await change(id);
        return 'done';
      });
      await expect(writing).rejects.toThrow('the repository was moved under the write');
    }
  });

  test('a repository that nobody knows of is nobody’s', async () => {
    const { id } = await makeProject(ashlar);
    await fillProject(ashlar, id);
    await sql()`delete from repositories where container_id = ${id}`;
    await expect(store().write(projectRepository(id), 'main', async () => undefined)).rejects.toThrow(
      'a repository is there that nobody knows of',
    );
  });

  test('one whose folder went before anything was in it is made anew', async () => {
    const { id } = await makeProject(ashlar);
    await store().write(projectRepository(id), 'main', async () => undefined);
    await rm(store().folder(projectRepository(id), 'default'), { recursive: true });
    await fillProject(ashlar, id);
    expect((await ashlar.root(`GET /projects/${id}`)).body.empty_repo).toBe(false);
  });

  test('a lock that a killed git has left is removed when it is old', async () => {
    const { id } = await makeProject(ashlar);
    await fillProject(ashlar, id);
    const lock = join(store().folder(projectRepository(id), 'default'), 'refs', 'heads', 'main.lock');
    const commit = () =>
      ashlar.root(`POST /projects/${id}/repository/files/x${Math.random()}`, {
        body: { branch: 'main', content: 'x', commit_message: 'x' },
      });
    const isAged = async (seconds: number): Promise<void> => {
      await writeFile(lock, '');
      const then = new Date(Date.now() - seconds * 1_000);
      await utimes(lock, then, then);
    };
    // A run of git ends within a minute.
    await isAged(50);
    expect((await commit()).status).toBe(400);
    await isAged(70);
    expect((await commit()).status).toBe(201);
    // A push does not, and holds its locks as long as it lives.
    const folder = store().folder(projectRepository(id), 'default');
    const { signal } = new AbortController();
    const push = await startService({ service: 'receive-pack', folder, signal });
    await isAged(600);
    expect((await commit()).status).toBe(400);
    push.end();
    await push.ended;
    expect((await commit()).status).toBe(201);
  });

  test('a reader who comes too late for a move looks again', async () => {
    const { id } = await makeProject(ashlar);
    await fillProject(ashlar, id);
    const found = await store().read(projectRepository(id), 'default', async (git) => {
      const commit = await findCommit(git, 'main');
      return commit?.message;
    });
    expect(found).toBe('Commit 1');
    store().forget(projectRepository(id), 'default');
    await rm(store().folder(projectRepository(id), 'default'), { recursive: true });
    expect(
      await store().read(projectRepository(id), 'default', (git) => findCommit(git, 'main')),
    ).toBeUndefined();
  });
});

describe('a push leaves behind', () => {
  const events = async (projectId: number) =>
    (
      await sql()<{ details: { push_data: Record<string, unknown> } }[]>`
        select details from activity_events where project_id = ${projectId} and action = 'pushed' order by id`
    ).map(({ details }) => details.push_data);

  test('an event with what was pushed, and the first branch with its protection', async () => {
    const { id } = await makeProject(ashlar);
    const head = await fillProject(ashlar, id, [{ a: '1' }, { a: '2' }], 'trunk');
    expect(await events(id)).toEqual([
      {
        commit_count: 2,
        action: 'created',
        ref_type: 'branch',
        commit_from: null,
        commit_to: head,
        ref: 'trunk',
        commit_title: 'Commit 2',
        ref_count: null,
      },
    ]);
    const { body } = await ashlar.root(`GET /projects/${id}`);
    expect(body).toMatchObject({ empty_repo: false, default_branch: 'trunk' });
    const folder = store().folder(projectRepository(id), 'default');
    expect((await gitText(['symbolic-ref', 'HEAD'], { folder })).trim()).toBe('refs/heads/trunk');
    expect(
      await sql()`
      select name, action, access_level from protected_branches b join protected_ref_access a on a.protected_branch_id = b.id
      where project_id = ${id} order by action`,
    ).toEqual([
      { name: 'trunk', action: 'merge', access_level: 40 },
      { name: 'trunk', action: 'push', access_level: 40 },
    ]);
    expect(await sql()`select writes from repositories where container_id = ${id}`).toEqual([{ writes: 1 }]);
  });

  test('no protection where the group says that everybody may do everything', async () => {
    const open = {
      allowed_to_push: [{ access_level: 30 }],
      allowed_to_merge: [{ access_level: 30 }],
      allow_force_push: true,
    };
    const group = await makeGroup(ashlar, { default_branch_protection_defaults: open });
    const { id } = await makeProject(ashlar, { namespace_id: group.id });
    await fillProject(ashlar, id);
    expect(await sql()`select id from protected_branches where project_id = ${id}`).toEqual([]);
  });

  test('one event for all where many refs came at once', async () => {
    const { id } = await makeProject(ashlar);
    const head = await fillProject(ashlar, id);
    const key = projectRepository(id);
    const root = { id: 1, username: 'root', name: 'Administrator' };
    const updates = ['a', 'b', 'c', 'd'].map((name) => ({
      ref: `refs/heads/${name}`,
      before: NO_OBJECT,
      after: head,
    }));
    await store().write(key, 'main', (git) =>
      recordPush(services(), { id, empty: false }, root, git, updates),
    );
    const removed = [{ ref: 'refs/tags/v1', before: head, after: NO_OBJECT }];
    await store().write(key, 'main', (git) =>
      recordPush(services(), { id, empty: false }, root, git, removed),
    );
    expect((await events(id)).slice(1)).toEqual([
      expect.objectContaining({
        action: 'created',
        ref_type: 'branch',
        ref: null,
        ref_count: 4,
        commit_title: null,
      }),
      expect.objectContaining({
        action: 'removed',
        ref_type: 'tag',
        ref: 'v1',
        commit_from: head,
        commit_to: null,
      }),
    ]);
  });
});

test('two commits at once upon one head: one wins, and the other is told', async () => {
  const { id } = await makeProject(ashlar);
  await fillProject(ashlar, id);
  const outcomes = await store().write(projectRepository(id), 'main', async (git) => {
    const head = await findCommit(git, 'main');
    const author = { name: 'A', email: 'a@example.com' };
    return Promise.allSettled(
      ['x', 'y', 'z'].map((message) =>
        commitChanges(git, { branch: 'main', head, changes: [], blobs: [], message, author }),
      ),
    );
  });
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const outcome of outcomes)
    if (outcome.status === 'rejected')
      expect(String(outcome.reason)).toContain(
        'Could not update refs/heads/main. Please refresh and try again.',
      );
});

test.each<[string, Record<string, string[]>]>([
  ['title', {}],
  ['Key: value', {}],
  [
    'title\n\nKey: one\nKey: two\nSigned-off-by: A <a@b>',
    { Key: ['one', 'two'], 'Signed-off-by': ['A <a@b>'] },
  ],
  ['title\n\nKey: one\nand text', {}],
  ['title\n\ntext\n \t\nKey : one \n Other:two\n\n', { Key: ['one'], Other: ['two'] }],
  ['\n\nKey: one', {}],
  ['title\n\n: one', {}],
  ['title\n\nKey', {}],
  ['title\n\n__proto__: one', {}],
])('the trailers of %j', (message, trailers) => {
  expect(trailersOf(message)).toEqual(trailers);
});

test('the trailers of messages whose letters must not be read again and again', () => {
  expect(trailersOf(`title\n\nKey:${' '.repeat(1_000_000)}one\ranother`)).toEqual({ Key: ['one\ranother'] });
  expect(trailersOf(`title\n\n${'Key: one\n'.repeat(100)}`)).toEqual({ Key: Array(100).fill('one') });
  expect(trailersOf(`title\n\n${'Key: one\n'.repeat(1_000_000)}`)).toEqual({});
});
