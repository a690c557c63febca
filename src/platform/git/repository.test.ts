/** Reads and writes of a repository, compared with git's own. */
import { createHook } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_OBJECT } from './names.ts';
import { createObjectReader, type GitFolder } from './objects.ts';
import { commitObject, newObject, parseCommit, parseTag, tagObject, treeObject } from './parse.ts';
import { git, gitText, NoRepository } from './program/program.ts';
import { findCommit, hasBranches, listRefs } from './refs.ts';
import { editTree, findEntry, PathConflict, readTree, type TreeChange, walkTree } from './trees.ts';
import {
  createRepository,
  RefMoved,
  setHead,
  storeObjects,
  syncNewObjects,
  syncRefNames,
  updateRefs,
} from './write.ts';

const reader = createObjectReader();
let root = '';
let repository: GitFolder;

const who = { name: 'Ada Lovelace', email: 'ada@example.com', time: 1_700_000_000, zone: '+0130' };
const blob = (text: string) => newObject('blob', Buffer.from(text));
const file = (text: string) => ({ mode: '100644', oid: blob(text).oid });

/** A program that removes all objects but drafts, and their folders: as many of these as a store is tried again for, and no more. */
const removeObjects = `
  const { readdirSync, rmdirSync, unlinkSync } = require('node:fs');
  const parts = Array.from({ length: 256 }, (_, part) => part.toString(16).padStart(2, '0'));
  let left = 19;
  require('node:fs').writeSync(1, 'ready');
  while (left > 0)
    for (const part of parts)
      try {
        if (left > 0) rmdirSync(part);
        left -= 1;
      } catch ({ code }) {
        if (code === 'ENOTEMPTY')
          for (const name of readdirSync(part)) if (!name.startsWith('tmp_')) unlinkSync(part + '/' + name);
      }
`;

/** Commits the files to a branch. */
async function commit(branch: string, files: Record<string, string>, message = 'message'): Promise<string> {
  const head = await findCommit(repository, `refs/heads/${branch}`);
  const changes = Object.entries(files).map(([path, text]) => ({ path: path.split('/'), entry: file(text) }));
  const { oid, objects } = await editTree(repository, head?.tree, changes);
  const parents = head ? [head.oid] : [];
  const made = commitObject({ tree: oid, parents, author: who, committer: who, message });
  await storeObjects(repository.folder, [...Object.values(files).map(blob), ...objects, made]);
  await updateRefs(repository.folder, [
    { ref: `refs/heads/${branch}`, before: head?.oid ?? NO_OBJECT, after: made.oid },
  ]);
  return made.oid;
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'ashlar-git-'));
  repository = reader.open(join(root, 'a', 'b', 'one.git'));
  await createRepository(repository.folder, 'main');
});

afterAll(async () => {
  reader.stop();
  await rm(root, { recursive: true, force: true });
});

