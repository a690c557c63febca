/** Records whose lists arrive while they are sent. */
import { Readable } from 'node:stream';

type Later<Value> = (() => Value) | (Value extends readonly (infer Item)[] ? AsyncIterable<Item> : never);

/** A record with lists that arrive, and functions for what is known when they have. */
export type Arriving<T> = { [Name in keyof T]: T[Name] | Later<T[Name]> };

export const isArriving = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/** Whether anything of the record is still to come. */
export const hasArriving = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.values(value).some(isArriving);

/**
 * What the producer gives, in order. It starts at once and waits for no reader, who so holds nothing that it uses; the reader
 * gets its failure after all that it gave.
 */
export function arriving<T>(produce: (give: (item: T) => void) => Promise<void>): AsyncIterable<T> {
  let given: T[] = [];
  let isOver = false;
  let news = Promise.withResolvers<void>();
  const producing = produce((item) => {
    given.push(item);
    news.resolve();
  }).finally(() => {
    isOver = true;
    news.resolve();
  });
  // Nobody reads it where another part of the answer fails.
  producing.catch(() => {});
  return (async function* () {
    while (!isOver || given.length > 0) {
      const items = given;
      given = [];
      yield* items;
      if (isOver || given.length > 0) continue;
      await news.promise;
      news = Promise.withResolvers();
    }
    await producing;
  })();
}

/** The record when all of it has arrived. */
export async function arrived(value: object): Promise<object> {
  const lists = new Map<string, unknown[]>();
  for (const [name, list] of Object.entries(value))
    if (isArriving(list)) lists.set(name, await Readable.from(list).toArray());
  return settled(value, lists);
}

/** The same record as it arrives; `tell` gets it whole at the end. */
export function telling(value: object, tell: (whole: object) => void): object {
  const lists = new Map<string, unknown[]>();
  const coming = Object.entries(value).filter(([, list]) => isArriving(list));
  const told = coming.map(([name, list]) => {
    const seen: unknown[] = [];
    return [
      name,
      (async function* () {
        for await (const item of list as AsyncIterable<unknown>) {
          seen.push(item);
          yield item;
        }
        lists.set(name, seen);
        if (lists.size === coming.length) tell(settled(value, lists));
      })(),
    ];
  });
  return { ...value, ...Object.fromEntries(told) };
}

const settled = (value: object, lists: ReadonlyMap<string, unknown[]>): object =>
  Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      lists.get(name) ?? (typeof each === 'function' ? each() : each),
    ]),
  );
