/** Texts moved to another project: references that get a path, and files that are copied. */
import { expect, test } from 'vitest';
import { relativeReferences, uploadAddresses, withAddresses, withPaths } from './moved-references.ts';

const moved = (text: string): string =>
  withPaths(text, relativeReferences(text), ({ kind }) => (kind === 'epic' ? 'g' : 'g/p'));

test.each([
  ['See #1, !2, $3 and &4.', 'See g/p#1, g/p!2, g/p$3 and g&4.'],
  ['~bug ~"two words" %v1.0 %"next one"', 'g/p~bug g/p~"two words" g/p%v1.0 g/p%"next one"'],
  ['(#1)\n#2\n- #3', '(g/p#1)\ng/p#2\n- g/p#3'],
  ['x/y#1 and y#2', 'x/y#1 and y#2'],
  ['`#1` and #2', '`#1` and g/p#2'],
  ['```\n#1\n```\n#2', '```\n#1\n```\ng/p#2'],
  ['<!-- #1 --> #2', '<!-- #1 --> g/p#2'],
  ['[#1](#2) ![a!3](b!4)', '[g/p#1](#2) ![a!3](b!4)'],
  ['https://example.com/?a=#1 #2', 'https://example.com/?a=#1 g/p#2'],
  ['<a href="#1">#2</a>', '<a href="#1">g/p#2</a>'],
  ['## 1 and #one and 100% of @ann', '## 1 and #one and 100% of @ann'],
  ['\u{1f600} #1', '\u{1f600} g/p#1'],
  ['', ''],
])('%j becomes %j', (text, expected) => {
  expect(moved(text)).toBe(expected);
});

test('what names nothing stays', () => {
  const text = '#1 #2';
  expect(withPaths(text, relativeReferences(text), ({ name }) => (name === '2' ? 'g/p' : undefined))).toBe(
    '#1 g/p#2',
  );
});

test('a text grows by five hundred paths at most', () => {
  expect(moved('#1 '.repeat(10_000)).length).toBe(30_000 + 500 * 'g/p'.length);
});

const secret = '0123456789abcdef0123456789abcdef';

test.each([
  [`![a](/uploads/${secret}/a.png)`, '![a](<undefined>/a.png)'],
  [`![a](/-/project/7/uploads/${secret}/a.png)`, '![a](<7>/a.png)'],
  [`/uploads/${secret}/a /uploads/${secret}/b`, '<undefined>/a <undefined>/b'],
  [`\`/uploads/${secret}/a\``, `\`/uploads/${secret}/a\``],
  [`/g/p/uploads/${secret}/a`, `/g/p/uploads/${secret}/a`],
  [`https://example.com/uploads/${secret}/a`, `https://example.com/uploads/${secret}/a`],
  ['/uploads/short/a', '/uploads/short/a'],
])('of %j the files are found: %j', (text, expected) => {
  expect(withAddresses(text, uploadAddresses(text), ({ projectId }) => `<${projectId}>`)).toBe(expected);
});

test.each([
  ['backticks', '`'.repeat(100_000)],
  ['comments', '<!--'.repeat(50_000)],
  ['tags', '<a'.repeat(100_000)],
  ['links', ']('.repeat(100_000)],
  ['quotes', '~"a'.repeat(50_000)],
  ['paths', 'a/'.repeat(100_000)],
  ['addresses', `/uploads/${secret}`.repeat(10_000)],
])('a text of many %s is read in no time', (_name, text) => {
  expect(relativeReferences(`${text}\n\n#`).length).toBeLessThan(2);
  expect(uploadAddresses(text).length).toBeLessThan(2);
});
