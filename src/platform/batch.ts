/**
 * Doing together what is asked for at the same time: one call is on its way, and what comes meanwhile goes with the next.
 * Whoever is alone waits for nobody, unless it is to gather first.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { runForProgram } from './fair-share.ts';

/** Does the work of each key alone, where what made it fail together may be one of them; else undefined. */
type Apart<On, K, R> = (on: On, keys: readonly K[], error: unknown) => readonly Promise<R>[] | undefined;

const rethrow = (error: unknown): never => {
  throw error;
};

type Waiting<K, R> = { key: K; resolve(result: R | Promise<R>): void; reject(error: unknown): void };

/**
 * A function that gathers its callers' keys, by what they are asked of (a pool, say), and hands at most `most` of them to
 * `work`, whose results stand in their order. What `work` throws, all whose keys it had are told, unless `apart` does their
 * work one by one: one that fails or waits there keeps no other waiting. With `gather`, it first waits so many
 * milliseconds, or with zero until what has arrived already is read: for work that costs as much for one as for several.
 */
export function batch<On extends object, K, R>(
  most: number,
  work: (on: On, keys: readonly K[]) => Promise<readonly R[]>,
  { gather, apart }: { gather?: number; apart?: Apart<On, K, R> } = {},
): (on: On, key: K) => Promise<R> {
  const lines = new WeakMap<On, Waiting<K, R>[]>();

  async function proceed(on: On, line: Waiting<K, R>[]): Promise<void> {
    while (line.length > 0) {
      if (gather !== undefined) await (gather === 0 ? nextTurn() : sleep(gather));
      const taken = line.splice(0, most);
      const keys = taken.map(({ key }) => key);
      try {
        const results = await work(on, keys).catch(
          (error: unknown) => apart?.(on, keys, error) ?? rethrow(error),
        );
        // Their places say whose results they are.
        taken.forEach((one, place) => {
          one.resolve(results[place] as R | Promise<R>);
        });
      } catch (error) {
        for (const one of taken) one.reject(error);
      }
    }
    lines.delete(on);
  }

  return (on, key) =>
    new Promise((resolve, reject) => {
      const line = lines.get(on);
      const one = { key, resolve, reject };
      if (line) line.push(one);
      else {
        const started = [one];
        lines.set(on, started);
        // For all callers: whoever came first must not pay for those who came with it, nor hold them up by a share of its own.
        void runForProgram(() => proceed(on, started));
      }
    });
}
