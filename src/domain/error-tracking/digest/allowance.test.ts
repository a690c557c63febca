/** The number of events that are kept whole, by error and minute. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createAllowance } from './allowance.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('each error has its own, anew in each minute', () => {
  const may = createAllowance(2);
  expect(['a', 'a', 'b', 'a', 'b', 'b'].map(may)).toEqual([true, true, true, false, true, false]);
  vi.advanceTimersByTime(59_000);
  expect(may('a')).toBe(false);
  vi.advanceTimersByTime(1_000);
  expect(['a', 'b'].map(may)).toEqual([true, true]);
});
