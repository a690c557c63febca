/** Lets so much costly work run at once; the rest waits in line, and whoever comes when the line is full is told so. */
import { Failure } from './failure.ts';

export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/** A gate with so many places; more than `mostWaiting` behind it are refused with 503, `busy` in its text. */
export function createGate(places: number, mostWaiting: number, busy: string): Gate {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running < places) running += 1;
    else {
      if (waiting.length >= mostWaiting) {
        const headers = { 'retry-after': '5' };
        throw new Failure('unavailable', `503 Service Unavailable: ${busy}`, { headers });
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      // The place goes to the next in line, who counts as running from now on.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
