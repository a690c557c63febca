import { expect, test } from 'vitest';
import {
  commitRefusal,
  isLimited,
  judge,
  mergeRefusal,
  newChangesRefusal,
  pushRefusal,
  sizeInWords,
} from './rules.ts';

test.each([
  ['no limit', { limit: 0, size: 900 }, 900, 'fits'],
  ['an empty repository', { limit: 100, size: 0 }, 0, 'fits'],
  ['the last byte', { limit: 100, size: 40 }, 60, 'fits'],
  ['one more', { limit: 100, size: 40 }, 61, 'would exceed'],
  ['nothing, at the limit', { limit: 100, size: 100 }, 0, 'fits'],
  ['a byte, at the limit', { limit: 100, size: 100 }, 1, 'would exceed'],
  ['nothing, above it', { limit: 100, size: 101 }, 0, 'is above'],
  ['a byte, above it', { limit: 100, size: 101 }, 1, 'is above'],
])('%s', (_what, usage, bytes, verdict) => {
  expect(judge(usage, bytes)).toBe(verdict);
});

test.each([
  [null, 0, false],
  [null, 5, true],
  [0, 5, false],
  [5, 0, true],
  [5, 5, true],
  [5, undefined, false],
  [null, undefined, false],
])('a limit of %j, and of the instance of %j: %j', (own, ofInstance, limited) => {
  expect(isLimited(own, ofInstance)).toBe(limited);
});

test.each([
  [0, '0 Bytes'],
  [1, '1 Byte'],
  [1_023, '1,023 Bytes'],
  [1_024, '1 KiB'],
  [1_536, '1.5 KiB'],
  [10 * 1_048_576, '10 MiB'],
  [115 * 1_048_576, '120 MiB'],
  [1_000 * 1_048_576, '1,000 MiB'],
  [3 * 2 ** 40, '3 TiB'],
  [4_000 * 2 ** 50, '4,000 PiB'],
])('%d bytes are %s', (bytes, text) => {
  expect(sizeInWords(bytes)).toBe(text);
});

test('refusals say the limit and what is too much', () => {
  const usage = { limit: 10 * 1_048_576, size: 15 * 1_048_576 };
  const because = 'because this repository has exceeded its size limit of 10 MiB by 5 MiB';
  expect(commitRefusal(usage)).toBe(`Your changes could not be committed, ${because}`);
  expect(mergeRefusal(usage)).toBe(`This merge request cannot be merged, ${because}`);
  expect(pushRefusal(usage)).toContain(`Your push has been rejected, ${because}. Please`);
  expect(pushRefusal({ ...usage, size: 0 }, 11 * 1_048_576)).toContain('10 MiB by 1 MiB.');
  expect(newChangesRefusal(usage)).toContain('exceed the size limit of 10 MiB so it has been rejected.');
});
