import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { batch } from './batch.ts';

const on = {};

/** Answers with its keys doubled, some turns later; remembers what came together. */
function doubling(most: number, fail: (keys: readonly number[]) => boolean = () => false) {
  const batches: number[][] = [];
  const ask = batch<object, number, number>(most, async (_on, keys) => {
    batches.push([...keys]);
    await setImmediate();
    if (fail(keys)) throw new Error(`not ${keys.join()}`);
    return keys.map((key) => key * 2);
  });
  return { batches, ask };
}

test('the first goes alone, what comes meanwhile goes together, and each has its own answer', async () => {
  const { batches, ask } = doubling(100);
  const responses = await Promise.all([1, 2, 3, 4, 5].map((key) => ask(on, key)));
  expect(responses).toEqual([2, 4, 6, 8, 10]);
  expect(batches).toEqual([[1], [2, 3, 4, 5]]);
  expect(await ask(on, 6)).toBe(12);
  expect(batches).toHaveLength(3);
});

test('no more than so many go together', async () => {
  const { batches, ask } = doubling(2);
  await Promise.all([1, 2, 3, 4, 5].map((key) => ask(on, key)));
  expect(batches).toEqual([[1], [2, 3], [4, 5]]);
});

test('a failure is told to those whose keys it had, and to nobody else', async () => {
  const { ask } = doubling(2, (keys) => keys.includes(3));
  const settled = await Promise.allSettled([1, 2, 3, 4, 5].map((key) => ask(on, key)));
  expect(settled.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
  expect(await ask(on, 7)).toBe(14);
});

test('what fails together is done apart, where one that takes its time keeps nobody else waiting', async () => {
  const later = Promise.withResolvers<string>();
  const ask = batch<object, string, string>(
    2,
    async () => {
      throw new Error('together');
    },
    {
      apart: (_on, keys) =>
        keys.map(async (key) => {
          if (key === 'bad') throw new Error('apart');
          return key === 'slow' ? later.promise : key;
        }),
    },
  );
  const slow = ask(on, 'slow');
  const [bad, quick] = await Promise.allSettled([ask(on, 'bad'), ask(on, 'quick')]);
  expect(bad).toMatchObject({ reason: { message: 'apart' } });
  expect(quick).toMatchObject({ value: 'quick' });
  later.resolve('at last');
  expect(await slow).toBe('at last');
});

test('what nobody does apart is told to all', async () => {
  const failing = async () => {
    throw new Error('together');
  };
  const ask = batch<object, string, string>(2, failing, { apart: () => undefined });
  await expect(ask(on, 'one')).rejects.toThrow('together');
});

test('what is asked of different things goes apart', async () => {
  const { batches, ask } = doubling(100);
  const other = {};
  await Promise.all([ask(on, 1), ask(other, 2), ask(on, 3), ask(other, 4)]);
  expect(batches).toEqual([[1], [2], [3], [4]]);
});

test.each([0, 2])('who gathers takes along with the first what arrived with it: %i ms', async (gather) => {
  const batches: string[][] = [];
  const ask = batch<object, string, string>(
    8,
    async (_, keys) => {
      batches.push([...keys]);
      return keys;
    },
    { gather },
  );
  const on = {};
  expect(await Promise.all(['a', 'b', 'c'].map((key) => ask(on, key)))).toEqual(['a', 'b', 'c']);
  expect(batches).toEqual([['a', 'b', 'c']]);
});
