/** The meaning of search texts, word by word. */
import { expect, test } from 'vitest';
import { Failure } from '../../platform/failure.ts';
import { numberOf, patternsOf } from './rules.ts';

const refusal = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error instanceof Failure ? error.publicMessage : error;
  }
};

test.each([
  ['login', ['%login%']],
  ['  login   broken ', ['%login%', '%broken%']],
  ['"login is broken" today', ['%login is broken%', '%today%']],
  ['an unclosed "quote here', ['%unclosed%', '%quote%', '%here%']],
  ['a login of it', ['%login%']],
  ['100%_\\', ['%100\\%\\_\\\\%']],
  ['%%%', ['%\\%\\%\\%%']],
  ['ab', ['ab']],
  ['%', ['\\%']],
  ['_ %', ['\\_ \\%']],
  ['größe', ['%größe%']],
  ['日本', ['日本']],
  ['日本語', ['%日本語%']],
  ['""', ['""']],
])('%j is looked for as %j', (text, patterns) => {
  expect(patternsOf(text)).toEqual(patterns);
});

test('neither nothing nor too much can be looked for', () => {
  expect(refusal(() => patternsOf(' \t'))).toBe('400 Bad request - search is empty');
  const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`).join(' ');
  expect(refusal(() => patternsOf(words(65)))).toContain('too many words');
  expect(patternsOf(words(64))).toHaveLength(64);
  expect(patternsOf('word '.repeat(65))).toEqual(['%word%']);
});

test.each([
  ['#12', '#', 12],
  [' #1 ', '#', 1],
  ['12', '#', undefined],
  ['#', '#', undefined],
  ['#1a', '#', undefined],
  ['#99999999999', '#', undefined],
  ['#2147483648', '#', undefined],
  ['!3', '!', 3],
  ['!3', '#', undefined],
  ['#3', '!', undefined],
] as const)('%j names by %j the number %j', (text, sign, number) => {
  expect(numberOf(text, sign)).toBe(number);
});
