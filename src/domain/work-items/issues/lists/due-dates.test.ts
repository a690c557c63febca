/** The meanings of the words for due dates. */
import { expect, test } from 'vitest';
import { dueRange } from './due-dates.ts';

test.each([
  ['today', '2026-02-27', '2026-02-27', '2026-02-27'],
  ['tomorrow', '2026-02-28', '2026-03-01', '2026-03-01'],
  ['overdue', '2026-03-01', '0001-01-01', '2026-02-28'],
  ['week', '2026-03-01', '2026-02-23', '2026-03-01'],
  ['week', '2026-03-02', '2026-03-02', '2026-03-08'],
  ['month', '2028-02-10', '2028-02-01', '2028-02-29'],
  ['next_month_and_previous_two_weeks', '2026-12-05', '2026-11-21', '2027-01-31'],
] as const)('%s on %s is from %s to %s', (word, today, from, to) => {
  expect(dueRange(word, today)).toEqual({ from, to });
});
