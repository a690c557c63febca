/** Differences that take more memory than git may have. */
import { expect, test } from 'vitest';
import { makeTrees, useRepository } from '../../../../test/support/git-trees.ts';
import { readPatches } from './diff-runs.ts';

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
  const { files, total, overflow } = await readPatches({ place, ends: { from, to }, renames: '-M' }, {});
  expect({ total, overflow }).toEqual({ total: 4, overflow: false });
  expect(files.map(({ diff, too_large, collapsed }) => [diff, too_large, collapsed])).toEqual([
    ['@@ -1 +1 @@\n-a\n+aa\n', false, false],
    ['Binary files a/b and b/b differ\n', false, false],
    ['', true, false],
    ['@@ -1 +1 @@\n-d\n+dd\n', false, false],
  ]);
});
