/** Display of uploaded files. */
import { expect, test } from 'vitest';
import { markdownOf, pictureType } from './rules.ts';

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
