/** Bounds of payloads. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../../platform/failure.ts';
import type { JsonObject } from '../records.ts';
import { MAX_PAYLOAD_BYTES, MAX_PAYLOAD_DEPTH, measure, readPayload } from './size.ts';

const objects = (levels: number): string => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
const lists = (levels: number): string => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
const sized = (bytes: number): string => `{"a":"${'x'.repeat(bytes - 8)}"}`;
const read = (text: string | Uint8Array): JsonObject => readPayload(Buffer.from(text));

describe('taken', () => {
  test.each<[string, string | Uint8Array, JsonObject]>([
    ['an object', '{"title":"Down"}', { title: 'Down' }],
    ['an empty one', '{}', {}],
    ['space around', ' {"a":1}\r\n', { a: 1 }],
    ['a byte order mark', '\uFEFF{"a":1}', { a: 1 }],
    ['bytes that are no UTF-8', Buffer.from('{"a":"\xe9"}', 'latin1'), { a: '\uFFFD' }],
    ['of a key given twice, the last', '{"a":1,"a":2}', { a: 2 }],
  ])('%s', (_what, body, expected) => {
    expect(read(body)).toEqual(expected);
  });

  test.each<[string, string]>([
    ['as deep as can be', objects(MAX_PAYLOAD_DEPTH)],
    ['as deep in lists', lists(MAX_PAYLOAD_DEPTH)],
    ['as large as can be', sized(MAX_PAYLOAD_BYTES)],
  ])('%s', (_what, body) => {
    expect(JSON.stringify(read(body))).toBe(body);
    expect(measure(JSON.parse(body))).toBeUndefined();
  });
});

describe('refused with a 400 that says why', () => {
  test.each<[string, string, RegExp]>([
    ['nothing', '', /is not JSON/],
    ['half of it', '{"a":', /is not JSON/],
    ['a form', 'title=Down', /is not JSON/],
    ['more after it', '{} {}', /is not JSON/],
    ['a list', '[{"title":"Down"}]', /is not a JSON object/],
    ['a text', '"Down"', /is not a JSON object/],
    ['null', 'null', /is not a JSON object/],
    ['one level too many', objects(MAX_PAYLOAD_DEPTH + 1), /deeper than 100 levels/],
    ['one level of lists too many', lists(MAX_PAYLOAD_DEPTH + 1), /deeper than 100 levels/],
    ['as many levels as the size allows', lists(MAX_PAYLOAD_BYTES / 2 - 3), /deeper than 100 levels/],
    ['one byte too many', sized(MAX_PAYLOAD_BYTES + 1), /larger than 1 MiB/],
  ])('%s', (_what, body, reason) => {
    expect(() => read(body)).toThrow(reason);
    expect(() => read(body)).toThrow(Failure);
  });
});

test('a payload inside something else is measured alike', () => {
  expect(measure(JSON.parse(objects(MAX_PAYLOAD_DEPTH + 1)))).toMatch(/deeper/);
  expect(measure(JSON.parse(sized(MAX_PAYLOAD_BYTES + 1)))).toMatch(/larger/);
  expect(measure({ a: '\u00e9'.repeat(MAX_PAYLOAD_BYTES / 2) })).toMatch(/larger/);
});

test('no bytes whatever throw anything but a refusal', () => {
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array(), fc.json().map(Buffer.from)), (body) => {
      try {
        expect(measure(readPayload(body))).toBeUndefined();
      } catch (error) {
        expect(error).toBeInstanceOf(Failure);
      }
    }),
  );
});