describe('a repository', () => {
  test('is whole for git, and making it again changes nothing', async () => {
    expect(await hasBranches(repository)).toBe(false);
    const first = await commit('main', { 'a.txt': 'one' });
    await createRepository(repository.folder, 'other');
    await git(['fsck', '--strict'], { folder: repository.folder });
    expect((await gitText(['symbolic-ref', 'HEAD'], { folder: repository.folder })).trim()).toBe(
      'refs/heads/main',
    );
    expect((await gitText(['rev-parse', 'HEAD'], { folder: repository.folder })).trim()).toBe(first);
    await setHead(repository.folder, 'other');
    expect((await gitText(['symbolic-ref', 'HEAD'], { folder: repository.folder })).trim()).toBe(
      'refs/heads/other',
    );
    await setHead(repository.folder, 'main');
    expect(await hasBranches(repository)).toBe(true);
  });

  test('a folder of objects that goes while new ones are synced takes nothing with it', async () => {
    await symlink('gone', join(repository.folder, 'objects', 'zz'));
    await expect(syncNewObjects(repository.folder, new Date(0))).resolves.toBeUndefined();
    await rm(join(repository.folder, 'objects', 'zz'));
  });

  test('a folder is synced once for what has changed in it, however often it is asked for', async () => {
    const folder = join(root, 'synced');
    const objects = join(folder, 'objects');
    const parts = Array.from({ length: 100 }, (_, index) => String(index).padStart(2, '0'));
    for (const part of parts) {
      await mkdir(join(objects, part), { recursive: true });
      await utimes(join(objects, part), 1_700_000_000, 1_700_000_000);
    }
    let synced = 0;
    const count = createHook({
      init(_id, type) {
        if (type === 'FSREQCALLBACK') synced += 1;
      },
    });
    const syncs = async (): Promise<number> => {
      synced = 0;
      count.enable();
      await syncNewObjects(folder, new Date(0));
      count.disable();
      return synced;
    };
    expect(await syncs()).toBe(parts.length + 1);
    // A folder that changed last may change again within the same tick: it is always synced.
    expect(await syncs()).toBe(1);
    await writeFile(join(objects, '01', 'new'), '');
    expect(await syncs()).toBe(2);
  });

  test('names are synced in however many folders they are', async () => {
    const folder = join(root, 'many');
    const refs = Array.from({ length: 700 }, (_, index) => `refs/heads/${index}/branch`);
    for (const ref of refs) await mkdir(join(folder, ref), { recursive: true });
    await expect(syncRefNames(folder, [...refs, 'refs/heads/gone/branch'])).resolves.toBeUndefined();
  });

  test('a folder without one says so', async () => {
    await expect(reader.open(join(root, 'none.git')).read('HEAD')).rejects.toBeInstanceOf(NoRepository);
    await expect(git(['for-each-ref'], { folder: join(root, 'none.git') })).rejects.toBeInstanceOf(
      NoRepository,
    );
  });

  test('its configuration and hooks are nobody’s but ours', async () => {
    const text = await gitText(['config', '--list', '--show-origin'], { folder: repository.folder });
    const origins = new Set(text.split('\n').flatMap((line) => line.split('\t')[0] || []));
    expect([...origins].every((origin) => origin === 'command line:' || origin.endsWith('/config'))).toBe(
      true,
    );
    expect((await gitText(['config', 'core.hooksPath'], { folder: repository.folder })).trim()).toBe(
      '/dev/null',
    );
    expect((await gitText(['config', 'core.fsync'], { folder: repository.folder })).trim()).toBe('all');
  });
});

