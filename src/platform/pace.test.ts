import { expect, test } from 'vitest';
import { monotonic } from './clock.ts';
import { createPace } from './pace.ts';

test('turns come in order, at no less than their distance, the first at once', async () => {
  const turn = createPace(100);
  const begun = monotonic();
  const order: number[] = [];
  await Promise.all(Array.from({ length: 11 }, (_, place) => turn().then(() => order.push(place))));
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  // Timers may be a millisecond early.
  expect(monotonic() - begun).toBeGreaterThanOrEqual(98);
});
