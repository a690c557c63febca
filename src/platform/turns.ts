/** Work on many items that is done by turns, so that one caller's long page holds up nobody else. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { monotonic } from './clock.ts';

/** Milliseconds after which others are served before the next item. */
const LONGEST_TURN = 10;

/** As `items.map(map)`; how long an item takes is not known before: its texts may be as long as they like. */
export async function mapInTurns<T, U>(items: readonly T[], map: (item: T) => U): Promise<U[]> {
  const mapped: U[] = [];
  let end = monotonic() + LONGEST_TURN;
  for (const item of items) {
    mapped.push(map(item));
    if (monotonic() < end) continue;
    await nextTurn();
    end = monotonic() + LONGEST_TURN;
  }
  return mapped;
}
