import { expect, test } from 'vitest';
import { bodyOf, shortSha, titleOf } from './commit-texts.ts';

test.each<[message: string, title: string, body: string]>([
  ['one', 'one', ''],
  ['one\n', 'one', ''],
  ['one\n\ntwo\n\nthree\n', 'one', 'two\n\nthree'],
  ['one\ntwo', 'one', 'two'],
  ['one\r\n\r\ntwo\r\n', 'one', 'two'],
  ['\n\n  two \nrest', 'two', 'rest'],
  [' \n ', '', ''],
  ['', '', ''],
])('%j is called %j, and goes on with %j', (message, title, body) => {
  expect(titleOf(message)).toBe(title);
  expect(bodyOf(message)).toBe(body);
});

test('a short id has eight characters', () => {
  expect(shortSha('0123456789abcdef0123456789abcdef01234567')).toBe('01234567');
});
