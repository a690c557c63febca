/** Dates in the words of `strftime`. */
import { expect, test } from 'vitest';
import { formatDate } from './dates.ts';

test.each([
  ['%Y-%m-%d', '2026-03-04'],
  ['%F %H:%M:%S', '2026-03-04 05:06:07'],
  ['%A, %-d %B %Y', 'Wednesday, 4 March 2026'],
  ['%a %e %b %y, day %j', 'Wed  4 Mar 26, day 063'],
  ['100%% %q %constructor', '100% %q %constructor'],
  ['', ''],
])('%s', (format, text) => {
  expect(formatDate(new Date('2026-03-04T05:06:07Z'), format)).toBe(text);
});
