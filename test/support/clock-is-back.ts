/**
 * The files of a worker share the program's clock: one that leaves it moved makes others fail that know nothing of it. The
 * difference to the system's is none, or what a test moved it by; half a minute is more than a busy machine takes between the two.
 */
import { afterAll, expect } from 'vitest';
import { now } from '../../src/platform/clock.ts';

afterAll(() => {
  expect(Math.abs(now().getTime() - Date.now()), 'the clock is moved back').toBeLessThan(30_000);
});
