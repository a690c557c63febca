import { expect, test } from 'vitest';
import { readableText } from './readable-text.ts';

test.each([
  ['', ''],
  ['granite', 'gran'],
  ['a\tb\n', 'a\tb\n'],
  ['a\0b\u{7f}c\ufffed', 'abcd'],
  ['😀😀😀😀😀', '😀😀😀😀'],
  ['\ud83da', 'a'],
  // What is behind is not looked at: texts may be long.
  [`${'\0'.repeat(8)}a`, ''],
])('%j', (text, expected) => {
  expect(readableText(text, 4)).toBe(expected);
});
