/** What is a duration, and how long it is. */
import { expect, test } from 'vitest';
import { durationSeconds } from './duration.ts';

test.each<[text: string | number, seconds: number | undefined]>([
  ['3h 30m', 12_600],
  ['3h30m', 12_600],
  ['3 hours and 30 minutes', 12_600],
  ['2 hrs, 20 min', 8_400],
  ['1 week', 604_800],
  ['6 mos 1 day', 15_638_400],
  ['47 yrs 6 mos and 4d', 1_499_104_800],
  ['1:30', 90],
  ['1:30:00', 5_400],
  ['90', 90],
  [90, 90],
  ['1.5h', 5_400],
  ['two days', 172_800],
  ['  10 Minutes ', 600],
  ['0', 0],
  ['', undefined],
  ['soon', undefined],
  ['10 fortnights', undefined],
  ['-5 minutes', undefined],
  ['h', undefined],
  ['1 2 h', undefined],
  ['never', undefined],
  ['9'.repeat(300), undefined],
])('%j: %j seconds', (text, seconds) => {
  expect(durationSeconds(text)).toBe(seconds);
});
