/** Payloads that are events of the same alert, and payloads that are not. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../platform/db/rows.ts';
import type { JsonObject } from '../records.ts';
import { canonicalJson, generatedFingerprint, givenFingerprint, metricsFingerprint } from './fingerprint.ts';
import type { Value } from './values.ts';

/** By `printf abc | sha1sum` and so on. */
const ABC = 'a9993e364706816aba3e25717850c26c9cd0d89d';
const FORTY_TWO = '92cfceb39d57d914ed8b14d0e37643de0797ae56';

describe('a given fingerprint', () => {
  test.each<[string, Value, string]>([
    ['a text', 'abc', ABC],
    ['a list', ['a', 'b', 'c'], ABC],
    ['lists in lists', [['a'], ['b', ['c']]], ABC],
    ['a list with nothing between', ['a', null, 'bc', ''], ABC],
    ['a number', 42, FORTY_TWO],
    ['numbers in a list', [4, [2]], FORTY_TWO],
    ['its hash is not hashed less', ABC, '9ef2bdeea2b1bae79b9ddb930427d0b2c880bdac'],
  ])('%s', (_what, value, expected) => {
    expect(givenFingerprint(value)?.toString('hex')).toBe(expected);
  });

  test('an object is one, in whatever order its keys came', () => {
    expect(givenFingerprint({ a: 1, b: 2 })).toEqual(givenFingerprint({ b: 2, a: 1 }));
    expect(givenFingerprint({ a: 1 })).not.toEqual(givenFingerprint({ a: 2 }));
  });

  test.each<[Value]>([[undefined], [null], [''], [' '], [[]], [{}], [false], [['', [null]]]])(
    '%j is none',
    (value) => {
      expect(givenFingerprint(value)).toBeUndefined();
    },
  );
});

describe('a generated fingerprint', () => {
  const generated = (payload: JsonObject) =>
    generatedFingerprint(payload, [['start_time'], ['end_time'], ['hosts'], ['alert', 'since'], ['tags', 1]]);
  const payload: JsonObject = { title: 'Down', service: 'web', extra: { a: 1, b: [1, 2] } };

  test.each<[string, JsonObject]>([
    ['itself', { ...payload }],
    ['another start', { ...payload, start_time: '2026-04-01T12:00:00Z' }],
    ['an end', { ...payload, end_time: '2026-04-01T12:00:00Z' }],
    ['hosts', { ...payload, hosts: ['a', 'b'] }],
    ['another order', { extra: { b: [1, 2], a: 1 }, service: 'web', title: 'Down' }],
  ])('is the same for %s', (_what, other) => {
    expect(generated(other)).toEqual(generated(payload));
  });

  test.each<[string, JsonObject]>([
    ['another title', { ...payload, title: 'Up' }],
    ['another value deep down', { ...payload, extra: { a: 1, b: [2, 1] } }],
    ['one property more', { ...payload, more: 'x' }],
    ['a start deep down', { ...payload, extra: { a: 1, b: [1, 2], start_time: 'x' } }],
    ['a number for a text', { ...payload, service: 1 }],
  ])('is another for %s', (_what, other) => {
    expect(generated(other)).not.toEqual(generated(payload));
  });

  test('leaves out what is deep down at a path, and only that', () => {
    const at = (since: number, name: string, second: string) =>
      generated({ alert: { since, name }, tags: ['x', second, 'z'] });
    expect(at(1, 'n', 'a')).toEqual(at(2, 'n', 'b'));
    expect(at(1, 'n', 'a')).not.toEqual(at(1, 'm', 'a'));
  });

  test('leaves out neighbours of a list', () => {
    const of = (...list: string[]) =>
      generatedFingerprint({ list }, [
        ['list', 0],
        ['list', '1'],
      ]);
    expect(of('a', 'b', 'c')).toEqual(of('x', 'y', 'c'));
    expect(of('a', 'b', 'c')).not.toEqual(of('a', 'b', 'z'));
  });

  test.each<[JsonObject]>([
    [{}],
    [{ start_time: '2026-04-01', hosts: 'a' }],
    [{ title: '', service: ' ', extra: {}, tags: [], active: false, none: null }],
  ])('%j has none', (blank) => {
    expect(generated(blank)).toBeUndefined();
  });
});

test('of a metrics alert it is of its start, title and query', () => {
  const of = (...parts: Parameters<typeof metricsFingerprint>) =>
    metricsFingerprint(...parts).toString('hex');
  expect(of('2026-04-01T12:00:00Z', 'Down', 'up == 0')).toBe('0d3073c27f431f738b6b7d9482ca7266313172f5');
  expect(of('2026-04-01T12:00:00Z', 'Down', undefined)).toBe('cf87faf95559dddfd08c7b2e748fa69f4a84c436');
});

test('equal JSON has one canonical form, which is JSON of the same value', () => {
  const shuffled = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, item]) => [key, shuffled(item ?? null)]),
    );
  };
  fc.assert(
    fc.property(fc.json(), (text) => {
      const value: Json = JSON.parse(text);
      expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value));
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
