/** What takes long is done by turns, and what does not is done at once. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { monotonic } from './clock.ts';
import { encodeInTurns, mapInTurns, takeTurns } from './turns.ts';

/** How many turns others had meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await work();
  clearImmediate(next);
  return turns;
}

const slowly = (item: number): number => {
  const end = monotonic() + 11;
  while (monotonic() < end);
  return item + 1;
};

test('others have their turn after each item that takes long', async () => {
  expect(await turnsDuring(() => mapInTurns([1, 2, 3, 4], slowly))).toBeGreaterThanOrEqual(4);
  expect(await mapInTurns([1, 2, 3], slowly)).toEqual([2, 3, 4]);
});

test('others have their turn between steps of which some take long', async () => {
  const work = async () => {
    const othersTurn = takeTurns();
    for (const item of [1, 2, 3, 4]) {
      slowly(item);
      await othersTurn();
      await othersTurn();
    }
  };
  expect(await turnsDuring(work)).toBeGreaterThanOrEqual(4);
});

test('an empty list, and what is thrown', async () => {
  expect(await mapInTurns([], slowly)).toEqual([]);
  const broken = mapInTurns([1], () => {
    throw new Error('broken');
  });
  await expect(broken).rejects.toThrow('broken');
});

test.each([
  ['letters of one byte', 'a'.repeat(3_000_000)],
  ['letters of two', 'ä'.repeat(2_000_000)],
  ['pairs of surrogates', '\u{1f600}'.repeat(1_000_000)],
  ['pairs of surrogates that stand elsewhere', `a${'\u{1f600}'.repeat(1_000_000)}`],
  ['half of a pair', `${'a'.repeat(524_287)}\ud83d`],
  ['bytes', Buffer.alloc(3_000_000, 'ab')],
  ['a short text', 'ab'],
  ['an empty text', ''],
])('the bytes and the hash of %s are what they would be at once', async (_name, body) => {
  const hash = createHash('sha1');
  const bytes = await encodeInTurns(body, hash);
  const expected = Buffer.from(body as string);
  expect(bytes.equals(expected)).toBe(true);
  expect(hash.digest('hex')).toBe(createHash('sha1').update(expected).digest('hex'));
});

test('others have their turn while a long text is encoded', async () => {
  const text = 'a'.repeat(10_000_000);
  expect(await turnsDuring(() => encodeInTurns(text, createHash('sha1')))).toBeGreaterThan(10);
});
