import { expect, test } from 'vitest';
import { aliasProblems } from './rules.ts';

test.each([
  ['engine', true],
  ['Engine-2.0', true],
  ['', false],
  ['a/b', false],
  ['a b', false],
  ['../a', false],
  ['-a', false],
  ['a.git', false],
  ['a.wiki', false],
  ['a.Wiki', false],
  ['123', false],
  ['api', false],
  ['a\0', false],
  ['ä', false],
  ['a'.repeat(255), true],
  ['a'.repeat(256), false],
])('%j is the name of an alias: %s', (name, good) => {
  expect(aliasProblems(name).length === 0).toBe(good);
});
