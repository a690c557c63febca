/** Waiting for what the program does by itself. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds between two looks: at first as long as a fact takes at least to become work that is done. */
const SHORTEST_MS = 5;
const LONGEST_MS = 50;

/** Looks until it is so; throws the complaint where it is not after a minute. */
export async function until(isSo: () => boolean | Promise<boolean>, complaint: string): Promise<void> {
  for (let waited = 0, pause = SHORTEST_MS; waited < 60_000; waited += pause) {
    if (await isSo()) return;
    await sleep(pause);
    pause = Math.min(pause + SHORTEST_MS, LONGEST_MS);
  }
  throw new Error(complaint);
}
