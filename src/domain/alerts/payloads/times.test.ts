/** Formats of times that tools send, and texts that are no time. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { timeOf } from './times.ts';
import type { Value } from './values.ts';

describe('a time is read', () => {
  test.each<[string, Value, string]>([
    ['ISO 8601 in UTC', '2026-04-01T12:30:45Z', '2026-04-01T12:30:45.000Z'],
    ['with milliseconds', '2026-04-01T12:30:45.678Z', '2026-04-01T12:30:45.678Z'],
    ['with nanoseconds, as Go writes them', '2026-04-01T12:30:45.678912345Z', '2026-04-01T12:30:45.678Z'],
    ['with one digit of a fraction', '2026-04-01T12:30:45.6Z', '2026-04-01T12:30:45.600Z'],
    ['with a decimal comma', '2026-04-01T12:30:45,678Z', '2026-04-01T12:30:45.678Z'],
    ['east of Greenwich', '2026-04-01T12:30:45+02:00', '2026-04-01T10:30:45.000Z'],
    ['west of Greenwich, without a colon', '2026-04-01T22:30:45-0530', '2026-04-02T04:00:45.000Z'],
    ['with whole hours of offset', '2026-04-01T12:30:45+02', '2026-04-01T10:30:45.000Z'],
    ['without a zone', '2026-04-01T12:30:45', '2026-04-01T12:30:45.000Z'],
    ['without seconds', '2026-04-01T12:30Z', '2026-04-01T12:30:00.000Z'],
    ['a day', '2026-04-01', '2026-04-01T00:00:00.000Z'],
    ['a day with slashes', '2026/04/01 12:30:45', '2026-04-01T12:30:45.000Z'],
    ['basic ISO 8601', '20260401T123045Z', '2026-04-01T12:30:45.000Z'],
    ['a day of basic ISO 8601', '20260401', '2026-04-01T00:00:00.000Z'],
    ['as databases write it', '2026-04-01 12:30:45.678+00', '2026-04-01T12:30:45.678Z'],
    ['as Ruby writes it', '2026-04-01 12:30:45 UTC', '2026-04-01T12:30:45.000Z'],
    ['as Go prints it', '2026-04-01 12:30:45.678 +0000 UTC', '2026-04-01T12:30:45.678Z'],
    ['in small letters', '2026-04-01t12:30:45z', '2026-04-01T12:30:45.000Z'],
    ['of mail', 'Wed, 01 Apr 2026 12:30:45 +0200', '2026-04-01T10:30:45.000Z'],
    ['of HTTP', 'Wed, 01 Apr 2026 12:30:45 GMT', '2026-04-01T12:30:45.000Z'],
    ['of mail without its weekday', '1 Apr 2026 12:30', '2026-04-01T12:30:00.000Z'],
    ['of date(1)', 'Wed Apr  1 12:30:45 UTC 2026', '2026-04-01T12:30:45.000Z'],
    ['of asctime()', 'Wed Apr 1 12:30:45 2026', '2026-04-01T12:30:45.000Z'],
    ['with space around', ' 2026-04-01T12:30:45Z\n', '2026-04-01T12:30:45.000Z'],
    ['milliseconds since 1970', 1_775_046_645_678, '2026-04-01T12:30:45.678Z'],
    ['milliseconds as text', '1775046645678', '2026-04-01T12:30:45.678Z'],
    ['seconds since 1970', 1_775_046_645, '2026-04-01T12:30:45.000Z'],
    ['seconds as text', '1775046645', '2026-04-01T12:30:45.000Z'],
    ['seconds with a fraction', 1_775_046_645.5, '2026-04-01T12:30:45.500Z'],
    ['the first millisecond that is one', 100_000_000_000, '1973-03-03T09:46:40.000Z'],
    ['the last', '9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s: %s', (_what, value, expected) => {
    expect(timeOf(value)?.toISOString()).toBe(expected);
  });
});

test.each<[string, Value]>([
  ['nothing', undefined],
  ['null', null],
  ['an empty text', ''],
  ['white space', '  '],
  ['a word', 'yesterday'],
  ['a word with a number, which JavaScript takes for a month', 'server 5'],
  ["Go's zero time", '0001-01-01T00:00:00Z'],
  ["Go's zero time elsewhere", '0001-01-01T00:00:00+01:00'],
  ['a thirteenth month', '2026-13-01T00:00:00Z'],
  ['a twenty-fifth hour', '2026-04-01T25:00:00Z'],
  ['an offset that is none', '2026-04-01T12:00:00+99:99'],
  ['a zone by a name that several places have', '2026-04-01 12:00:00 IST'],
  ['day and month in either order', '04/01/2026'],
  ['a bare hour', '12:30'],
  ['more after it', '2026-04-01T12:30:45Z and later'],
  ['zero', 0],
  ['a negative number', -1_775_046_645],
  ['a small number', 5],
  ['a number after the year 9999', 253_402_300_800_000],
  ['a number too large for a date', 1e300],
  ['too many digits', '9'.repeat(400)],
  ['true', true],
  ['a list', ['2026-04-01T12:30:45Z']],
  ['an object', { time: '2026-04-01T12:30:45Z' }],
])('no time: %s', (_what, value) => {
  expect(timeOf(value)).toBeUndefined();
});

test('what JavaScript writes is read as it was, and whatever is read has a year of four digits', () => {
  const moments = fc.date({ min: new Date('0002-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(moments, (date) => {
      expect(timeOf(date.toISOString())).toEqual(date);
    }),
  );
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.double(), fc.stringMatching(/^[-+0-9T:. Zz/]{4,30}$/)), (value) => {
      const time = timeOf(value);
      if (time) expect(time.toISOString()).toMatch(/^\d{4}-/);
    }),
  );
});
