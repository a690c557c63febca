/** Names of uploaded files, and what shows them. */
import { expect, test } from 'vitest';
import { cleanName, markdownOf, pictureType } from './rules.ts';

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

test.each([
  ['a.png', 'image/png'],
  ['a.JPG', 'image/jpeg'],
  ['a.svg', undefined],
  ['a.html', undefined],
  ['a', undefined],
  ['a.constructor', undefined],
])('%s is shown as %s', (name, type) => {
  expect(pictureType(name)).toBe(type);
});

test.each([
  ['dk.png', { alt: 'dk', markdown: '![dk](/u/dk.png)' }],
  ['a.mp4', { alt: 'a', markdown: '![a](/u/a.mp4)' }],
  ['a.svg', { alt: 'a.svg', markdown: '[a.svg](/u/a.svg)' }],
  ['a.pdf', { alt: 'a.pdf', markdown: '[a.pdf](/u/a.pdf)' }],
])('%s in a text', (name, expected) => {
  expect(markdownOf(name, `/u/${name}`)).toEqual(expected);
});
