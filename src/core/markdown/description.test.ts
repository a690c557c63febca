/** Descriptions as HTML: the short way for plain text gives what the long way would. */
import { expect, test } from 'vitest';
import { renderDescription } from './description.ts';
import { renderDocument } from './engine.ts';

test.each([
  [null, ''],
  ['', ''],
  ['A project', '<p dir="auto">A project</p>'],
  ['It is *here*', '<p dir="auto">It is <em>here</em></p>'],
  ['A <script>alert(1)</script>', '<p dir="auto">A </p>'],
  ['#1 & @root', '<p dir="auto">#1 &amp; @root</p>'],
  [':tada:', '<p dir="auto"><gl-emoji title="tada" data-name="tada">🎉</gl-emoji></p>'],
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
