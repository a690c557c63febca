/** A table: the days of epics, fixed and inherited. */
import { expect, test } from 'vitest';
import { type DatedEpic, datesOf } from './epic-dates.ts';

const epic = (id: number, more: Partial<DatedEpic> = {}): DatedEpic => ({
  id,
  parent_id: null,
  start_date_is_fixed: false,
  start_date_fixed: null,
  due_date_is_fixed: false,
  due_date_fixed: null,
  milestone_start: null,
  milestone_due: null,
  ...more,
});
const fixed = { start_date_is_fixed: true, start_date_fixed: '2026-03-01' };
const milestone = { milestone_start: '2026-02-01', milestone_due: '2026-05-01' };

test.each<[string, DatedEpic[], (string | null)[]]>([
  ['nothing is known', [epic(1)], [null, null, null, null]],
  ['from milestones', [epic(1, milestone)], ['2026-02-01', '2026-05-01', '2026-02-01', '2026-05-01']],
  ['fixed', [epic(1, { ...fixed, ...milestone })], ['2026-03-01', '2026-05-01', '2026-02-01', '2026-05-01']],
  [
    'fixed to none',
    [epic(1, { ...milestone, due_date_is_fixed: true })],
    ['2026-02-01', null, '2026-02-01', '2026-05-01'],
  ],
  [
    'a day that is kept but not fixed',
    [epic(1, { start_date_fixed: '2026-03-01', due_date_fixed: '2026-03-02' })],
    [null, null, null, null],
  ],
  [
    'the earliest start and the latest end of all children',
    [
      epic(1, milestone),
      epic(2, { parent_id: 1, milestone_start: '2026-01-15', milestone_due: '2026-04-01' }),
      epic(3, { parent_id: 1, milestone_start: '2026-04-15', milestone_due: '2026-06-01' }),
    ],
    ['2026-01-15', '2026-06-01', '2026-01-15', '2026-06-01'],
  ],
  [
    'a child hands on what is fixed in it, not what it would inherit',
    [
      epic(1),
      epic(2, { parent_id: 1, ...fixed }),
      epic(3, { parent_id: 2, milestone_start: '2026-01-01', milestone_due: '2026-01-02' }),
    ],
    ['2026-03-01', '2026-01-02', '2026-03-01', '2026-01-02'],
  ],
  [
    'circles end',
    [epic(1, { parent_id: 2 }), epic(2, { parent_id: 1, ...fixed })],
    ['2026-03-01', null, '2026-03-01', null],
  ],
])('%s', (_, epics, expected) => {
  const dates = datesOf(epics).get(1);
  expect([dates?.start, dates?.due, dates?.inheritedStart, dates?.inheritedDue]).toEqual(expected);
});
