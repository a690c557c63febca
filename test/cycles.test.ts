/** Which arrows lie in a cycle. */
import { expect, test } from 'vitest';
import { arrowsInCycles } from '../scripts/cycles.ts';

test.each([
  ['nothing', '', ''],
  ['a chain', 'a>b b>c a>c', ''],
  ['two that meet', 'a>c b>c c>d', ''],
  ['each other', 'a>b b>a', 'a>b b>a'],
  ['a ring, and an arrow along it', 'a>b b>c c>a a>c', 'a>b b>c c>a a>c'],
  ['arrows into a ring and out of it', 'x>a a>b b>a b>y', 'a>b b>a'],
  ['two rings with an arrow between them', 'a>b b>a b>c c>d d>c', 'a>b b>a c>d d>c'],
  ['itself', 'a>a a>b', 'a>a'],
])('%s', (_, arrows, expected) => {
  const parsed = [...arrows.matchAll(/(\w)>(\w)/g)].map(([, from = '', to = '']) => ({ from, to }));
  const found = arrowsInCycles(parsed).map(({ from, to }) => `${from}>${to}`);
  expect(found.join(' ')).toBe(expected);
});
