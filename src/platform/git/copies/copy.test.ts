/** Copies of repositories: whole, hard-linked, during a repack; and damage that the check finds. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { importStream } from '../../../../test/support/repositories.ts';
import { git, gitEnvironment, gitText, NoRepository } from '../program/program.ts';
import { createRepository } from '../write.ts';
import { BadCopy, verifyCopy } from './check.ts';
import { allRefs, copyRepository, sizeOf } from './copy.ts';

const root = mkdtempSync(join(tmpdir(), 'ashlar-copy-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let made = 0;
const place = (): string => join(root, `${++made}.git`);

const history = (count: number, from = 0): string =>
  importStream(
    Array.from({ length: count }, (_, index) => ({
      [`file-${from + index}.txt`]: `${`line ${from + index}\n`.repeat(50)}${Math.sin(index)}`,
    })),
  );

/** A repository of a packed history, some loose objects, an annotated tag and a HEAD of its own. */
async function makeRepository(commits = 20): Promise<string> {
  const folder = place();
  await createRepository(folder, 'trunk');
  await git(['fast-import', '--quiet'], { folder, input: history(commits) });
  // So short a history would stay loose.
  await git(['repack', '-a', '-d', '-q'], { folder });
  const environment = Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((who) => [
      [`GIT_${who}_NAME`, 'Ada'],
      [`GIT_${who}_EMAIL`, 'ada@example.com'],
    ]),
  );
  await git(['tag', '-a', '-m', 'One', 'v1', 'refs/heads/main'], { folder, environment });
  const blob = (await gitText(['hash-object', '-w', '--stdin'], { folder, input: 'loose' })).trim();
  const tree = (await gitText(['mktree'], { folder, input: `100644 blob ${blob}\tloose.txt\n` })).trim();
  const commit = await gitText(['commit-tree', '-m', 'Loose', tree], { folder, environment });
  await git(['update-ref', 'refs/heads/topic/ä', commit.trim()], { folder });
  return folder;
}

const packOf = (folder: string): string => {
  const packs = join(folder, 'objects', 'pack');
  return join(packs, readdirSync(packs).find((name) => name.endsWith('.pack')) ?? '');
};

/** Inverts a byte in the middle of the file. */
function damage(path: string): void {
  chmodSync(path, 0o600);
  const bytes = readFileSync(path);
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = 255 - (bytes[middle] ?? 0);
  writeFileSync(path, bytes);
}

const fsck = (folder: string) =>
  spawnSync('git', [`--git-dir=${folder}`, 'fsck', '--full', '--strict'], { env: gitEnvironment }).status;

test('the size of a repository is that of all its objects', async () => {
  const folder = await makeRepository();
  for (let count = 0; count < 20; count++)
    await git(['hash-object', '-w', '--stdin'], { folder, input: randomBytes(1_000) });
  const objects = join(folder, 'objects');
  const files = readdirSync(objects, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.parentPath !== join(objects, 'info'))
    .map((entry) => statSync(join(entry.parentPath, entry.name)).size);
  expect(await sizeOf(folder)).toBe(files.reduce((sum, size) => sum + size, 0));
});

test('a copy has the refs, the objects and HEAD, and nothing else of the source', async () => {
  const source = await makeRepository();
  writeFileSync(join(source, 'config'), '[core]\n\tbare = true\n[alias]\n\tx = !false\n');
  writeFileSync(join(source, 'description'), 'mine');
  const destination = place();
  let bytes = 0;
  await copyRepository(source, destination, {
    onProgress: (more) => {
      bytes += more;
    },
  });
  await verifyCopy(source, destination);
  expect(await allRefs(destination)).toBe(await allRefs(source));
  expect((await allRefs(destination)).match(/\n/g)).toHaveLength(3);
  expect(readFileSync(join(destination, 'HEAD'), 'utf8')).toBe('ref: refs/heads/trunk\n');
  expect(readFileSync(join(destination, 'config'), 'utf8')).not.toContain('alias');
  expect(readdirSync(destination).sort()).toEqual(['HEAD', 'config', 'objects', 'packed-refs', 'refs']);
  expect(bytes).toBeGreaterThan(statSync(packOf(source)).size);
  expect(fsck(destination)).toBe(0);
  expect(existsSync(`${destination}.draft`)).toBe(false);
});

test('an empty repository is copied', async () => {
  const source = place();
  await createRepository(source, 'main');
  const destination = place();
  await copyRepository(source, destination);
  await verifyCopy(source, destination);
  expect(existsSync(join(destination, 'packed-refs'))).toBe(false);
});

