/** A share is bounded for all and for each caller, and no caller stands in front of another. */
import { expect, test } from 'vitest';
import {
  createMemoryShare,
  createShare,
  nameCaller,
  runForCaller,
  runForProgram,
  type ShareLimits,
} from './fair-share.ts';

const share = (limits: Partial<ShareLimits> = {}) =>
  createShare({
    of: 'things',
    places: 4,
    perCaller: 2,
    waitingPerCaller: 3,
    waiting: 5,
    timeoutMs: 60_000,
    ...limits,
  });

/** What each of the promises has come to by now. */
const settled = async (promises: readonly Promise<unknown>[]): Promise<string[]> => {
  const outcomes = promises.map((promise) =>
    promise.then(
      () => 'has it',
      (error) => String(error.status),
    ),
  );
  await new Promise((resolve) => setImmediate(resolve));
  return Promise.all(outcomes.map((outcome) => Promise.race([outcome, Promise.resolve('waits')])));
};

test('a caller gets its part, another one gets a place at once', async () => {
  const { take } = share();
  const greedy = Array.from({ length: 6 }, () => runForCaller({ name: 'greedy' }, () => take()));
  expect(await settled(greedy)).toEqual(['has it', 'has it', 'waits', 'waits', 'waits', '429']);
  const modest = runForCaller({ name: 'modest' }, () => take());
  expect(await settled([modest])).toEqual(['has it']);
});

test('what is given back goes to the caller who holds the fewest, and is given back once', async () => {
  const { take } = share({ places: 2 });
  const [first, second] = await Promise.all([1, 2].map(() => runForCaller({ name: 'a' }, () => take())));
  const again = [1, 2, 3].map(() => runForCaller({ name: 'a' }, () => take()));
  const other = [1, 2].map(() => runForCaller({ name: 'b' }, () => take()));
  first?.();
  first?.();
  expect(await settled([...again, ...other])).toEqual(['waits', 'waits', 'waits', 'has it', 'waits']);
  second?.();
  // Now each holds one or none: a holds none.
  expect(await settled([...again, ...other])).toEqual(['has it', 'waits', 'waits', 'has it', 'waits']);
});

test('a full queue is 503 for a caller who has none waiting; the program waits all the same', async () => {
  const { take } = share({ places: 1, perCaller: 1, waiting: 3 });
  const takes = ['a', 'b', 'c', 'd', 'e'].map((name) => runForCaller({ name }, () => take()));
  const program = runForProgram(() => take());
  expect(await settled([...takes, program])).toEqual(['has it', 'waits', 'waits', 'waits', '503', 'waits']);
});

test('a wait ends by its signal or its time, and leaves nothing behind', async () => {
  const { take, run } = share({ places: 1, perCaller: 1, timeoutMs: 1 });
  const give = await runForCaller({ name: 'a' }, () => take());
  const aborting = new AbortController();
  const aborted = runForCaller({ name: 'b' }, () => take(aborting.signal));
  aborting.abort(new Error('hung up'));
  await expect(aborted).rejects.toThrow('hung up');
  await expect(runForCaller({ name: 'a' }, () => take())).rejects.toMatchObject({
    status: 429,
    details: { headers: { 'retry-after': '5' } },
  });
  await expect(runForCaller({ name: 'b' }, () => take())).rejects.toMatchObject({ status: 503 });
  await expect(take(AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  give();
  await expect(run(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await run(async () => 'free')).toBe('free');
});

test('a request takes for its account from the moment that it is known', async () => {
  const { take } = share({ places: 8, perCaller: 1, waitingPerCaller: 0 });
  const known = (account: string) =>
    runForCaller({ name: '127.0.0.1' }, async () => {
      nameCaller(account);
      return take();
    });
  const takes = [known('user:1'), known('user:2'), known('user:1')];
  expect(await settled(takes)).toEqual(['has it', 'has it', '429']);
});

test('memory is held by each caller up to its part, and given back as a whole', () => {
  const { open, refuseHalfFull } = createMemoryShare({ bytes: 100, perCaller: 60, free: 10 });
  const [one, again, other] = ['a', 'a', 'b'].map((name) => runForCaller({ name }, open));
  one?.take(5);
  one?.take(45);
  expect(() => again?.take(31)).toThrow('429 Too Many Requests');
  expect(() => runForCaller({ name: 'a' }, refuseHalfFull)).toThrow('429 Too Many Requests');
  expect(() => runForCaller({ name: 'b' }, refuseHalfFull)).not.toThrow();
  again?.take(30);
  expect(() => again?.take(1)).toThrow('429 Too Many Requests');
  other?.take(50);
  expect(() => other?.take(1)).toThrow('503 Service Unavailable');
  // What is free for each fits whatever others hold.
  runForCaller({ name: 'c' }, open).take(10);
  one?.release();
  one?.release();
  other?.take(20);
  again?.release();
  other?.release();
  runForProgram(open).take(110);
  expect(() => runForProgram(open).take(11)).toThrow('503 Service Unavailable');
});
