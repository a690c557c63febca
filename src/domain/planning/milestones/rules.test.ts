/** Rules for a milestone's fields. */
import { expect, test } from 'vitest';
import { milestoneTitle, nextState, refuseDates } from './rules.ts';

test.each([
  ['', /can't be blank/],
  ['  ', /can't be blank/],
  ['x'.repeat(256), /too long \(maximum is 255/],
])('the title %j is refused', (text, message) => {
  expect(() => milestoneTitle(text)).toThrow(message);
});

test('a title is taken without the spaces around it', () => {
  expect(milestoneTitle(' v1, again ')).toBe('v1, again');
});

test.each([
  [null, null, undefined],
  ['2026-01-02', null, undefined],
  ['2026-01-02', '2026-01-02', undefined],
  ['2026-01-02', '2026-01-01', /due_date.*must be greater than start date/],
  ['1899-12-31', null, /start_date.*date must not be before 1900-01-01/],
  [null, '1899-12-31', /due_date.*date must not be before 1900-01-01/],
])('from %s to %s', (start_date, due_date, message) => {
  const refuse = () => refuseDates({ start_date, due_date });
  if (message) expect(refuse).toThrow(message);
  else expect(refuse).not.toThrow();
});

test.each([
  ['active', 'close', 'closed'],
  ['closed', 'activate', 'active'],
  ['closed', 'close', undefined],
  ['active', 'activate', undefined],
  ['active', undefined, undefined],
] as const)('%s and %s make %s', (state, event, next) => {
  expect(nextState(state, event)).toBe(next);
});
