/** The meter agrees with the parser on the ends of texts, however the bytes are split. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonMeter, MAX_JSON_VALUES } from './json-meter.ts';

/** Names and values of a JSON text: one for each opening bracket, colon and comma. */
function count(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const items = Object.values(value);
  const names = Array.isArray(value) ? 0 : items.length;
  return 1 + names + Math.max(0, items.length - 1) + items.reduce((sum, item) => sum + count(item), 0);
}

function metered(text: string, size = 65_536): number {
  const meter = new JsonMeter();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) meter.push(bytes.subarray(at, at + size));
  return meter.values;
}

test('counts as the parser finds them, in pieces of any size', () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: 'binary' }), fc.integer({ min: 1, max: 7 }), (text, size) => {
      expect(metered(text, size)).toBe(count(JSON.parse(text)));
      expect(metered(JSON.stringify({ text }), size)).toBe(2);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['"\\\\",1', 1],
  ['"\\",\\"",1', 1],
  ['{"a\\\\\\"":[{},[]],"b,:":"[{"}', 8],
])('%s', (text, values) => {
  for (let size = 1; size <= text.length; size++) expect(metered(text, size)).toBe(values);
});

test.each([
  ['[', '[', 'JSON is nested deeper than 100 levels'],
  ['{"a":', '{"a":', 'JSON is nested deeper than 100 levels'],
  ['[', '0,', `the JSON body has more than ${MAX_JSON_VALUES} names and values`],
  ['[', '{},', `the JSON body has more than ${MAX_JSON_VALUES} names and values`],
  ['{', '"":1,', `the JSON body has more than ${MAX_JSON_VALUES} names and values`],
])('%s%s… is refused before its end', (begin, again, message) => {
  expect(() => metered(begin + again.repeat(MAX_JSON_VALUES + 1))).toThrow(message);
});

test('counts the parameters apart: the names of the outermost object, and no others', () => {
  const push = (text: string) => new JsonMeter(2).push(Buffer.from(text));
  expect(() => push('{"a":{"b":1,"c":2,"d":3},"e":[{"f":1,"g":2,"h":3}]}')).not.toThrow();
  expect(() => push('[{"a":1,"b":2,"c":3}]')).not.toThrow();
  expect(() => push('{"a":1,"b":":::","c":')).toThrow('more than 2 parameters');
  expect(() => push('{"a":1,"a":1,"a":')).toThrow('more than 2 parameters');
});
