/** Merges of commits and trees, compared with what git does in a checkout. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { checkOut, type File, makeHistory, type Step } from '../../../../test/support/shaped-history.ts';
import { EMPTY_TREE } from '../history/diff.ts';
import { createObjectReader, type GitFolder } from '../objects.ts';
import { commitObject } from '../parse.ts';
import { git, NoRepository } from '../program/program.ts';
import { findCommit } from '../refs.ts';
import { createRepository, storeObjects } from '../write.ts';
import { isAncestor, mergeCommits, mergeTrees } from './merge.ts';

const root = mkdtempSync(join(tmpdir(), 'ashlar-merge-'));
const reader = createObjectReader();
afterAll(() => {
  reader.stop();
  rmSync(root, { recursive: true, force: true });
});

let made = 0;
let repository: GitFolder;
beforeEach(async () => {
  made += 1;
  repository = reader.open(join(root, `${made}.git`));
  await createRepository(repository.folder, 'main');
});

type Files = Record<string, File>;
const lines = (...words: string[]): string => `${words.join('\n')}\n`;
const text = (first: string, last = 'last'): string =>
  lines(first, ...Array.from({ length: 20 }, (_, line) => `line ${line}`), last);
const submodule = (digit: string): File => ({ mode: '160000', oid: digit.repeat(40) });

/** Two changes of the same commit. */
const apart = (base: Files, ours: Partial<Step>, theirs: Partial<Step>): Step[] => [
  { name: 'base', files: base },
  { name: 'ours', parents: ['base'], ...ours },
  { name: 'theirs', parents: ['base'], ...theirs },
];

/** What `git merge` does: the tree, or the names in conflict. */
async function mergedByGit(folder: string, ours: string, theirs: string) {
  const checkout = await checkOut(folder, ours);
  try {
    const { code } = await checkout.run('merge', '--quiet', '-m', 'merge', theirs);
    if (code === 0) return { result: 'clean', tree: await checkout.text('rev-parse', 'HEAD^{tree}') };
    const names = (await checkout.text('ls-files', '--unmerged', '-z'))
      .split('\0')
      .filter((entry) => entry !== '')
      // A file beside a folder is renamed after its side.
      .map((entry) => entry.slice(entry.indexOf('\t') + 1).replace(/~(HEAD|[0-9a-f]{40})$/, ''));
    return names.length === 0
      ? { result: 'unrelated' }
      : { result: 'conflict', paths: [...new Set(names)].sort() };
  } finally {
    checkout.remove();
  }
}

const clean: [what: string, steps: Step[]][] = [
  ['other files', apart({ a: '1' }, { files: { b: '2' } }, { files: { c: '3' } })],
  ['other lines', apart({ a: text('1') }, { files: { a: text('one') } }, { files: { a: text('1', 'end') } })],
  ['the same change', apart({ a: '1' }, { files: { a: '2' } }, { files: { a: '2' } })],
  ['nothing on our side', apart({ a: '1' }, { files: {} }, { files: { a: '2' } })],
  ['nothing on either side', apart({ a: '1' }, {}, {})],
  ['nothing left', apart({ a: '1' }, { message: 'nothing' }, { files: { a: null } })],
  [
    'a commit that has the other',
    [...apart({ a: '1' }, {}, {}), { name: 'ours', parents: ['theirs'], files: { b: '1' } }],
  ],
  [
    'a commit that the other has',
    [...apart({ a: '1' }, {}, {}), { name: 'theirs', parents: ['ours'], files: { b: '1' } }],
  ],
  [
    'a name of one side and a change of the other',
    apart({ a: text('1') }, { moved: { a: 'd/b' } }, { files: { a: text('one') } }),
  ],
  [
    'other names on both sides',
    apart({ a: text('a'), b: text('b', 'B') }, { moved: { a: 'd/a' } }, { moved: { b: 'e/b' } }),
  ],
  [
    'a submodule that one side moved',
    apart({ m: submodule('1') }, { files: { m: submodule('2') } }, { files: { a: '1' } }),
  ],
  [
    'a mode and a text',
    apart(
      { a: text('1') },
      { files: { a: { mode: '100755', text: text('1') } } },
      { files: { a: text('2') } },
    ),
  ],
  [
    'a folder in place of a file',
    apart({ a: '1' }, { files: { a: null, 'a/b': '1' } }, { files: { c: '1' } }),
  ],
  [
    'names beyond ASCII',
    apart({ 'ä/"ö"': text('1') }, { files: { 'ü b': '1' } }, { moved: { 'ä/"ö"': 'ß' } }),
  ],
  [
    'an octopus',
    [
      ...apart({ a: '1' }, { files: { b: '1' } }, { files: { c: '1' } }),
      { name: 'third', parents: ['base'], files: { d: '1' } },
      { name: 'theirs', parents: ['theirs', 'third', 'base'], files: { d: '1' } },
    ],
  ],
  [
    'a criss-cross history',
    [
      ...apart(
        { a: text('1'), b: '1' },
        { files: { a: text('ours') } },
        { files: { a: text('1', 'theirs') } },
      ),
      { name: 'left', parents: ['ours', 'theirs'], files: { a: text('ours', 'theirs'), left: '1' } },
      { name: 'right', parents: ['theirs', 'ours'], files: { a: text('ours', 'theirs'), right: '1' } },
      { name: 'ours', parents: ['left'], files: { a: text('ours again', 'theirs') } },
      { name: 'theirs', parents: ['right'], files: { a: text('ours', 'theirs again') } },
    ],
  ],
  [
    'a criss-cross history whose bases conflict',
    [
      ...apart({ a: text('1') }, { files: { a: text('ours') } }, { files: { a: text('theirs') } }),
      { name: 'left', parents: ['ours', 'theirs'], files: { a: text('same') } },
      { name: 'right', parents: ['theirs', 'ours'], files: { a: text('same') } },
      { name: 'ours', parents: ['left'], files: { b: '1' } },
      { name: 'theirs', parents: ['right'], files: { c: '1' } },
    ],
  ],
  [
    'a deep history',
    [
      ...apart({ a: '1' }, { files: { b: '1' } }, { files: { c: '1' } }),
      ...Array.from({ length: 300 }, (_, n) => ({ name: 'ours', parents: ['ours'], files: { b: `${n}` } })),
      ...Array.from({ length: 300 }, (_, n) => ({
        name: 'theirs',
        parents: ['theirs'],
        files: { c: `${n}` },
      })),
    ],
  ],
];

