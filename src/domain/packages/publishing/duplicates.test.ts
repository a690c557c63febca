import { expect, test } from 'vitest';
import { patternMatcher } from '../../../platform/patterns/pattern.ts';
import { duplicateRule, mayComeAgain } from './duplicates.ts';

test.each([
  ['generic', [], true, null],
  ['maven', [], true, null],
  ['nuget', [{}, {}], true, null],
  ['terraform_module', [], false, null],
  ['generic', [{ generic_duplicates_allowed: false }, { generic_duplicates_allowed: true }], false, null],
  ['generic', [{ generic_duplicates_allowed: null }, { generic_duplicates_allowed: false }], false, null],
  ['generic', [{ maven_duplicates_allowed: false }], true, null],
  // Of modules the group at the top decides.
  [
    'terraform_module',
    [{ terraform_module_duplicates_allowed: false }, { terraform_module_duplicates_allowed: true }],
    true,
    null,
  ],
  ['terraform_module', [{ terraform_module_duplicates_allowed: true }, {}], true, null],
  ['maven', [{}, { maven_duplicate_exception_regex: 'a|b' }], true, '\\A(?:a|b)\\z'],
  // A group has none where those above have one.
  ['maven', [{ maven_duplicate_exception_regex: '' }, { maven_duplicate_exception_regex: 'a' }], true, null],
] as const)('of %s, %j', (format, groups, allowed, exception) => {
  expect(duplicateRule(format, groups)).toEqual({ allowed, exception });
});

test.each([
  [true, null, true],
  [false, null, false],
  [true, 'stone', false],
  [false, 'stone', true],
  [false, '1\\.0', true],
  [false, 'ston', false],
  [false, 'tone|1', false],
  [true, '.*', false],
  // One that was kept and is none matches nothing.
  [true, '(', true],
])('allowed: %s, but for %s: %s', async (allowed, pattern, expected) => {
  const exception = pattern && `\\A(?:${pattern})\\z`;
  const matches = await patternMatcher([exception]);
  expect(mayComeAgain({ allowed, exception }, { name: 'stone', version: '1.0' }, matches)).toBe(expected);
});

test('a package without a version is known by its name', async () => {
  const exception = '\\A(?:stone)\\z';
  const matches = await patternMatcher([exception]);
  expect(mayComeAgain({ allowed: true, exception }, { name: 'stone', version: null }, matches)).toBe(false);
});
