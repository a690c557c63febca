/** Reading and truncating values of payloads. */
import { describe, expect, test } from 'vitest';
import { at, cut, cutToTotal, isBlank, type Path, textOf, textsOf, type Value } from './values.ts';

describe('a path leads', () => {
  const payload = { a: { b: [{ c: 'deep' }] }, 'a.b': 'dotted', 0: 'key', list: ['x', 'y'] };
  test.each<[string, Path, Value]>([
    ['to a key', ['a.b'], 'dotted'],
    ['through lists', ['a', 'b', 0, 'c'], 'deep'],
    ['through lists by an index as text', ['a', 'b', '0', 'c'], 'deep'],
    ['to a key that looks like an index', ['0'], 'key'],
    ['nowhere: unknown key', ['a', 'x', 'y'], undefined],
    ['nowhere: past the end', ['list', 2], undefined],
    ['nowhere: before the start', ['list', -1], undefined],
    ['nowhere: a method of lists', ['list', 'length'], undefined],
    ['nowhere: what objects inherit', ['constructor', 'name'], undefined],
    ['nowhere: a letter of a text', ['a.b', 0], undefined],
    ['to all of it', [], payload],
  ])('%s', (_where, path, expected) => {
    expect(at(payload, path)).toEqual(expected);
  });
});

test.each<[Value, boolean]>([
  ['', true],
  [' \t\n', true],
  [null, true],
  [undefined, true],
  [false, true],
  [[], true],
  [{}, true],
  [0, false],
  [true, false],
  ['0', false],
  [[''], false],
  [{ a: null }, false],
])('%j is blank: %s', (value, expected) => {
  expect(isBlank(value)).toBe(expected);
});

test.each<[Value, string | undefined, string[] | undefined]>([
  ['text', 'text', ['text']],
  [' text ', ' text ', [' text ']],
  [42, '42', ['42']],
  [0, '0', ['0']],
  ['', undefined, undefined],
  [' ', undefined, undefined],
  [true, undefined, undefined],
  [{ a: 'b' }, undefined, undefined],
  [[], undefined, undefined],
  [[[], [null]], undefined, undefined],
  [['a', ['b', ['c', '']], 7, { d: 'e' }], undefined, ['a', 'b', 'c', '7']],
])('%j as text: %s, as texts: %j', (value, text, texts) => {
  expect(textOf(value)).toBe(text);
  expect(textsOf(value)).toEqual(texts);
});

test('texts deep in lists are found without copying them level by level', () => {
  const many: Value = Array.from({ length: 250_000 }, () => 'a');
  const deep = Array.from({ length: 98 }).reduce<Value>((inner) => [inner ?? null], many);
  expect(textsOf(deep)).toHaveLength(250_000);
});

test.each([
  ['short', 5, 'short'],
  ['longer', 5, 'lo...'],
  ['😀😀😀😀😀', 5, '😀😀😀😀😀'],
  ['😀😀😀😀😀😀', 5, '😀😀...'],
  ['', 5, ''],
])('%s in %d characters is %s', (text, most, expected) => {
  expect(cut(text, most)).toBe(expected);
});

test.each([
  [['abc', 'def'], 6, ['abc', 'def']],
  [['abc', 'defg', 'h'], 6, ['abc']],
  [['abcdefg', 'h'], 6, ['abc...']],
  [['😀😀😀', '😀😀😀'], 6, ['😀😀😀', '😀😀😀']],
  [[], 6, []],
])('%j in %d characters together are %j', (texts, most, expected) => {
  expect(cutToTotal(texts, most)).toEqual(expected);
});
