import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createRecent } from './recent.ts';

/** Reads that end when the test says so. */
function controlled() {
  const loads: PromiseWithResolvers<string>[] = [];
  const recent = createRecent(() => {
    const load = Promise.withResolvers<string>();
    loads.push(load);
    return load.promise;
  });
  return { recent, loads };
}
const OUTDATED_MS = 1_100;

test('those who ask at the same time share a read, and what it gave is known', async () => {
  const { recent, loads } = controlled();
  const requested = [recent.read(), recent.read()];
  loads[0]?.resolve('one');
  expect(await Promise.all(requested)).toEqual(['one', 'one']);
  expect(recent.read()).toBe('one');
  expect(loads).toHaveLength(1);
});

test('nobody joins a read that is too old, and it does not come after a newer one', async () => {
  const { recent, loads } = controlled();
  const early = recent.read();
  await sleep(OUTDATED_MS);
  const late = recent.read();
  expect(loads).toHaveLength(2);
  loads[1]?.resolve('new');
  expect(await late).toBe('new');
  loads[0]?.resolve('old');
  expect(await early).toBe('old');
  expect(recent.read()).toBe('new');
});

test('what came late is as old as its question', async () => {
  const { recent, loads } = controlled();
  const first = recent.read();
  await sleep(OUTDATED_MS);
  loads[0]?.resolve('old');
  await first;
  void recent.read();
  expect(loads).toHaveLength(2);
});

test('what is forgotten is read anew, and a failed read is tried again', async () => {
  const { recent, loads } = controlled();
  const before = recent.read();
  recent.forget();
  const after = recent.read();
  loads[1]?.resolve('new');
  loads[0]?.resolve('old');
  expect([await before, await after, recent.read()]).toEqual(['old', 'new', 'new']);
  recent.forget();
  const failing = recent.read();
  loads[2]?.reject(new Error('gone'));
  await expect(failing).rejects.toThrow('gone');
  const again = recent.read();
  loads[3]?.resolve('back');
  expect(await again).toBe('back');
});
