/** How commits stand to each other, compared with what git says of each. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { makeHistory, type Step } from '../../../../test/support/shaped-history.ts';
import { createObjectReader } from '../objects.ts';
import { gitText } from '../program/program.ts';
import { createRepository } from '../write.ts';
import { containedIn, containing, countDivergence } from './heads.ts';

const root = mkdtempSync(join(tmpdir(), 'ashlar-heads-'));
const reader = createObjectReader();
afterAll(() => {
  reader.stop();
  rmSync(root, { recursive: true, force: true });
});

let made = 0;
async function makeRepository(steps: readonly Step[]) {
  made += 1;
  const git = reader.open(join(root, `${made}.git`));
  await createRepository(git.folder, 'main');
  return { git, ids: await makeHistory(git.folder, steps) };
}

test('commits that are contained, ahead, beside, unrelated and gone are told apart', async () => {
  const { git, ids } = await makeRepository([
    { name: 'root' },
    { name: 'merged', parents: ['root'] },
    { name: 'target', parents: ['root'] },
    { name: 'target', parents: ['target', 'merged'] },
    { name: 'ahead', parents: ['target'] },
    { name: 'stacked', parents: ['ahead'] },
    { name: 'beside', parents: ['root'] },
    { name: 'unrelated' },
  ]);
  const { target = '', ...others } = ids;
  const gone = '1'.repeat(40);
  const tree = (await gitText(['rev-parse', 'target^{tree}'], { folder: git.folder })).trim();
  const asked = [...Object.values(others), target, target, gone, tree];
  expect(await containedIn(git, target, asked)).toEqual(new Set([others.root, others.merged, target]));
  expect(await containedIn(git, target, [])).toEqual(new Set());
  expect(await containedIn(git, target, [gone])).toEqual(new Set());
  await expect(containedIn(git, gone, [target])).rejects.toThrow('bad object');
  expect(await containing(git, target, asked)).toEqual(new Set([target, others.ahead, others.stacked]));
  expect(await containing(git, target, [gone, tree, target])).toEqual(new Set([target]));
  await expect(containing(git, gone, [target])).rejects.toThrow('bad object');
  expect(await countDivergence(git, target, others.stacked ?? '')).toEqual({ left: 0, right: 2 });
  expect(await countDivergence(git, target, others.beside ?? '')).toEqual({ left: 3, right: 1 });
  expect(await countDivergence(git, target, others.unrelated ?? '')).toEqual({ left: 4, right: 1 });
  expect(await countDivergence(git, target, target)).toEqual({ left: 0, right: 0 });
});

test('in any history', async () => {
  const parents = fc.array(fc.array(fc.nat(), { maxLength: 3 }), { minLength: 2, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(parents, async (all) => {
      const steps = all.map((each, index) => ({
        name: `c${index}`,
        parents: index === 0 ? [] : [...new Set(each.map((parent) => `c${parent % index}`))],
      }));
      const { git, ids } = await makeRepository(steps);
      const target = ids[`c${Math.floor(steps.length / 2)}`] ?? '';
      const found = await containedIn(git, target, Object.values(ids));
      const text = await gitText(['rev-list', target], { folder: git.folder });
      expect(found).toEqual(new Set(text.trim().split('\n')));
      const above = await gitText(['rev-list', '--all', '--ancestry-path', `^${target}`], {
        folder: git.folder,
      });
      const expected = [target, ...above.split('\n').filter((line) => line !== '')];
      const ahead = await containing(git, target, Object.values(ids));
      expect(ahead).toEqual(new Set(expected.filter((oid) => Object.values(ids).includes(oid))));
    }),
    { numRuns: 10 },
  );
});

test('many commits of ten thousand of their own are asked about by one process', async () => {
  const { git, ids } = await makeRepository([
    { name: 'root' },
    { name: 'target', parents: ['root'] },
    ...Array.from({ length: 10_000 }, (_, n) => ({ name: 'long', parents: [n === 0 ? 'root' : 'long'] })),
    ...Array.from({ length: 500 }, (_, n) => ({ name: `s${n}`, parents: [n % 5 === 0 ? 'root' : 'long'] })),
  ]);
  const { target = '', ...others } = ids;
  expect(await containedIn(git, target, Object.values(others))).toEqual(new Set([others.root]));
});
