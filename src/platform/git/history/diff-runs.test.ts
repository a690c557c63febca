/** Differences that take more memory than git may have. */
import { expect, test } from 'vitest';
import { makeTrees, useRepository } from '../../../../test/support/git-trees.ts';
import { readPatches } from './diff-runs.ts';
import type { FileDiff } from './parse-diff.ts';

const place = useRepository();

test('a file that is too large to be compared keeps no other from being shown', async () => {
  const lines = (sign: string): string =>
    Array.from({ length: 900_000 }, (_, at) => `${sign}${at.toString(36)}\n`).join('');
  const [from = '', to = ''] = await makeTrees(
    place,
    [
      { path: 'a', text: 'a\n' },
      { path: 'b', text: 'b\0' },
      { path: 'c', text: lines('-') },
      { path: 'd', text: 'd\n' },
    ],
    [
      { path: 'a', text: 'aa\n' },
      { path: 'b', text: 'bb\0' },
      { path: 'c', text: lines('+') },
      { path: 'd', text: 'dd\n' },
    ],
  );
  const given: FileDiff[] = [];
  const options = { give: (file: FileDiff) => given.push(file) };
  const compared = { place, ends: { from, to }, renames: '-M' };
  const { files, total, overflow } = await readPatches(compared, options);
  expect({ total, overflow }).toEqual({ total: 4, overflow: false });
  expect(files.map(({ diff, too_large, collapsed }) => [diff, too_large, collapsed])).toEqual([
    ['@@ -1 +1 @@\n-a\n+aa\n', false, false],
    ['Binary files a/b and b/b differ\n', false, false],
    ['', true, false],
    ['@@ -1 +1 @@\n-d\n+dd\n', false, false],
  ]);
  // git ended in the patch of the third, and may have in that of the second.
  expect(given.length).toBeGreaterThan(0);
  expect(files.slice(0, given.length)).toEqual(given);
});
