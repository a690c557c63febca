/** What takes long is done by turns, and what does not is done at once. */
import { expect, test } from 'vitest';
import { monotonic } from './clock.ts';
import { mapInTurns } from './turns.ts';

/** How many turns others had meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await work();
  clearImmediate(next);
  return turns;
}

const slowly = (item: number): number => {
  const end = monotonic() + 11;
  while (monotonic() < end);
  return item + 1;
};

test('others have their turn after each item that takes long', async () => {
  expect(await turnsDuring(() => mapInTurns([1, 2, 3, 4], slowly))).toBeGreaterThanOrEqual(4);
  expect(await mapInTurns([1, 2, 3], slowly)).toEqual([2, 3, 4]);
});

test('an empty list, and what is thrown', async () => {
  expect(await mapInTurns([], slowly)).toEqual([]);
  const broken = mapInTurns([1], () => {
    throw new Error('broken');
  });
  await expect(broken).rejects.toThrow('broken');
});
