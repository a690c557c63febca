import { expect, test } from 'vitest';
import { coverageIn } from './coverage.ts';

test.each<[string, string, number | undefined]>([
  ['Lines: 98.29%\n', 'Lines: \\d+\\.\\d+', 98.29],
  ['Lines: 10%\nLines: 20% and Lines: 30%\nend\n', 'Lines: \\d+', 30],
  ['all 7 files 81.5 | 90\n', 'all \\d+ files +(\\d+\\.\\d+)', 81.5],
  // The last group is taken, and another line where it has no number.
  ['total 55%\ntotal none%\n', '(total) (\\w+)%', 55],
  ['nothing\n', '\\d+', undefined],
  ['', '\\d+', undefined],
  // What is no pattern finds nothing.
  ['1', '(', undefined],
  [`${'a'.repeat(100_000)}!\n`, '(a*)*b', undefined],
])('%j has by %s %s', async (text, pattern, coverage) => {
  expect(await coverageIn(text, pattern)).toBe(coverage);
});
