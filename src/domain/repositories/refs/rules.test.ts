/** Searches of refs, and the beginnings of their pages. */
import { expect, test } from 'vitest';
import { Failure } from '../../../platform/failure.ts';
import { matchesSearch, startBehind } from './rules.ts';

const names = ['feature/one', 'Feature-two', 'main', 'my-feature', 'v1.0'];

test.each<[search: string | undefined, found: string[]]>([
  [undefined, names],
  ['', names],
  ['feature', ['feature/one', 'Feature-two', 'my-feature']],
  ['^feature', ['feature/one', 'Feature-two']],
  ['FEATURE$', ['my-feature']],
  ['^main$', ['main']],
  ['^mai$', []],
  ['.', ['v1.0']],
  ['.*', []],
  ['^', names],
  ['$', names],
])('%j finds %j', (search, found) => {
  expect(names.filter(matchesSearch(search))).toEqual(found);
});

const refs = ['B', 'a', 'c', 'ä'].map((name) => ({ name, oid: '' }));

test.each<[token: string, order: string, start: number]>([
  ['B', 'name', 1],
  ['ä', 'name', 4],
  ['b', 'name', 2],
  ['', 'name', 0],
  ['zz', 'name', 3],
  ['a', 'updated', 2],
])('behind %j in the order %s is %d', (token, order, start) => {
  expect(startBehind(refs, token, order)).toBe(start);
});

test('a ref that is gone has a place in the reverse order of names too', () => {
  expect(startBehind([...refs].reverse(), 'b', 'name_desc')).toBe(2);
});

test('a token of nothing is refused where the order does not tell its place', () => {
  expect(() => startBehind(refs, 'gone', 'updated')).toThrow(Failure);
});
