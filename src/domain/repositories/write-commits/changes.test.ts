/** Actions of a commit as changes of a tree: tables over a repository on disk. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createObjectReader, type GitFolder } from '../../../platform/git/objects.ts';
import { type Commit, commitObject, newObject, parseCommit } from '../../../platform/git/parse.ts';
import { editTree, walkTree } from '../../../platform/git/trees.ts';
import { createRepository, storeObjects } from '../../../platform/git/write.ts';
import { applyActions } from './changes.ts';
import type { CommitAction } from './schema.ts';

const reader = createObjectReader();
let parent = '';
let git: GitFolder;
let base: Commit;

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'ashlar-changes-'));
  const folder = join(parent, 'one.git');
  await createRepository(folder, 'main');
  git = reader.open(folder);
  const blob = newObject('blob', Buffer.from('old'));
  const file = { mode: '100644', oid: blob.oid };
  const link = { mode: '120000', oid: blob.oid };
  const changes = [['a'], ['d', 'e'], ['d', 'f']].map((path) => ({ path, entry: file }));
  const { oid, objects } = await editTree(git, undefined, [...changes, { path: ['link'], entry: link }]);
  const who = { name: 'Ada', email: 'ada@example.com', time: 1, zone: '+0000' };
  const object = commitObject({ tree: oid, parents: [], author: who, committer: who, message: 'one' });
  await storeObjects(git.folder, [blob, ...objects, object]);
  base = parseCommit(object.oid, object.content);
});
afterAll(async () => {
  reader.stop();
  await rm(parent, { recursive: true, force: true });
});

/** `path` or `path mode`, for each file after the actions. */
async function filesAfter(start: Commit | undefined, actions: CommitAction[]): Promise<string[]> {
  const { tree, objects } = await applyActions(git, start, actions);
  await storeObjects(git.folder, objects);
  const files: string[] = [];
  for await (const { path, mode } of walkTree(git, tree))
    if (mode !== '40000') files.push(mode === '100644' ? path : `${path} ${mode}`);
  return files;
}

const create = (file_path: string): CommitAction => ({ action: 'create', file_path, content: 'new' });
const remove = (file_path: string): CommitAction => ({ action: 'delete', file_path });
const move = (previous_path: string, file_path: string): CommitAction => ({
  action: 'move',
  previous_path,
  file_path,
});
const rest = ['link 120000'];

test.each<[what: string, actions: CommitAction[], files: string[]]>([
  ['nothing', [], ['a', 'd/e', 'd/f', ...rest]],
  ['a file in a new folder', [create('x/y/z')], ['a', 'd/e', 'd/f', ...rest, 'x/y/z']],
  [
    'what was created before',
    [create('x'), { action: 'update', file_path: 'x', content: 'y' }, remove('x')],
    ['a', 'd/e', 'd/f', ...rest],
  ],
  ['a folder that goes with its files', [remove('d/e'), remove('d/f')], ['a', ...rest]],
  ['a file in the place of a folder', [remove('d/e'), move('d/f', 'd')], ['a', 'd', ...rest]],
  ['a folder in the place of a file', [move('a', 'a/b')], ['a/b', 'd/e', 'd/f', ...rest]],
  [
    'two that change places',
    [move('a', 't'), move('d/e', 'a'), move('t', 'd/e')],
    ['a', 'd/e', 'd/f', ...rest],
  ],
  [
    'a mode',
    [{ action: 'chmod', file_path: 'a', execute_filemode: true }],
    ['a 100755', 'd/e', 'd/f', ...rest],
  ],
  [
    'a link that stays one',
    [{ action: 'update', file_path: 'link', content: 'a', execute_filemode: true }],
    ['a', 'd/e', 'd/f', ...rest],
  ],
])('%s', async (_, actions, files) => {
  expect(await filesAfter(base, actions)).toEqual(files);
});

test.each<[what: string, actions: CommitAction[], sentence: string]>([
  ['twice the same', [create('x'), create('x')], 'A file with this name already exists'],
  [
    'a folder of which something stays',
    [remove('d/e'), create('d')],
    'A directory with this name already exists',
  ],
  [
    'what was deleted before',
    [remove('a'), { action: 'update', file_path: 'a', content: '' }],
    "A file with this name doesn't exist",
  ],
  ['a file and something below it', [create('x'), create('x/y')], 'A file with this name already exists'],
  ['something below a link', [create('link/x')], 'A file with this name already exists'],
])('refuses %s', async (_, actions, sentence) => {
  await expect(filesAfter(base, actions)).rejects.toThrow(sentence);
});

test('all of it may go, and the first commit starts from nothing', async () => {
  expect(await filesAfter(base, ['a', 'd/e', 'd/f', 'link'].map(remove))).toEqual([]);
  expect(await filesAfter(undefined, [create('a')])).toEqual(['a']);
});
