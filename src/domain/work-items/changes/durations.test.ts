/** Parsed and formatted durations. */
import { describe, expect, test } from 'vitest';
import { humanDuration, parseDuration } from './durations.ts';

describe('parseDuration', () => {
  test.each([
    ['3h30m', 12_600],
    ['3h 30m', 12_600],
    ['1h', 3_600],
    ['1mo', 576_000],
    ['1w', 144_000],
    ['1d', 28_800],
    ['1mo 2w 3d 4h 5m', 965_100],
    ['45s', 45],
    ['1.5h', 5_400],
    ['2 hours, 5 minutes', 7_500],
    ['10', 36_000],
    ['-1h', -3_600],
    ['+1h', 3_600],
    ['0h', 0],
    ['0', 0],
    ['-0h', 0],
    [' 2D ', 57_600],
  ])('%s is %d seconds', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  test.each(['', 'soon', '1x', 'h', '1h foo', '--1h', '1h -2m', '99999999999w', '1e9h', '١h', '1h\0', '-'])(
    '%j is none',
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );

  test('a long text is answered at once', () => {
    expect(parseDuration(`${'1h '.repeat(100_000)}!`)).toBeUndefined();
  });
});

describe('humanDuration', () => {
  test.each([
    [0, null],
    [12_600, '3h 30m'],
    [576_000, '1mo'],
    [965_100, '1mo 2w 3d 4h 5m'],
    [-3_600, '-1h'],
    [45, '45s'],
    [28_800, '1d'],
  ])('%d seconds are %s', (seconds, text) => {
    expect(humanDuration(seconds)).toBe(text);
  });

  test('in hours at most where the instance is set so', () => {
    expect(humanDuration(965_100, true)).toBe('268h 5m');
  });
});
