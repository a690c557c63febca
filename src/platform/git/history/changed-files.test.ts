/** Lists of changed files. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeHistory } from '../../../../test/support/shaped-history.ts';
import { createRepository } from '../write.ts';
import { changedAmong, changedFiles } from './changed-files.ts';

const root = mkdtempSync(join(tmpdir(), 'ashlar-changed-files-'));
const folder = join(root, 'one.git');
afterAll(() => rmSync(root, { recursive: true, force: true }));

let ids: Record<string, string> = {};
beforeAll(async () => {
  await createRepository(folder, 'main');
  ids = await makeHistory(folder, [
    { name: 'base', files: { a: '1', 'b c/ü': '1', d: '1' } },
    { name: 'changed', parents: ['base'], files: { a: '2', 'b c/ü': '2', e: '1' }, moved: { d: 'f/d' } },
    { name: 'elsewhere', parents: ['base'], files: { g: '1' } },
    { name: 'again', parents: ['elsewhere'], files: { a: '2' } },
    {
      name: 'many',
      parents: ['base'],
      files: Object.fromEntries(
        Array.from({ length: 30_000 }, (_, at) => [`${'long-name/'.repeat(4)}${at}`, '1']),
      ),
    },
  ]);
});

const between = (from: string, to: string) =>
  changedFiles({ folder }, { from: ids[from] ?? from, to: ids[to] ?? to });

test('files that were changed, made, removed and renamed are listed', async () => {
  const { files, isComplete } = await between('base', 'changed');
  expect([...files.keys()].sort()).toEqual(['a', 'b c/ü', 'd', 'e', 'f/d']);
  expect(isComplete).toBe(true);
  expect(files.get('a')).toMatch(/^:100644 100644 [0-9a-f]{40} [0-9a-f]{40} M$/);
});

test('the same change elsewhere is told alike', async () => {
  const [one, other] = [await between('base', 'changed'), await between('elsewhere', 'again')];
  expect(other.files).toEqual(new Map([['a', one.files.get('a') ?? '']]));
});

test('no change is an empty list, and very many are a part of it', async () => {
  expect(await between('base', 'base')).toEqual({ files: new Map(), isComplete: true });
  const { files, isComplete } = await between('base', 'many');
  expect(isComplete).toBe(false);
  expect(files.size).toBeGreaterThan(20_000);
});

test('a commit that is not there is an error', async () => {
  await expect(between('base', '1'.repeat(40))).rejects.toThrow('bad object');
});

test('of paths that are asked for, those that differ are told for each pair of commits', async () => {
  const pair = (from: string, to: string) => ({ from: ids[from] ?? from, to: ids[to] ?? to });
  const pairs = [
    pair('base', 'changed'),
    pair('elsewhere', 'changed'),
    pair('base', 'elsewhere'),
    pair('base', 'base'),
    pair('base', 'again'),
    pair('base', 'many'),
  ];
  // A folder is no file, a pattern no name, and what is asked for may be more than one run of git takes.
  const paths = ['a', 'b c/ü', 'd', 'f', 'f/d', '*', 'long-name', `${'long-name/'.repeat(4)}29999`];
  const many = Array.from({ length: 9_000 }, (_, at) => `${at}/${'x'.repeat(50)}`);
  const changed = await changedAmong({ folder }, pairs, [...paths.slice(0, 4), ...many, ...paths.slice(4)]);
  expect(pairs.map((each) => [...(changed.get(each) ?? [])].sort())).toEqual([
    ['a', 'b c/ü', 'd', 'f/d'],
    ['a', 'b c/ü', 'd', 'f/d'],
    [],
    [],
    ['a'],
    [`${'long-name/'.repeat(4)}29999`],
  ]);
});
