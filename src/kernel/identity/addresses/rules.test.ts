import { describe, expect, test } from 'vitest';
import { isMailAddress, signUpMailProblem } from './rules.ts';

describe('isMailAddress', () => {
  test.each(['a@b', 'first.last+tag@example.com', "o'neil@mail.example", 'jürgen@bücher.example'])(
    'takes %s',
    (text) => {
      expect(isMailAddress(text)).toBe(true);
    },
  );

  test.each([
    '',
    'a',
    '@b',
    'a@',
    'a@b@c',
    'a b@c',
    'a@b\nBcc: c@d',
    'a..b@c',
    'a@-b',
    'a@b.',
    '<a@b>',
    `${'x'.repeat(65)}@b`,
    `a@${'b'.repeat(254)}`,
  ])('refuses %j', (text) => {
    expect(isMailAddress(text)).toBe(false);
  });
});

describe('signUpMailProblem', () => {
  const settings = (
    domain_allowlist: string[],
    domain_denylist: string[],
    domain_denylist_enabled = true,
  ) => ({
    domain_allowlist,
    domain_denylist,
    domain_denylist_enabled,
  });

  test.each([
    ['a@x.example', settings([], []), undefined],
    ['a@X.Example', settings(['x.example'], []), undefined],
    ['a@y.example', settings(['x.example'], []), 'is not from an allowed domain'],
    ['a@sub.x.example', settings(['x.example'], []), 'is not from an allowed domain'],
    ['a@sub.x.example', settings(['*.x.example'], []), undefined],
    // The dot of a rule is a dot, and the rule names the whole domain.
    ['a@xxexample', settings(['x.example'], []), 'is not from an allowed domain'],
    ['a@x.example.evil', settings(['*x.example'], []), 'is not from an allowed domain'],
    ['a@bad.example', settings([], ['bad.example']), 'is not allowed for sign-up'],
    ['a@bad.example', settings([], ['bad.example'], false), undefined],
    ['a@bad.example', settings(['*.example'], ['bad.*']), 'is not allowed for sign-up'],
    // As a pattern of a regular expression, this one would be tried for ever.
    [
      `a@${'b'.repeat(200)}.example`,
      settings([`${'*b'.repeat(100)}*.org`], []),
      'is not from an allowed domain',
    ],
    ['a@"@bad.example', settings([], ['bad.example']), 'is not allowed for sign-up'],
  ])('%s under %j', (address, given, problem) => {
    expect(signUpMailProblem(address, given)).toBe(problem);
  });
});