test('a large pack is copied piece by piece', async () => {
  const source = place();
  await createRepository(source, 'main');
  const text = randomBytes(20 * 1_048_576);
  await git(['hash-object', '-w', '--stdin'], { folder: source, input: text });
  const pieces: number[] = [];
  const destination = place();
  await copyRepository(source, destination, { onProgress: (bytes) => pieces.push(bytes) });
  await verifyCopy(source, destination);
  expect(pieces.length).toBeGreaterThan(4);
});

test('links share the object files, and the two go their own ways', async () => {
  const source = await makeRepository();
  const destination = place();
  await copyRepository(source, destination, { link: true });
  await verifyCopy(source, destination);
  expect(statSync(packOf(destination)).ino).toBe(statSync(packOf(source)).ino);
  await git(['update-ref', '-d', 'refs/heads/main'], { folder: source });
  await git(['repack', '-a', '-d', '-q'], { folder: source });
  await git(['prune', '--expire=now'], { folder: source });
  rmSync(source, { recursive: true });
  expect(fsck(destination)).toBe(0);
});

test('a repack under the copy takes nothing from it', async () => {
  const source = await makeRepository(60);
  let copying = true;
  const churn = (async () => {
    for (let round = 0; copying && round < 50; round++) {
      await git(['fast-import', '--quiet', '--force'], { folder: source, input: history(5, 100 * round) });
      await git(['repack', '-a', '-d', '-q'], { folder: source });
    }
  })();
  const copies: string[] = [];
  for (let round = 0; round < 5; round++) {
    const destination = place();
    await copyRepository(source, destination);
    copies.push(destination);
  }
  copying = false;
  await churn;
  for (const copy of copies) expect(fsck(copy)).toBe(0);
});

test('what is no repository, and a place that is taken, are refused without a trace', async () => {
  const source = await makeRepository();
  await expect(copyRepository(join(root, 'nothing'), place())).rejects.toThrow(NoRepository);
  await expect(copyRepository(source, await makeRepository())).rejects.toThrow(/ENOTEMPTY|EEXIST/);
  expect(readdirSync(root).filter((name) => name.endsWith('.draft'))).toEqual([]);
});

test.each<[string, (source: string, copy: string) => Promise<unknown> | unknown, RegExp]>([
  ['a damaged pack', (_, copy) => damage(packOf(copy)), /pack is damaged/],
  ['a damaged index', (_, copy) => damage(packOf(copy).replace(/pack$/, 'idx')), /idx is damaged/],
  [
    'a damaged loose object',
    async (_, copy) => {
      const oid = (await gitText(['rev-parse', 'refs/heads/topic/ä:loose.txt'], { folder: copy })).trim();
      damage(join(copy, 'objects', oid.slice(0, 2), oid.slice(2)));
    },
    /object [0-9a-f]{40} is damaged/,
  ],
  [
    'a missing object',
    async (_, copy) => {
      const oid = (await gitText(['rev-parse', 'refs/heads/topic/ä:loose.txt'], { folder: copy })).trim();
      rmSync(join(copy, 'objects', oid.slice(0, 2), oid.slice(2)));
    },
    /history is damaged.*missing|history is damaged.*broken/,
  ],
  [
    'a ref that has moved',
    (source) => git(['update-ref', '-d', 'refs/tags/v1'], { folder: source }),
    /refs of the copy/,
  ],
  [
    'another HEAD',
    (source) => writeFileSync(join(source, 'HEAD'), 'ref: refs/heads/main\n'),
    /HEAD of the copy/,
  ],
  [
    'a ref that git passes over',
    (source) => writeFileSync(join(source, 'refs', 'heads', 'torn'), ''),
    /refs\/heads\/torn is damaged/,
  ],
])('the check finds %s', async (_, spoil, message) => {
  const source = await makeRepository();
  const copy = place();
  await copyRepository(source, copy);
  await spoil(source, copy);
  const check = verifyCopy(source, copy);
  await expect(check).rejects.toThrow(BadCopy);
  await expect(check).rejects.toThrow(message);
});

test('an end that is asked for leaves nothing', async () => {
  const source = await makeRepository();
  const destination = place();
  await expect(copyRepository(source, destination, { signal: AbortSignal.abort() })).rejects.toThrow(
    /abort/i,
  );
  expect(existsSync(destination) || existsSync(`${destination}.draft`)).toBe(false);
});
