/** Many merges that are only tried. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { makeHistory, type Step } from '../../../../test/support/shaped-history.ts';
import { newObject, treeObject } from '../parse.ts';
import { git, NoRepository } from '../program/program.ts';
import { createRepository, storeObjects } from '../write.ts';
import { type Judgement, judgeMerges } from './judge.ts';
import { syntheticCommit } from './merge.ts';
import type { Pair } from './merge-tree.ts';

const root = mkdtempSync(join(tmpdir(), 'ashlar-judge-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let made = 0;
let folder = '';
beforeEach(async () => {
  made += 1;
  folder = join(root, `${made}.git`);
  await createRepository(folder, 'main');
});

const filesOf = (): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
async function judge(pairs: readonly Pair[]): Promise<Judgement[]> {
  const judged: Judgement[] = [];
  for await (const judgement of judgeMerges(folder, pairs)) judged.push(judgement);
  // Trees are those of git (merge.test.ts).
  return judged.map((each) => (each.result === 'clean' ? { ...each, tree: '' } : each));
}

test('each of many pairs gets its judgement, in order, and nothing is left behind', async () => {
  const others = Array.from({ length: 120 }, (_, n): Step => {
    const name = `s${n}`;
    if (n % 40 === 7) return { name, files: { z: `${n}` } };
    return { name, parents: ['base'], files: n % 3 === 0 ? { a: `${n}` } : { [`b${n}`]: '1' } };
  });
  const { target: ours = '', ...heads } = await makeHistory(folder, [
    { name: 'base', files: { a: '1' } },
    { name: 'target', parents: ['base'], files: { a: 'target' } },
    ...others,
  ]);
  const before = filesOf();
  const pairs = others.map(({ name }) => ({ ours, theirs: heads[name] ?? '' }));
  const gone = { ours, theirs: '1'.repeat(40) };
  expect(await judge([...pairs, gone, { ours: gone.theirs, theirs: ours }, ...pairs.slice(0, 1)])).toEqual([
    ...others.map((_, n) => {
      if (n % 40 === 7) return { result: 'unrelated' };
      return n % 3 === 0 ? { result: 'conflict', paths: ['a'] } : { result: 'clean', tree: '' };
    }),
    { result: 'missing' },
    { result: 'missing' },
    { result: 'conflict', paths: ['a'] },
  ]);
  expect(filesOf()).toEqual(before);
});

test('who has seen enough ends it', async () => {
  const { one = '' } = await makeHistory(folder, [{ name: 'one' }]);
  const before = filesOf();
  const seen: string[] = [];
  for await (const { result } of judgeMerges(folder, Array(10_000).fill({ ours: one, theirs: one }))) {
    seen.push(result);
    if (seen.length === 60) break;
  }
  expect(new Set(seen)).toEqual(new Set(['clean']));
  expect(filesOf()).toEqual(before);
});

test('no pairs, and no repository', async () => {
  expect(await judge([])).toEqual([]);
  folder = join(root, 'none.git');
  const [ours, theirs] = ['1'.repeat(40), '2'.repeat(40)];
  await expect(judge([{ ours, theirs }])).rejects.toThrow(NoRepository);
});

test('a merge that takes too much is told, and spoils none of the others', async () => {
  const { small = '' } = await makeHistory(folder, [{ name: 'small', files: { a: '1' } }]);
  // More than git may allocate at once.
  const large = (end: string) =>
    newObject('blob', Buffer.concat([Buffer.alloc(97 * 1_048_576), Buffer.from(end)]));
  const commitOf = async (end: string, parents: string[]): Promise<string> => {
    const blob = large(end);
    const tree = treeObject([{ mode: '100644', name: 'a', oid: blob.oid }]);
    const commit = syntheticCommit(tree.oid, parents);
    await storeObjects(folder, [blob, tree, commit]);
    return commit.oid;
  };
  const base = await commitOf('base', []);
  const [ours, theirs] = [await commitOf('ours', [base]), await commitOf('theirs', [base])];
  const easy = { ours: small, theirs: small };
  expect(await judge([easy, { ours, theirs }, easy])).toEqual([
    { result: 'clean', tree: '' },
    { result: 'too_large' },
    { result: 'clean', tree: '' },
  ]);
  await git(['fsck', '--connectivity-only'], { folder });
});
