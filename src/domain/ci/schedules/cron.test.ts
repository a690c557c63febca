/** When schedules are due: patterns, zones with summer time, months' ends, and the minutes of the worker. */
import { describe, expect, test } from 'vitest';
import { zoneOf } from '../cron/times.ts';
import { zoneNames } from '../cron/zone-names.ts';
import { nextRun } from './cron.ts';

const due = (cron: string, cron_timezone: string, from: string) => {
  const next = nextRun({ cron, cron_timezone }, new Date(from));
  return typeof next === 'string' ? next : next.toISOString().slice(0, 16);
};

describe('a schedule is due', () => {
  test.each([
    // From one turn of the worker to the next.
    ['* * * * *', 'UTC', '2026-11-28T12:00:00Z', '2026-11-28T12:03'],
    ['* * * * *', 'UTC', '2026-11-28T12:02:30Z', '2026-11-28T12:03'],
    ['* * * * *', 'UTC', '2026-11-28T12:03:00Z', '2026-11-28T12:13'],
    ['13 * * * *', 'UTC', '2026-11-28T12:03:00Z', '2026-11-28T12:13'],
    ['14 * * * *', 'UTC', '2026-11-28T12:03:00Z', '2026-11-28T12:23'],
    ['59 23 31 12 *', 'UTC', '2026-11-28T12:00:00Z', '2027-01-01T00:03'],
    // Names, lists, ranges, steps, words.
    ['0 9 * JAN MON', 'UTC', '2026-11-28T12:00:00Z', '2027-01-04T09:03'],
    ['0,30 8-9 * * *', 'UTC', '2026-11-28T08:10:00Z', '2026-11-28T08:33'],
    ['0 */6 * * *', 'UTC', '2026-11-28T12:10:00Z', '2026-11-28T18:03'],
    ['0 0 * * 7', 'UTC', '2026-11-28T12:00:00Z', '2026-11-29T00:03'],
    ['@daily', 'UTC', '2026-11-28T12:00:00Z', '2026-11-29T00:03'],
    ['@hourly', 'UTC', '2026-11-28T12:00:00Z', '2026-11-28T13:03'],
    [' 0 1 * * * ', 'UTC', '2026-11-28T12:00:00Z', '2026-11-29T01:03'],
    // A day of the month or of the week.
    ['0 0 13 * 5', 'UTC', '2026-11-28T12:00:00Z', '2026-12-04T00:03'],
    // Months' ends and leap years.
    ['0 0 L * *', 'UTC', '2026-11-28T12:00:00Z', '2026-11-30T00:03'],
    ['0 0 L 2 *', 'UTC', '2027-11-28T12:00:00Z', '2028-02-29T00:03'],
    ['0 0 29 2 *', 'UTC', '2026-11-28T12:00:00Z', '2028-02-29T00:03'],
    ['0 0 31 * *', 'UTC', '2026-11-28T12:00:00Z', '2026-12-31T00:03'],
    ['0 0 * * 1#2', 'UTC', '2026-11-28T12:00:00Z', '2026-12-14T00:03'],
    // Berlin is an hour ahead in winter and two in summer; in Kathmandu it is three quarters past.
    ['0 4 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T02:03'],
    ['0 4 * * *', 'Berlin', '2026-10-24T12:00:00Z', '2026-10-25T03:03'],
    ['0 4 * * *', 'Kathmandu', '2026-11-28T12:00:00Z', '2026-11-28T22:23'],
    ['0 4 * * *', 'Pacific Time (US & Canada)', '2026-07-01T00:00:00Z', '2026-07-01T11:03'],
    // What falls into the hour that is left out is due when it ends; of one that comes twice, the first counts.
    ['30 2 29 3 *', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T01:03'],
    ['30 1 * * *', 'America/New_York', '2026-10-31T12:00:00Z', '2026-11-01T05:33'],
    ['30 1 * * *', 'America/New_York', '2026-11-01T05:33:00Z', '2026-11-02T06:33'],
  ])('by %s in %s after %s at %s', (cron, zone, from, expected) => {
    expect(due(cron, zone, from)).toBe(expected);
  });
});

test.each([
  ['', 'UTC', 'cron'],
  ['0 0 * *', 'UTC', 'cron'],
  ['0 0 0 * * *', 'UTC', 'cron'],
  ['0 24 * * *', 'UTC', 'cron'],
  ['60 0 * * *', 'UTC', 'cron'],
  ['0 0 30 2 *', 'UTC', 'cron'],
  ['@reboot', 'UTC', 'cron'],
  ['2030-01-01T00:00:00', 'UTC', 'cron'],
  ['every day', 'UTC', 'cron'],
  ['0 0 * * *', 'Europe/Nowhere', 'cron_timezone'],
  ['0 0 * * *', '', 'cron_timezone'],
  ['0 0 * * *', 'constructor', 'cron_timezone'],
])('%s in %s is a wrong %s', (cron, zone, wrong) => {
  expect(due(cron, zone, '2026-11-28T12:00:00Z')).toBe(wrong);
});

test('every zone with a name of its own is known', () => {
  expect(Object.keys(zoneNames).filter((name) => zoneOf(name) !== zoneNames[name])).toEqual([]);
});