describe('objects', () => {
  test('asked for at once, each gets its own', async () => {
    const texts = Array.from({ length: 300 }, (_, index) => `text ${index}\n`.repeat((index % 50) + 1));
    await storeObjects(repository.folder, texts.map(blob));
    const found = await Promise.all(texts.map((text) => repository.read(blob(text).oid)));
    expect(found.map((object) => object?.content.toString())).toEqual(texts);
    const missing = await Promise.all([
      repository.read(`${'0'.repeat(39)}1`),
      repository.info('refs/heads/none'),
    ]);
    expect(missing).toEqual([undefined, undefined]);
    const large = newObject('blob', Buffer.alloc(3_000_000, 'x'));
    await storeObjects(repository.folder, [large]);
    expect((await repository.read(large.oid))?.content.equals(large.content)).toBe(true);
    expect(await repository.info(large.oid)).toEqual({ oid: large.oid, type: 'blob', size: 3_000_000 });
  });

  test('are stored while a repack removes folders as fast as git makes them', async () => {
    const { folder } = reader.open(join(root, 'repacked.git'));
    await createRepository(folder, 'main');
    for (let round = 0; round < 20; round++) {
      const remover = spawn(process.execPath, ['-e', removeObjects], { cwd: join(folder, 'objects') });
      try {
        await once(remover.stdout, 'data');
        await storeObjects(
          folder,
          Array.from({ length: 100 }, (_, index) => blob(`${round} ${index}`)),
        );
      } finally {
        remover.kill('SIGKILL');
      }
    }
  });

  test('a name with a line break is no second question', async () => {
    await expect(repository.read('HEAD\ncontents HEAD')).rejects.toThrow();
    await expect(repository.info('')).rejects.toThrow();
  });

  test('what is written after the reader has started is found, also when it was repacked', async () => {
    const made = await commit('repacked', { x: 'x' });
    await git(['repack', '-adq'], { folder: repository.folder });
    await git(['prune-packed', '-q'], { folder: repository.folder });
    expect((await findCommit(repository, made))?.oid).toBe(made);
    expect((await repository.read(blob('x').oid))?.content.toString()).toBe('x');
  });

  test('commits and tags come back as they were written', async () => {
    const fields = {
      tree: treeObject([]).oid,
      parents: ['1'.repeat(40), '2'.repeat(40)],
      author: who,
      committer: who,
    };
    const made = commitObject({ ...fields, message: 'title\n\nbody ü\n' });
    expect(parseCommit(made.oid, made.content)).toEqual({
      ...fields,
      oid: made.oid,
      message: 'title\n\nbody ü\n',
    });
    const tag = tagObject({ object: made.oid, type: 'commit', name: 'v1', tagger: who, message: 'text\n' });
    expect(parseTag(tag.oid, tag.content)).toMatchObject({
      object: made.oid,
      name: 'v1',
      tagger: who,
      message: 'text\n',
    });
    const evil = { ...who, name: 'A <b@c> 1 +0000\nparent x', email: 'e>\nf' };
    const cleaned = commitObject({ ...fields, author: evil, message: 'm' });
    expect(parseCommit(cleaned.oid, cleaned.content).author).toMatchObject({
      name: 'A b@c 1 +0000parent x',
      email: 'ef',
    });
    expect(parseCommit(cleaned.oid, cleaned.content).parents).toHaveLength(2);
  });
});