const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`d${n % 100}/f${n}`, `${n}\n`]));

test.each<[what: string, steps: Step[]]>([
  ...clean,
  [
    'ten thousand changed files',
    apart(
      many,
      { files: { 'd0/f0': '0\nours\n', 'd1/f1': 'ours\n' } },
      {
        files: Object.fromEntries(
          Object.keys(many).map((path, n) => [path, n === 1 ? '1\n' : `${n}\ntheirs\n`]),
        ),
      },
    ),
  ],
])('merges %s as git does', async (_, steps) => {
  const { ours = '', theirs = '' } = await makeHistory(repository.folder, steps);
  const merged = await mergeCommits(repository, { ours, theirs });
  expect(merged).toEqual(await mergedByGit(repository.folder, ours, theirs));
});

const bothChanged = (base: File, ours: File, theirs: File): Step[] =>
  apart({ a: base }, { files: { a: ours } }, { files: { a: theirs } });

test.each<[what: string, steps: Step[]]>([
  ['the same line', bothChanged('1', '2', '3')],
  ['a file that is gone and changed', bothChanged(text('1'), null, text('2'))],
  ['two new files of a name', apart({ a: '1' }, { files: { b: '1' } }, { files: { b: '2' } })],
  ['two names for a file', apart({ a: text('1') }, { moved: { a: 'b' } }, { moved: { a: 'c' } })],
  [
    'a name for two files',
    apart({ a: text('a'), b: text('b', 'B') }, { moved: { a: 'c' } }, { moved: { b: 'c' } }),
  ],
  [
    'a new file in a folder with a new name',
    apart({ 'd/a': text('a') }, { moved: { d: 'e' } }, { files: { 'd/b': '1' } }),
  ],
  ['a file and a folder', apart({ b: '1' }, { files: { a: '1' } }, { files: { 'a/b': '1' } })],
  ['a folder and a file', apart({ b: '1' }, { files: { 'a/b': '1' } }, { files: { a: '1' } })],
  ['binary files', bothChanged('\0base', '\0ours', '\0theirs')],
  ['line ends', bothChanged(lines('1', '2'), '1\r\n2\r\n', lines('1', 'two'))],
  ['submodules', bothChanged(submodule('1'), submodule('2'), submodule('3'))],
  ['a submodule and a file', apart({ b: '1' }, { files: { a: submodule('1') } }, { files: { a: '1' } })],
  [
    'links',
    bothChanged({ mode: '120000', text: 'a' }, { mode: '120000', text: 'b' }, { mode: '120000', text: 'c' }),
  ],
  ['a link and a file', bothChanged(text('1'), { mode: '120000', text: 'b' }, text('2'))],
  [
    'a criss-cross history',
    [
      ...bothChanged(text('1'), text('ours'), text('theirs')),
      { name: 'left', parents: ['ours', 'theirs'], files: { a: text('left') } },
      { name: 'right', parents: ['theirs', 'ours'], files: { a: text('right') } },
      { name: 'ours', parents: ['left'], files: { b: '1' } },
      { name: 'theirs', parents: ['right'], files: { c: '1' } },
    ],
  ],
  [
    'unrelated histories',
    [
      { name: 'ours', files: { a: '1' } },
      { name: 'theirs', files: { b: '1' } },
    ],
  ],
])('finds a conflict of %s as git does, and leaves nothing behind', async (_, steps) => {
  const { ours = '', theirs = '' } = await makeHistory(repository.folder, steps);
  const before = filesOf(repository.folder);
  const merged = await mergeCommits(repository, { ours, theirs });
  if (merged.result === 'conflict') merged.paths.sort();
  expect(merged).toEqual(await mergedByGit(repository.folder, ours, theirs));
  expect(filesOf(repository.folder)).toEqual(before);
});

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();

