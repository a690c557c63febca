import { expect, test } from 'vitest';
import { LabError } from '../wire.ts';
import { advancedBy, type ClockTime, setBy } from './rules.ts';

const now = new Date('2026-03-01T10:00:00.500Z');
const running: ClockTime = { now, frozen: false };
const frozen: ClockTime = { now, frozen: true };
const same = now.toISOString();

test.each<[ClockTime, Record<string, unknown>, string, boolean]>([
  [running, { now: '2030-01-31T12:00:00Z' }, '2030-01-31T12:00:00.000Z', false],
  [running, { now: '2030-01-31T12:00:00.25+02:00' }, '2030-01-31T10:00:00.250Z', false],
  [running, { now: '2030-01-31T12:00Z' }, '2030-01-31T12:00:00.000Z', false],
  [running, { now: '2028-02-29' }, '2028-02-29T00:00:00.000Z', false],
  [running, { now: '1970-01-01' }, '1970-01-01T00:00:00.000Z', false],
  [running, { now: '2999-12-31T23:59:59.999Z' }, '2999-12-31T23:59:59.999Z', false],
  [running, { now: '2030-01-31', frozen: true }, '2030-01-31T00:00:00.000Z', true],
  [running, { frozen: true }, same, true],
  [running, { frozen: false }, same, false],
  [frozen, { frozen: false }, same, false],
  // It stays frozen, at another time.
  [frozen, { now: '2030-01-31' }, '2030-01-31T00:00:00.000Z', true],
])('%j set by %j', (clock, body, time, isFrozen) => {
  const { now, frozen } = setBy(clock, body);
  expect([now.toISOString(), frozen]).toEqual([time, isFrozen]);
});

test.each<[ClockTime, Record<string, unknown>, string]>([
  [running, { milliseconds: 500 }, '2026-03-01T10:00:01.000Z'],
  [running, { seconds: 1 }, '2026-03-01T10:00:01.500Z'],
  [frozen, { minutes: 1 }, '2026-03-01T10:01:00.500Z'],
  [running, { hours: 1.5 }, '2026-03-01T11:30:00.500Z'],
  [running, { days: 31 }, '2026-04-01T10:00:00.500Z'],
  [running, { days: 1, hours: 1, minutes: 1, seconds: 1, milliseconds: 1 }, '2026-03-02T11:01:01.501Z'],
  [running, { seconds: 0 }, same],
])('%j advanced by %j', (clock, body, time) => {
  const { now, frozen } = advancedBy(clock, body);
  expect([now.toISOString(), frozen]).toEqual([time, clock.frozen]);
});

test.each<[typeof setBy, Record<string, unknown>, RegExp]>([
  [setBy, {}, /now or frozen is missing/],
  [setBy, { now: 'tomorrow' }, /now is a day/],
  [setBy, { now: '2030-02-30' }, /now is a day/],
  [setBy, { now: '2030-13-01' }, /now is a day/],
  [setBy, { now: '2030-01-31T24:00:00Z' }, /now is a day/],
  // Of which zone?
  [setBy, { now: '2030-01-31T12:00:00' }, /with its zone/],
  [setBy, { now: 1_900_000_000 }, /now is a day/],
  [setBy, { now: null }, /now is a day/],
  [setBy, { now: '1969-12-31' }, /from 1970 to 2999/],
  [setBy, { now: '3000-01-01' }, /from 1970 to 2999/],
  [setBy, { now: '1970-01-01T00:00:00+01:00' }, /from 1970 to 2999/],
  [setBy, { frozen: 'yes' }, /frozen is true or false/],
  [setBy, { time: '2030-01-31' }, /no time: it takes now and frozen/],
  [advancedBy, {}, /one of milliseconds, seconds, minutes, hours, days is missing/],
  [advancedBy, { days: -1 }, /days is a number that is not negative/],
  [advancedBy, { days: '1' }, /days is a number/],
  [advancedBy, { days: Number.POSITIVE_INFINITY }, /days is a number/],
  [advancedBy, { days: 1e300 }, /from 1970 to 2999/],
  [advancedBy, { weeks: 1 }, /no weeks/],
])('%o refuses %j', (change, body, message) => {
  expect(() => change(running, body)).toThrow(LabError);
  expect(() => change(running, body)).toThrow(message);
});
