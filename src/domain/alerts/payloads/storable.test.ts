/** Texts and JSON that PostgreSQL refuses, and texts that it does not. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../records.ts';
import { storable, storableText } from './storable.ts';

test.each<[string, string, string]>([
  ['a NUL in a text', '{"a":"x\\u0000y"}', '{"a":"x\uFFFDy"}'],
  ['a NUL in a key', '{"x\\u0000y":1}', '{"x\uFFFDy":1}'],
  ['a NUL deep down', '{"a":[{"b":["\\u0000"]}]}', '{"a":[{"b":["\uFFFD"]}]}'],
  ['the first half of a pair', '{"a":"\\ud83d"}', '{"a":"\uFFFD"}'],
  ['the second half of a pair', '{"\\ude00":1}', '{"\uFFFD":1}'],
  ['a whole pair beside half of one', '{"a":"\\ud83d\\ude00\\ud83d"}', '{"a":"😀\uFFFD"}'],
  ['a backslash before u0000 is text', '{"a":"\\\\u0000"}', '{"a":"\\\\u0000"}'],
  ['a key named __proto__ stays one', '{"__proto__":{"a":"\\u0000"}}', '{"__proto__":{"a":"\uFFFD"}}'],
  ['numbers, booleans and null', '{"a":"\\u0000","b":[1,true,null]}', '{"a":"\uFFFD","b":[1,true,null]}'],
])('%s', (_what, given, expected) => {
  expect(JSON.stringify(storable(JSON.parse(given)))).toBe(expected);
});

test('what can be stored is left alone', () => {
  const payload: JsonObject = { a: ['text', { b: '😀', c: null }] };
  expect(storable(payload)).toBe(payload);
});

test('whatever the text, it can be stored, and is the same when it could be before', () => {
  const unit = fc.oneof(fc.constantFrom('\0', '\ud83d', '\ude00'), fc.string({ maxLength: 1 }));
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      const stored = storableText(text);
      expect(stored.isWellFormed() && !stored.includes('\0')).toBe(true);
      if (text.isWellFormed() && !text.includes('\0')) expect(stored).toBe(text);
    }),
  );
});
