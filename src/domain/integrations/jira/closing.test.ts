import { expect, test } from 'vitest';
import { closedKeys } from './closing.ts';

test.each<[string, string[]]>([
  ['Closes STONE-1', ['STONE-1']],
  ['fix: STONE-1, STONE-2 and A_B-3.', ['STONE-1', 'STONE-2', 'A_B-3']],
  ['Resolved STONE-1 STONE-2\n\nimplements STONE-1', ['STONE-1', 'STONE-2']],
  ['STONE-1 is near', []],
  ['discloses STONE-1', []],
  ['Closes #1', []],
  ['closes stone-1 Closes STONE-12x', []],
])('%j', (text, keys) => {
  expect(closedKeys([text])).toEqual(keys);
});

test('the first twenty of all texts', () => {
  const texts = Array.from({ length: 50 }, (_, place) => `Closes STONE-${place}`);
  expect(closedKeys(texts)).toHaveLength(20);
});
