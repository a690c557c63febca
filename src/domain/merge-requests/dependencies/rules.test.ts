/** The decision about a new dependency, case by case. */
import { expect, test } from 'vitest';
import { type BlockCandidates, refuseBlock } from './rules.ts';

const good: BlockCandidates = {
  blockingId: 1,
  blockedId: 2,
  exists: false,
  blockers: 9,
  blockees: 9,
  chained: [3, 4],
};
const many = Array.from({ length: 1_001 }, (_, nth) => nth + 10);

test.each<[what: string, Partial<BlockCandidates>, kind: string | undefined, text: RegExp]>([
  ['may be made', {}, undefined, /^$/],
  ['may be made behind a long chain', { chained: many.slice(1) }, undefined, /^$/],
  ['is none of a merge request on itself', { blockedId: 1 }, 'unprocessable', /itself/],
  ['exists once', { exists: true }, 'conflict', /already exists/],
  ['is one of ten', { blockers: 10 }, 'unprocessable', /at most 10 dependencies/],
  ['is one of ten on the other side, too', { blockees: 10 }, 'unprocessable', /at most 10 others/],
  ['makes no circle', { chained: [3, 2] }, 'unprocessable', /circle/],
  ['makes no circle behind a long chain', { chained: [...many, 2] }, 'unprocessable', /circle/],
  ['ends a chain that is too long to look through', { chained: many }, 'unprocessable', /at most 1000/],
])('a dependency %s', (_what, change, kind, text) => {
  const refusal = refuseBlock({ ...good, ...change });
  expect(refusal?.kind).toBe(kind);
  expect(refusal?.message ?? '').toMatch(text);
});
