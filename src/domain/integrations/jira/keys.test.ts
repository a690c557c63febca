import { expect, test } from 'vitest';
import { closedKeys, namedKeys } from './keys.ts';

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

test('keys that a pattern finds stand for the common ones', () => {
  const find = (text: string) =>
    Array.from(text.matchAll(/#([a-z]+)/g), ({ 0: whole, 1: group = '', index }) => ({
      start: index,
      end: index + whole.length,
      group,
    }));
  expect(closedKeys(['Closes #a, #b and #a STONE-1; #c. Fixes #d#e'], find)).toEqual(['a', 'b', 'd']);
  expect(namedKeys('#a STONE-1 #b #a', find)).toEqual(['a', 'b']);
});

test('the first twenty of all texts', () => {
  const texts = Array.from({ length: 50 }, (_, place) => `Closes STONE-${place}`);
  expect(closedKeys(texts)).toHaveLength(20);
});

test.each<[string, string[]]>([
  ['See STONE-1 and (A_B-3), STONE-1', ['STONE-1', 'A_B-3']],
  ['stone-1 XSTONE-1x S-1 STONE-1-2 UTF-8', ['UTF-8']],
])('named in %j', (text, keys) => {
  expect(namedKeys(text)).toEqual(keys);
});