describe('refs', () => {
  test('revisions', async () => {
    const first = await commit('line', { a: '1' });
    const second = await commit('line', { a: '2' });
    const third = await commit('line', { a: '3' });
    await git(['tag', '-a', '-m', 'text', 'tagged', second], {
      folder: repository.folder,
      environment: { GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' },
    });
    const cases: [string, string | undefined][] = [
      ['line', third],
      ['refs/heads/line', third],
      [third, third],
      [third.slice(0, 8), third],
      [third.slice(0, 8).toUpperCase(), third],
      ['line~1', second],
      ['line^', second],
      ['line^^', first],
      ['line~2', first],
      ['line~3', undefined],
      ['line^2', undefined],
      ['line^0', third],
      ['tagged', second],
      ['tagged~1', first],
      ['none', undefined],
      ['line:a', undefined],
      ['line@{0}', undefined],
      ['--all', undefined],
      ['', undefined],
      ['a b', undefined],
      ['line\nHEAD', undefined],
      ['line~99999999', undefined],
    ];
    for (const [revision, expected] of cases)
      expect([revision, (await findCommit(repository, revision))?.oid]).toEqual([revision, expected]);
  });

  test('a change that another came before is refused, and nothing of its transaction is done', async () => {
    const one = await commit('race', { a: '1' });
    const two = await commit('race', { a: '2' });
    const late = { ref: 'refs/heads/race', before: one, after: two };
    const beside = { ref: 'refs/heads/beside', before: NO_OBJECT, after: one };
    await expect(updateRefs(repository.folder, [beside, late])).rejects.toBeInstanceOf(RefMoved);
    const again = { ref: 'refs/heads/race', before: NO_OBJECT, after: one };
    await expect(updateRefs(repository.folder, [again])).rejects.toBeInstanceOf(RefMoved);
    const below = { ref: 'refs/heads/race/below', before: NO_OBJECT, after: one };
    await expect(updateRefs(repository.folder, [below])).rejects.toBeInstanceOf(RefMoved);
    const names = (await listRefs(repository, 'branch')).map(({ name }) => name);
    expect(names).toContain('race');
    expect(names).not.toContain('beside');
    await updateRefs(repository.folder, [{ ref: 'refs/heads/race', before: two, after: NO_OBJECT }]);
    expect(await findCommit(repository, 'race')).toBeUndefined();
  });
});

describe('trees', () => {
  const names = ['a', 'a-b', 'a.b', 'a0', 'b', 'c'];
  const path = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 });
  const change = fc.record({ path, text: fc.option(fc.constantFrom('one', 'two')) });

  test('changed by us are those that git makes of the same paths', async () => {
    await storeObjects(repository.folder, [blob('one'), blob('two')]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(change, { maxLength: 5 }), { maxLength: 4 }), async (rounds) => {
        let tree: string | undefined;
        const model = new Map<string, string>();
        for (const round of rounds) {
          const changes: TreeChange[] = round.map(({ path: parts, text }) => ({
            path: parts,
            entry: text === null ? undefined : file(text),
          }));
          const next = new Map(model);
          const last = new Map(round.map(({ path: parts, text }) => [parts.join('/'), text]));
          for (const [name, text] of last) {
            if (text !== null) continue;
            for (const other of [...next.keys()])
              if (other === name || other.startsWith(`${name}/`)) next.delete(other);
          }
          for (const [name, text] of last) {
            if (text === null) continue;
            next.set(name, text);
          }
          let edited: Awaited<ReturnType<typeof editTree>>;
          try {
            edited = await editTree(repository, tree, changes);
          } catch (error) {
            expect(error).toBeInstanceOf(PathConflict);
            return;
          }
          await storeObjects(repository.folder, edited.objects);
          tree = edited.oid;
          const found = new Map<string, string>();
          for await (const entry of walkTree(repository, tree))
            if (entry.mode !== '40000') found.set(entry.path, entry.oid);
          expect(found).toEqual(new Map([...next].map(([name, text]) => [name, file(text).oid])));
          const lines = [...found].map(([name, oid]) => `100644 blob ${oid}\t${name}\0`).join('');
          const index = join(root, 'index');
          await rm(index, { force: true });
          const environment = { GIT_INDEX_FILE: index };
          await git(['update-index', '-z', '--index-info'], {
            folder: repository.folder,
            input: lines,
            environment,
          });
          const whole = (await gitText(['write-tree'], { folder: repository.folder, environment })).trim();
          expect(tree).toBe(whole);
          model.clear();
          for (const [name, oid] of found) model.set(name, oid === file('one').oid ? 'one' : 'two');
        }
      }),
      { numRuns: 40 },
    );
  });

  test('a file in the way of a folder is a conflict', async () => {
    await commit('conflict', { 'a/b': 'x' });
    const tree = (await findCommit(repository, 'conflict'))?.tree;
    const below = { path: ['a', 'b', 'c'], entry: file('x') };
    await expect(editTree(repository, tree, [below])).rejects.toThrow('a file is in the way at a/b');
    const over = { path: ['a'], entry: file('x') };
    await expect(editTree(repository, tree, [over])).rejects.toBeInstanceOf(PathConflict);
    const emptied = [over, { path: ['a', 'b'], entry: undefined }];
    expect(await editTree(repository, tree, emptied)).toMatchObject({ objects: [expect.anything()] });
    const both = [
      { path: ['n'], entry: file('x') },
      { path: ['n', 'm'], entry: file('x') },
    ];
    await expect(editTree(repository, tree, both)).rejects.toBeInstanceOf(PathConflict);
  });

  test('what is at a path', async () => {
    await commit('paths', { 'a/b/c.txt': 'x', 'a/d': 'y' });
    const tree = (await findCommit(repository, 'paths'))?.tree ?? '';
    expect(await findEntry(repository, tree, ['a', 'b', 'c.txt'])).toMatchObject({ oid: blob('x').oid });
    expect(await findEntry(repository, tree, [])).toMatchObject({ oid: tree, mode: '40000' });
    expect(await findEntry(repository, tree, ['a', 'd', 'e'])).toBeUndefined();
    expect(await findEntry(repository, tree, ['z'])).toBeUndefined();
    expect((await readTree(repository, tree))?.map(({ name }) => name)).toEqual(['a']);
    expect(await readTree(repository, blob('x').oid)).toBeUndefined();
  });
});
