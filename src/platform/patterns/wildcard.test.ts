/** Where stars are, and where they only seem to be. */
import { expect, test } from 'vitest';
import { fits } from './wildcard.ts';

test.each([
  ['readme.md', 'readme.md', true],
  ['readme.md', 'readme', false],
  ['readme.md', '*.md', true],
  ['readme.md', 'r*e*d', true],
  ['aba', 'ab*ba', false],
  ['abba', 'ab*ba', true],
  ['abc', '*b*', true],
  ['abc', '*d*', false],
  ['', '*', true],
  ['a'.repeat(4_000), `${'*a'.repeat(1_000)}b`, false],
  ['main', 'main', true],
  ['mainly', 'main', false],
  ['Main', 'main', false],
  ['anything/at/all', '*', true],
  ['release/1.0', 'release/*', true],
  ['release/', 'release/*', true],
  ['prerelease/1', 'release/*', false],
  ['1-stable', '*-stable', true],
  ['1-stable-2', '*-stable', false],
  ['a-b-c', 'a*b*c', true],
  ['abc', 'a*b*c', true],
  ['acb', 'a*b*c', false],
  ['a', 'a*a', false],
  ['aba', 'ab*ba', false],
  ['x', '**', true],
  ['vx1', 'v.*', false],
])('whether %j is %j: %j', (text, pattern, expected) => {
  expect(fits(text, pattern)).toBe(expected);
});
