/** What is kept of the bodies of reports, and for how long. */
import { expect, test } from 'vitest';
import { createRecentBodies } from './recent-bodies.ts';

const body = (length: number) => new Uint8Array(length);

test('a body is handed out once', () => {
  const recent = createRecentBodies();
  const kept = body(3);
  recent.keep(7, kept);
  expect(recent.take(7)).toBe(kept);
  expect(recent.take(7)).toBeUndefined();
  expect(recent.take(8)).toBeUndefined();
});

test('there is room for so many bytes, and again when some are gone', () => {
  const recent = createRecentBodies(10);
  for (const id of [1, 2, 3]) recent.keep(id, body(4));
  expect(recent.take(3)).toBeUndefined();
  recent.forgetBefore(2);
  expect(recent.take(1)).toBeUndefined();
  recent.keep(4, body(6));
  expect(recent.take(4)).toHaveLength(6);
  expect(recent.take(2)).toHaveLength(4);
});
