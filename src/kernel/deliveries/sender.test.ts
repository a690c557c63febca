/** Whose turn it is: receivers that wait have places by their owners. */
import { expect, test } from 'vitest';
import type { WaitingReceiver } from './queries.ts';
import { chooseReceivers } from './sender.ts';

/** `a3 b1`: three receivers of a, then one of b, with ids from 1 on. */
const waiting = (written: string): WaitingReceiver[] =>
  written
    .split(' ')
    .flatMap((part) => Array.from({ length: Number(part.slice(1)) }, () => part.slice(0, 1)))
    .map((owner, place) => ({ id: place + 1, owner }));

test.each<[string, Record<string, number>, number, string]>([
  ['a3', {}, 48, 'a a a'],
  // An owner has eight places, and those that it holds count.
  ['a20', {}, 48, 'a a a a a a a a'],
  ['a20', { a: 6 }, 48, 'a a'],
  ['a20', { a: 8 }, 48, ''],
  // Whoever has many that hang leaves the places of the others.
  ['a20 b1', { a: 8 }, 40, 'b'],
  // By turns: with few places left, each owner has one first.
  ['a9 b2 c1', {}, 4, 'a b c a'],
  ['a9 b2', { a: 7 }, 3, 'a b b'],
  ['a3', {}, 0, ''],
])('of %s, with %j running and %i free: %s', (written, running, free, owners) => {
  const chosen = chooseReceivers(waiting(written), new Map(Object.entries(running)), free);
  expect(chosen.map(({ owner }) => owner).join(' ')).toBe(owners);
  expect(new Set(chosen.map(({ id }) => id)).size).toBe(chosen.length);
});
