import { expect, test } from 'vitest';
import { backupName, isDraftName, isLate, toRemove } from './rules.ts';

test('a name is the time of the backup', () => {
  expect(backupName(new Date('2026-11-29T02:30:07.123Z'))).toBe('ashlar-20261129T023007Z.backup');
});

const of = (day: number): string => backupName(new Date(Date.UTC(2026, 0, day)));

test.each([
  { names: [], keep: 2, bases: [], removed: [] },
  { names: [of(1), of(2)], keep: 2, bases: [], removed: [] },
  { names: [of(3), of(1), of(2)], keep: 2, bases: [], removed: [of(1)] },
  { names: [of(1), of(2), of(3)], keep: 1, bases: [[of(3), of(2)]], removed: [of(1)] },
  {
    names: [of(1), of(2), of(3)],
    keep: 1,
    bases: [
      [of(3), of(2)],
      [of(2), of(1)],
    ],
    removed: [],
  },
  { names: [of(1), of(2), of(3)], keep: 1, bases: [[of(2), of(1)]], removed: [of(1), of(2)] },
  { names: [of(1), 'notes.txt', `${of(1)}.index`, 'mine.backup'], keep: 1, bases: [], removed: [] },
] as { names: string[]; keep: number; bases: [string, string][]; removed: string[] }[])(
  'of $names.length with $keep kept go $removed.length',
  ({ names, keep, bases, removed }) => {
    expect(toRemove(names, keep, new Map(bases))).toEqual(removed);
  },
);

test('what was just made stays, though a clock went wrong before', () => {
  expect(toRemove([of(1), of(20), of(21)], 2, new Map(), of(1))).toEqual([]);
  expect(toRemove([of(1), of(2), of(20), of(21)], 2, new Map(), of(2))).toEqual([of(1)]);
});

test.each([
  [`${of(1)}.part`, true],
  [`${of(1)}.index.part`, true],
  [of(1), false],
  [`${of(1)}.index`, false],
  ['thesis.part', false],
])('%s is a draft: %s', (name, expected) => {
  expect(isDraftName(name)).toBe(expected);
});

const at = (text: string): Date => new Date(`2026-11-${text}:00Z`);

test.each([
  ['29T02:31', '30 2 * * *', '29T12:00', false],
  ['28T02:31', '30 2 * * *', '29T12:00', false],
  ['27T02:31', '30 2 * * *', '29T12:00', true],
  ['15T02:31', '30 2 * * 0', '29T02:00', false],
  ['14T02:31', '30 2 * * 0', '29T02:00', true],
  ['29T09:00', '0 * * * *', '29T10:59', false],
  ['29T09:00', '0 * * * *', '29T11:01', true],
])('a backup of %s, by %s, is late at %s: %s', (last, schedule, time, expected) => {
  expect(isLate(at(last), schedule, at(time))).toBe(expected);
});
