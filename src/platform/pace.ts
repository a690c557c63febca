/** Turns for work in the background, at even distances: whoever else asks finds the machine free between two. */
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonic } from './clock.ts';

/** Resolves when it is the caller's turn, in the order of the calls: at once where the last turn was long ago. */
export function createPace(perSecond: number): () => Promise<void> {
  const distance = 1_000 / perSecond;
  let next = 0;
  return async () => {
    const time = monotonic();
    const mine = Math.max(next, time);
    next = mine + distance;
    if (mine > time) await sleep(mine - time);
  };
}
