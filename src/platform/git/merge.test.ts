/** Three-way merges of trees, by the git program upon stored objects. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EMPTY_TREE } from './history/diff.ts';
import { isAncestor, mergeTrees } from './merge.ts';
import { createObjectReader, type GitFolder } from './objects.ts';
import { commitObject, newObject } from './parse.ts';
import { editTree, findEntry } from './trees.ts';
import { createRepository, storeObjects } from './write.ts';

const reader = createObjectReader();
let parent = '';
let git: GitFolder;

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'ashlar-merge-'));
  const folder = join(parent, 'one.git');
  await createRepository(folder, 'main');
  git = reader.open(folder);
});
afterAll(async () => {
  reader.stop();
  await rm(parent, { recursive: true, force: true });
});

/** A tree of files by their paths, stored unless it is empty. */
async function treeOf(files: Record<string, string>): Promise<string> {
  if (Object.keys(files).length === 0) return EMPTY_TREE;
  const blobs = Object.entries(files).map(([path, text]) => ({
    path: path.split('/'),
    blob: newObject('blob', Buffer.from(text)),
  }));
  const changes = blobs.map(({ path, blob }) => ({ path, entry: { mode: '100644', oid: blob.oid } }));
  const { oid, objects } = await editTree(git, undefined, changes);
  await storeObjects(git.folder, [...blobs.map(({ blob }) => blob), ...objects]);
  return oid;
}

const lines = (...words: string[]): string => `${words.join('\n')}\n`;
type Files = Record<string, string>;

test.each<
  [
    what: string,
    base: Files,
    ours: Record<string, string>,
    theirs: Files,
    merged: Record<string, string> | string[],
  ]
>([
  ['other files', { a: '1' }, { a: '1', b: '2' }, { a: '1', c: '3' }, { a: '1', b: '2', c: '3' }],
  [
    'other lines',
    { a: lines('1', '2', '3', '4', '5') },
    { a: lines('one', '2', '3', '4', '5') },
    { a: lines('1', '2', '3', '4', 'five') },
    { a: lines('one', '2', '3', '4', 'five') },
  ],
  ['the same line', { a: lines('1') }, { a: lines('2') }, { a: lines('3') }, ['a']],
  ['the same change', { a: '1' }, { a: '2' }, { a: '2' }, { a: '2' }],
  ['nothing on our side', { a: '1' }, { a: '1' }, { a: '2' }, { a: '2' }],
  ['no base', {}, { a: '1' }, { 'd/b': '2' }, { a: '1', 'd/b': '2' }],
  ['nothing left on their side', { a: '1' }, { a: '1', b: '2' }, {}, { b: '2' }],
  ['deleted and changed', { a: '1', b: '1' }, { b: '1' }, { a: '2', b: '1' }, ['a']],
])('merges %s', async (_, base, ours, theirs, merged) => {
  const found = await mergeTrees(git, await treeOf(base), await treeOf(ours), await treeOf(theirs));
  if (Array.isArray(merged)) expect(found.conflicts).toEqual(merged);
  else expect(found).toEqual({ tree: await treeOf(merged), conflicts: [] });
  expect(await findEntry(git, found.tree, [])).toBeDefined();
});

test('a commit is among its own ancestors, and a child is not among its parent’s', async () => {
  const who = { name: 'Ada', email: 'ada@example.com', time: 1, zone: '+0000' };
  const tree = await treeOf({ a: '1' });
  const first = commitObject({ tree, parents: [], author: who, committer: who, message: 'one' });
  const second = commitObject({ tree, parents: [first.oid], author: who, committer: who, message: 'two' });
  await storeObjects(git.folder, [first, second]);
  expect(await isAncestor(git, first.oid, second.oid)).toBe(true);
  expect(await isAncestor(git, second.oid, first.oid)).toBe(false);
  expect(await isAncestor(git, first.oid, first.oid)).toBe(true);
});
