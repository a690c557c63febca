/** Which paths a pattern takes. */
import { expect, test } from 'vitest';
import { globMatcher } from './glob.ts';

test.each<[pattern: string, path: string, matches: boolean]>([
  ['README.md', 'README.md', true],
  ['README.md', 'docs/README.md', false],
  ['*', 'a', true],
  ['*', '.a', true],
  ['*', 'a/b', false],
  ['*.md', 'a.md', true],
  ['*.md', 'docs/a.md', false],
  ['**/*.md', 'a.md', true],
  ['**/*.md', 'docs/x/a.md', true],
  ['**/*.md', 'docs/.x/a.md', true],
  ['docs/**/*', 'docs/a', true],
  ['docs/**/*', 'docs/a/b/c', true],
  ['docs/**/*', 'docs', false],
  ['docs/**', 'docs/a', true],
  ['docs/**', 'docs/a/b', false],
  ['**', 'a', true],
  ['**', 'a/b', false],
  ['**/a/**/b', 'x/a/y/a/b', true],
  ['a**/b', 'ax/b', true],
  ['a**/b', 'ax/y/b', false],
  ['src/*/x.ts', 'src/a/x.ts', true],
  ['src/*/x.ts', 'src/a/b/x.ts', false],
  ['?.c', 'a.c', true],
  ['?.c', 'ab.c', false],
  ['a?b', 'a/b', false],
  ['[a-c]x', 'bx', true],
  ['[a-c]x', 'dx', false],
  ['[!a-c]x', 'dx', true],
  ['[^a]x', 'ax', false],
  ['[]a]', ']', true],
  ['[a', 'a', false],
  ['*.{ts,js}', 'a.js', true],
  ['*.{ts,js}', 'a.go', false],
  ['{a,b/{c,d}}/*', 'b/d/x', true],
  ['{a,b', '{a,b', true],
  ['a\\*b', 'a*b', true],
  ['a\\*b', 'axb', false],
  ['\u{1f680}?', '\u{1f680}\u{1f680}', true],
  ['', '', true],
  ['', 'a', false],
  ['dir/', 'dir/', true],
])('%s: %s: %s', (pattern, path, matches) => {
  expect(globMatcher(pattern)(path)).toBe(matches);
});

test('a pattern that others take years for, or more alternatives than there is room for, takes no path', () => {
  expect(globMatcher(`${'*a'.repeat(1_000)}b`)('a'.repeat(4_000))).toBe(false);
  expect(globMatcher(`${'**/a/'.repeat(500)}b`)('a/'.repeat(2_000))).toBe(false);
  expect(globMatcher('{a,b}'.repeat(40))('a'.repeat(40))).toBe(false);
});
