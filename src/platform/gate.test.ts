/** So many at once, in the order in which they came, and no more in line than fit. */
import { expect, test } from 'vitest';
import { createGate } from './gate.ts';

test('as many run as there are places, in order; a failure gives its place back', async () => {
  const gate = createGate(2, 10, 'too much');
  let running = 0;
  let most = 0;
  const begun: number[] = [];
  const works = Array.from({ length: 8 }, (_, index) =>
    gate(async () => {
      begun.push(index);
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      if (index % 3 === 0) throw new Error('failed');
      return index;
    }),
  );
  const ends = await Promise.allSettled(works);
  expect([most, running]).toEqual([2, 0]);
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(ends.filter(({ status }) => status === 'rejected').length).toBe(3);
  expect(await gate(async () => 'free')).toBe('free');
});

test('who finds the line full is refused', async () => {
  const gate = createGate(1, 1, 'too much');
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = gate(() => promise);
  const second = gate(async () => 'second');
  await expect(gate(async () => 'third')).rejects.toMatchObject({
    status: 503,
    publicMessage: '503 Service Unavailable: too much',
  });
  resolve();
  await first;
  expect(await second).toBe('second');
});
