import { expect, test } from 'vitest';
import { sentenceOf } from './sentence.ts';

test.each<[parts: string[], sentence: string]>([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a and b'],
  [['a', 'b', 'c'], 'a, b, and c'],
  [['a', 'b', 'c', 'd'], 'a, b, c, and d'],
])('%j', (parts, sentence) => {
  expect(sentenceOf(parts)).toBe(sentence);
});
