/** Which requests of git begin a clone or a fetch, and the days that are shown. */
import { expect, test } from 'vitest';
import { beginsFetch, firstDay } from './rules.ts';

const oid = 'a'.repeat(40);
const haves = (count: number) => `0032have ${oid}\n`.repeat(count);

test.each([
  ['a clone', `0032want ${oid}\n0009done\n`, true],
  ['a fetch', `0011command=fetch0001${`0032want ${oid}\n`}${haves(16)}0000`, true],
  ['a fetch that goes on', `0011command=fetch0001${`0032want ${oid}\n`}${haves(17)}0000`, false],
  ['a request for refs', '0014command=ls-refs\n0000', false],
  ['nothing', '', false],
])('%s', (_, question, begins) => {
  expect(beginsFetch(Buffer.from(question))).toBe(begins);
});

test('thirty days are shown', () => {
  expect(firstDay(new Date('2026-11-30T23:59:59Z'))).toBe('2026-11-01');
  expect(firstDay(new Date('2026-03-01T00:00:00Z'))).toBe('2026-01-31');
});
