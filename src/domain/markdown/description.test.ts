/** Descriptions as HTML: the fast path for plain text gives the result of the engine. */
import { expect, test } from 'vitest';
import { renderDescription } from './description.ts';
import { renderDocument } from './engine.ts';

test.each([
  [null, ''],
  ['', ''],
  ['A project', '<p data-sourcepos="1:1-1:9" dir="auto">A project</p>'],
  ['It is *here*', '<p data-sourcepos="1:1-1:12" dir="auto">It is <em>here</em></p>'],
  ['A <script>alert(1)</script>', '<p data-sourcepos="1:1-1:27" dir="auto">A </p>'],
  ['#1 & @root', '<p data-sourcepos="1:1-1:10" dir="auto">#1 &amp; @root</p>'],
  [
    ':tada:',
    '<p data-sourcepos="1:1-1:6" dir="auto"><gl-emoji title="party popper" data-name="tada" data-unicode-version="6.0">🎉</gl-emoji></p>',
  ],
])('%j', (text, html) => {
  expect(renderDescription(text)).toBe(html);
  expect(renderDescription(text), 'kept').toBe(html);
});

test.each([
  'Plain words, and more. Really? (Yes) Größe 12',
  'one. two',
  'A. B',
  'end.',
  'www.example.com',
  'a;b',
  'a 1. b',
  'a  b',
])('%j the short way', (text) => {
  const { texts } = renderDocument(text, { gfm: true, baseUrl: '' });
  expect(renderDescription(text)).toBe(texts.join('').trim());
});

test('a long one is shown as it was written', () => {
  const text = `<b>${'x'.repeat(9_000)}`;
  expect(renderDescription(text)).toBe(`<p dir="auto">&lt;b&gt;${'x'.repeat(9_000)}</p>`);
});
