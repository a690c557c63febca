import { describe, expect, test } from 'vitest';
import { patternCompiler, patternMatcher, patternProblem } from './pattern.ts';

describe('a new pattern', () => {
  test.each<[pattern: string, problem: string | undefined]>([
    ['^(feat|fix)(\\(.+\\))?: .+', undefined],
    ['(?i)\\bABC-\\d{1,6}\\b', undefined],
    ['\\p{Lu}.*[^.]$', undefined],
    ['(x+x+)+y', undefined],
    ['', undefined],
    ['(', 'is not valid RE2 syntax: missing closing ): `(`'],
    ['[a-', 'is not valid RE2 syntax: missing closing ]: `[a-`'],
    ['*', 'is not valid RE2 syntax: missing argument to repetition operator: `*`'],
    ['(?=feat)', 'is not valid RE2 syntax: invalid or unsupported Perl syntax: `(?=`'],
    ['(a)\\1', 'is not valid RE2 syntax: invalid escape sequence: `\\1`'],
    ['a{1001}', 'is not valid RE2 syntax: invalid repeat count: `{1001}`'],
    ['(?:.{0,100}){9}', 'is too complex'],
    ['.{1000}'.repeat(36), 'is too complex'],
  ])('%s', async (pattern, problem) => {
    expect(await patternProblem(pattern)).toBe(problem);
  });
});

describe('a title', () => {
  test.each<[pattern: string | null, title: string, matches: boolean]>([
    [null, 'anything', true],
    ['', 'anything', true],
    ['^feat', 'feat: doors', true],
    ['^feat', 'a feat', false],
    ['feat', 'a feat', true],
    ['^.$', '\u{1f680}', true],
    ['(?i)^FEAT', 'feat', true],
    ['(x+x+)+y', 'x'.repeat(255), false],
    ['(', '(', false],
    ['.{1000}'.repeat(36), 'x', false],
  ])('of %s: %s', async (pattern, title, matches) => {
    const isRight = await patternMatcher([pattern]);
    expect(isRight(pattern, title)).toBe(matches);
    expect(isRight(pattern, title)).toBe(matches);
  });

  test('is held to the pattern of its own project', async () => {
    const isRight = await patternMatcher(['^a', null, '^b']);
    expect([isRight('^a', 'b'), isRight(null, 'b'), isRight('^b', 'b')]).toEqual([false, true, true]);
  });
});

test.each<[pattern: string, text: string, groups: string[]]>([
  ['a(b?)', 'ab a xab', ['b', '', 'b']],
  ['(z)', 'ab', []],
  ['(a)(?:.*b)?', 'a '.repeat(100), Array(20).fill('a')],
])('the first matches of %s in %j', async (pattern, text, groups) => {
  const compiled = (await patternCompiler())(pattern);
  expect('problem' in compiled ? compiled : compiled.findFirst(text).map(({ group }) => group)).toEqual(
    groups,
  );
});
