import { expect, test } from 'vitest';
import { sentenceOf } from './variables.ts';

test.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a and b'],
  [['a', 'b', 'c'], 'a, b, and c'],
])('%j is said as %s', (names, said) => {
  expect(sentenceOf(names)).toBe(said);
});
