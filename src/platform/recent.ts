/**
 * What many requests need and few change: read from the database at most once a second by each process, and never older
 * than that when it is used. A change is acknowledged when no process can go by what was there before: at once where this
 * process is alone, else after that second.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonic } from './clock.ts';
import type { Presence } from './db/processes.ts';

const MAX_AGE_MS = 1_000;

export type Recent<T> = {
  read(): T | Promise<T>;
  /** Reads anew at the next use: called after the commit of a change. */
  forget(): void;
};

export function createRecent<T>(load: () => Promise<T>): Recent<T> {
  let known: { value: T; askedAt: number } | undefined;
  let reading: { promise: Promise<T>; askedAt: number } | undefined;
  // Its age counts from before it was asked for: what the database saw is no older.
  const isRecent = ({ askedAt }: { askedAt: number }): boolean => monotonic() - askedAt < MAX_AGE_MS;

  function begin(): Promise<T> {
    const askedAt = monotonic();
    const promise = load().then(
      (value) => {
        if (reading === mine) {
          known = { value, askedAt };
          reading = undefined;
        }
        return value;
      },
      (error: unknown) => {
        if (reading === mine) reading = undefined;
        throw error;
      },
    );
    const mine = { promise, askedAt };
    reading = mine;
    return promise;
  }

  return {
    read() {
      if (known && isRecent(known)) return known.value;
      return reading && isRecent(reading) ? reading.promise : begin();
    },
    forget() {
      known = undefined;
      reading = undefined;
    },
  };
}

/** Resolves when no process uses what it read before this call any more: called after the commit of a change. */
export async function untilOutdated(presence: Presence): Promise<void> {
  const start = monotonic();
  if (await presence.isAlone().catch(() => false)) return;
  for (let left = MAX_AGE_MS; left > 0; left = MAX_AGE_MS - (monotonic() - start)) await sleep(left);
}
