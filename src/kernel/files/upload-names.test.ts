/** Names of uploaded files. */
import { expect, test } from 'vitest';
import { cleanName } from './upload-names.ts';

test.each([
  ['dk.png', 'dk.png'],
  ['my file (1).txt', 'my_file__1_.txt'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\Users\\x\\a b.doc', 'a_b.doc'],
  ['日本語.png', '日本語.png'],
  ['<script>.svg', '_script_.svg'],
  ['a"b\nc.txt', 'a_b_c.txt'],
  ['..', '_..'],
  ['', 'unnamed'],
  ['+-_.x', '+-_.x'],
  [`${'a'.repeat(300)}.png`, `${'a'.repeat(196)}.png`],
])('%j becomes %s', (given, name) => {
  expect(cleanName(given)).toBe(name);
});
