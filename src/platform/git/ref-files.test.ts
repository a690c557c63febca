/** Refs that are read from their files, compared with git's own list; and those that clients are told of. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { makeHistory } from '../../../test/support/shaped-history.ts';
import { packManyRefs } from './copies/housekeeping.ts';
import { createObjectReader } from './objects.ts';
import { git, gitText } from './program/program.ts';
import { readRefFiles } from './ref-files.ts';
import { findCommit, listRefs } from './refs.ts';
import { createRepository } from './write.ts';

const root = mkdtempSync(join(tmpdir(), 'ashlar-ref-files-'));
const reader = createObjectReader();
afterAll(() => {
  reader.stop();
  rmSync(root, { recursive: true, force: true });
});

let made = 0;
let folder = '';
let commit = '';
beforeEach(async () => {
  made += 1;
  folder = join(root, `${made}.git`);
  await createRepository(folder, 'main');
  ({ main: commit = '' } = await makeHistory(folder, [{ name: 'main' }]));
});

const create = (refs: readonly string[]) =>
  git(['update-ref', '--stdin'], { folder, input: refs.map((ref) => `create ${ref} ${commit}\n`).join('') });
const numbered = (count: number, name: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => name(n));

async function byGit(): Promise<Map<string, string>> {
  const args = [
    'for-each-ref',
    '--format=%(refname) %(objectname)',
    'refs/heads/',
    'refs/tags/',
    'refs/notes/',
  ];
  const lines = (await gitText(args, { folder })).trim().split('\n').sort();
  return new Map(lines.map((line) => line.split(' ') as [string, string])); // git's format has one space
}

const others = ['refs/heads/a', 'refs/heads/merge-requests/1', 'refs/notes/commits', 'refs/tags/v1'];

/** Writes the refs as git packs them. */
function writePacked(
  refs: readonly string[],
  header = '# pack-refs with: peeled fully-peeled sorted ',
): void {
  const lines = [...refs].sort().map((ref) => `${commit} ${ref}`);
  writeFileSync(join(folder, 'packed-refs'), [header, ...lines, ''].join('\n'));
}

const skipped = (count: number) => [
  ...numbered(count, (n) => `refs/merge-requests/${n}/head`),
  ...numbered(count, (n) => `refs/ashlar/keep/${n}`),
];

test.each([
  ['loose', async () => void (await create([...others, ...skipped(150)]))],
  ['packed', async () => writePacked([...others, ...skipped(5_000)])],
])('many refs that a push hears nothing of are skipped: %s', async (_, make) => {
  await make();
  await git(['-c', 'user.name=A', '-c', 'user.email=a@example.com', 'tag', '-a', '-m', 'x', 'v2', commit], {
    folder,
  });
  expect(readRefFiles(folder)).toEqual(await byGit());
  await git(['pack-refs', '--all', '--prune'], { folder });
  expect(readRefFiles(folder)).toEqual(await byGit());
  expect((await listRefs(reader.open(folder), 'branch')).map(({ name }) => name)).toEqual([
    'a',
    'main',
    'merge-requests/1',
  ]);
});

test.each([
  ['there are too many others', () => writePacked(numbered(3_000, (n) => `refs/heads/many/${n}`))],
  ['there are very many of them', () => writePacked(skipped(20_000))],
  ['they may be in any order', () => writePacked(skipped(1), '# pack-refs with: peeled fully-peeled ')],
])('git reads them where %s', (_, make) => {
  make();
  expect(readRefFiles(folder)).toBeUndefined();
});

/** Refs that have a file each. */
const looseRefs = (): string[] =>
  readdirSync(join(folder, 'refs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

test('many that have a file each are packed, whatever they are, and few are left alone', async () => {
  await create(numbered(199, (n) => `refs/merge-requests/${n}/head`));
  expect(await packManyRefs(folder)).toBe(false);
  expect(looseRefs()).toHaveLength(200);
  await create(['refs/heads/one-more']);
  const before = await gitText(['for-each-ref'], { folder });
  const packed = await Promise.all([packManyRefs(folder), packManyRefs(folder)]);
  expect(packed).toEqual([true, false]);
  expect(looseRefs()).toEqual([]);
  expect(await gitText(['for-each-ref'], { folder })).toBe(before);
  expect(readRefFiles(folder)?.size).toBe(2);
});

test('a revision may be any ref but the program’s own', async () => {
  await create(['refs/merge-requests/1/head', 'refs/ashlar/keep/1']);
  const repository = reader.open(folder);
  expect((await findCommit(repository, 'refs/merge-requests/1/head'))?.oid).toBe(commit);
  for (const revision of ['refs/ashlar/keep/1', 'ashlar/keep/1', 'refs/ashlar/keep/1~0', 'refs/ashlar/keep'])
    expect(await findCommit(repository, revision)).toBeUndefined();
});