test('of very many files in conflict the first thousand are named', async () => {
  const all = (word: string) => Object.fromEntries(Array.from({ length: 1_200 }, (_, n) => [`f${n}`, word]));
  const steps = apart(all('1'), { files: all('2') }, { files: all('3') });
  const { ours = '', theirs = '' } = await makeHistory(repository.folder, steps);
  const merged = await mergeCommits(repository, { ours, theirs });
  expect(merged.result === 'conflict' && merged.paths.length).toBe(1_000);
});

const who = { name: 'Ada', email: 'ada@example.com', time: 1, zone: '+0000' };

test('what is merged is whole, however many merge at once while the repository is repacked', async () => {
  const { folder } = repository;
  const branches = Array.from({ length: 12 }, (_, n) => `b${n}`);
  const { ours = '', ...heads } = await makeHistory(folder, [
    ...apart({ 'd/a': '1' }, { files: { 'e/b': '1' } }, {}),
    ...branches.map((name, n) => ({ name, parents: ['base'], files: { [`d/${name}`]: text(`${n}`) } })),
  ]);
  const repacked = git(['repack', '-a', '-d', '-q'], { folder }).then(() =>
    git(['prune-packed'], { folder }),
  );
  const merging = branches.map((name) => mergeCommits(repository, { ours, theirs: heads[name] ?? '' }));
  for (const [index, merged] of (await Promise.all(merging)).entries()) {
    expect(merged.result).toBe('clean');
    const tree = merged.result === 'clean' ? merged.tree : '';
    const parents = [ours, heads[branches[index] ?? ''] ?? ''];
    const made = commitObject({ tree, parents, author: who, committer: who, message: 'merge' });
    await storeObjects(folder, [made]);
    await git(['update-ref', `refs/heads/merged-${index}`, made.oid], { folder });
  }
  await repacked;
  await git(['fsck', '--strict', '--connectivity-only'], { folder });
  expect(filesOf(join(folder, 'objects')).filter((name) => name.startsWith('tmp_'))).toEqual([]);
});

test('a folder without a repository is told from one without the commits', async () => {
  const none = reader.open(join(root, 'none.git'));
  const [ours, theirs] = ['1'.repeat(40), '2'.repeat(40)];
  await expect(mergeCommits(none, { ours, theirs })).rejects.toThrow(NoRepository);
  await expect(mergeCommits(repository, { ours, theirs })).rejects.toThrow('is not there');
});

test.each<[what: string, base: Files, ours: Files, theirs: Files, merged: Files | string[]]>([
  ['without a base', {}, { a: '1' }, { 'd/b': '2' }, { a: '1', 'd/b': '2' }],
  ['with nothing left on their side', { a: '1' }, { a: '1', b: '2' }, {}, { b: '2' }],
  ['with nothing left at all', { a: '1' }, { a: '1' }, {}, {}],
  ['of which two are the same', { a: '1' }, { a: '1', b: '1' }, { a: '1' }, { a: '1', b: '1' }],
  ['in conflict', { a: '1' }, { a: '2' }, { a: '3' }, ['a']],
])('merges trees %s', async (_, base, ours, theirs, merged) => {
  const sides = { base, ours, theirs, merged: Array.isArray(merged) ? {} : merged };
  const steps = Object.entries(sides).map(([name, files]) => ({ name, files }));
  const ids = await makeHistory(repository.folder, steps);
  const treeOf = async (name: string) => (await findCommit(repository, ids[name] ?? ''))?.tree ?? '';
  const trees = { base: await treeOf('base'), ours: await treeOf('ours'), theirs: await treeOf('theirs') };
  if (Object.keys(base).length === 0) expect(trees.base).toBe(EMPTY_TREE);
  const found = await mergeTrees(repository, trees);
  if (Array.isArray(merged)) expect(found).toEqual({ result: 'conflict', paths: merged });
  else expect(found).toEqual({ result: 'clean', tree: await treeOf('merged') });
});

test('a commit is among its own ancestors, and a child is not among its parent’s', async () => {
  const steps = [{ name: 'first' }, { name: 'second', parents: ['first'] }];
  const { first = '', second = '' } = await makeHistory(repository.folder, steps);
  expect(await isAncestor(repository, first, second)).toBe(true);
  expect(await isAncestor(repository, second, first)).toBe(false);
  expect(await isAncestor(repository, first, first)).toBe(true);
});
