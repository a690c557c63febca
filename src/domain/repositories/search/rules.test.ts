/** The meaning of the text of a search in files, filter by filter. */
import { expect, test } from 'vitest';
import { fileSearchOf, passes } from './rules.ts';

test('neither nothing nor too much can be looked for', () => {
  expect(() => fileSearchOf('  ')).toThrow('search is empty');
  expect(() => fileSearchOf('path:x '.repeat(65))).toThrow('too many filters');
});

test.each([
  ['needle', 'needle', []],
  ['two words', 'two words', []],
  ['needle filename:*.MD', 'needle', [['filename', '*.md', false]]],
  [
    '-path:vendor needle -extension:js',
    'needle',
    [
      ['path', 'vendor', true],
      ['extension', 'js', true],
    ],
  ],
  ['filename:a', '', [['filename', 'a', false]]],
  ['myfilename:a', 'myfilename:a', []],
])('%j in files is %j with filters', (search, text, filters) => {
  const found = fileSearchOf(search);
  expect(found.text).toBe(text);
  expect(found.filters.map(({ name, value, excluded }) => [name, value, excluded])).toEqual(filters);
});

test.each([
  ['filename:main.ts', true],
  ['filename:main', false],
  ['-filename:main.ts', false],
  ['path:src/deep', true],
  ['-path:src', false],
  ['extension:ts', true],
  ['extension:.ts', true],
  ['extension:s', false],
  ['path:SRC extension:TS', true],
])('%j admits Src/deep/Main.ts: %j', (search, expected) => {
  expect(passes('Src/deep/Main.ts', fileSearchOf(search).filters)).toBe(expected);
});
