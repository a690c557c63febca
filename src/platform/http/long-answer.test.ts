/** Long answers are the same bytes as if they had been made at once, and are not. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { encodeInTurns, isLongAnswer } from './long-answer.ts';

test.each([
  ['letters of one byte', 'a'.repeat(3_000_000)],
  ['letters of two', 'ä'.repeat(2_000_000)],
  ['pairs of surrogates', '\u{1f600}'.repeat(1_000_000)],
  ['pairs of surrogates that stand elsewhere', `a${'\u{1f600}'.repeat(1_000_000)}`],
  ['half of a pair', `${'a'.repeat(524_287)}\ud83d`],
  ['bytes', Buffer.alloc(3_000_000, 'ab')],
  ['a short text', 'a'],
  ['an empty text', ''],
])('%s', async (_name, body) => {
  const { bytes, sum } = await encodeInTurns(body);
  const expected = Buffer.from(body as string);
  expect(bytes.equals(expected)).toBe(true);
  expect(sum).toBe(createHash('sha1').update(expected).digest('base64url'));
});

test('others have their turn meanwhile', async () => {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await encodeInTurns('a'.repeat(10_000_000));
  clearImmediate(next);
  expect(turns).toBeGreaterThan(10);
});

test.each([
  ['a'.repeat(524_288), false],
  ['a'.repeat(524_289), true],
  [Buffer.alloc(524_289), true],
  [undefined, false],
])('whether it is long', (body, expected) => {
  expect(isLongAnswer(body)).toBe(expected);
});
