/** Search texts as patterns, and as terms. */
import { expect, test } from 'vitest';
import { containing, distinctTerms } from './search.ts';

test.each([
  ['a', '%a%'],
  ['50%_\\', '%50\\%\\_\\\\%'],
])('%s is found anywhere, letter by letter', (text, pattern) => {
  expect(containing(text)).toBe(pattern);
});

test('10,000 characters are searched for, and no more', () => {
  expect(containing('%'.repeat(10_000))).toHaveLength(20_002);
  expect(() => containing('a'.repeat(10_001))).toThrow('search is too long (maximum is 10,000 characters)');
});

test.each<[string[], string[]]>([
  [[], []],
  [
    ['', 'hello', 'Hello', '', 'HELLO', 'there'],
    ['HELLO', 'there'],
  ],
  [Array(5_000).fill('hello'), ['hello']],
])('the terms %j are asked for once each', (terms, distinct) => {
  expect(distinctTerms(terms)).toEqual(distinct);
});

test('64 terms are searched for, and no more', () => {
  const terms = Array.from({ length: 65 }, (_, index) => `term${index}`);
  expect(distinctTerms(terms.slice(1))).toHaveLength(64);
  expect(() => distinctTerms(terms)).toThrow('search has too many words (maximum is 64)');
});
