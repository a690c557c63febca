/** The histogram: the places of its bars, and its text. */
import { expect, test } from 'vitest';
import { histogram } from './histogram.ts';

const until = new Date('2026-11-22T10:40:00Z');
const at = (hour: string, events: number) => ({ hour: `2026-11-${hour}:00:00.000Z`, events });

const barsOf = (text: string) =>
  [...text.matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="0.85" height="([\d.]+)"/g)].map(
    ([, ...numbers]) => numbers.map(Number),
  );

test.each([
  ['none', [], []],
  ['this hour', [at('22T10', 4)], [[23, 0, 100]]],
  ['the first hour', [at('21T11', 4)], [[0, 0, 100]]],
  ['before it, and after it', [at('21T10', 4), at('22T11', 4)], []],
  [
    'many and few',
    [at('22T08', 10_000), at('22T09', 1), at('22T10', 2_500)],
    [
      [21, 0, 100],
      [22, 98, 2],
      [23, 75, 25],
    ],
  ],
])('bars of %s', (_, counts, bars) => {
  expect(barsOf(histogram(counts, until, 24).text)).toEqual(bars);
});

test('it says what it shows', () => {
  const { text } = histogram([at('22T09', 1), at('22T10', 2_500)], until, 24);
  expect(text).toContain('aria-label="2,501 events in this time, 2,500 events in an hour at most"');
  expect(text).toContain('<title>2026-11-22 09:00 UTC: 1 event</title>');
  expect(text).toContain('<span>2026-11-21 11:00</span>');
  expect(text).toContain('<span>2026-11-22 11:00 UTC</span>');
  expect(histogram([], until, 24).text).toContain('No events in this time');
  expect(text).not.toMatch(/style=|<script/);
});
