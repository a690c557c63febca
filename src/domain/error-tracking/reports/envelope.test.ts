/** Envelopes and their items. */
import { describe, expect, test } from 'vitest';
import { EnvelopeFailure, looksLikeObject, readEnvelope, readEventId, writeEnvelope } from './envelope.ts';

const read = (text: string) => {
  const { items, ...headers } = readEnvelope(Buffer.from(text));
  return { ...headers, items: items.map(({ type, payload }) => [type, payload.toString()]) };
};

const none = { eventId: undefined, sentAt: undefined, dsn: undefined };
const ID = '9ec79c33ec9942ab8353589fcb2e04dc';

describe('envelopes', () => {
  test.each<[string, string, object]>([
    ['headers alone', '{}', { ...none, items: [] }],
    ['headers and a newline', '{}\n', { ...none, items: [] }],
    ['an empty line behind', '{}\n\n', { ...none, items: [] }],
    [
      'an item to the end of the line',
      '{}\n{"type":"event"}\n{"a":1}',
      { ...none, items: [['event', '{"a":1}']] },
    ],
    [
      'an item of a length, with newlines in it',
      '{}\n{"type":"event","length":9}\n{\n"a":1\n}\n',
      { ...none, items: [['event', '{\n"a":1\n}']] },
    ],
    [
      'an empty item, and one behind it',
      '{}\n{"type":"attachment","length":0}\n\n{"type":"session"}\n{}\n',
      {
        ...none,
        items: [
          ['attachment', ''],
          ['session', '{}'],
        ],
      },
    ],
    ['an item without a payload', '{}\n{"type":"event"}', { ...none, items: [['event', '']] }],
    [
      'lines that end as on Windows',
      '{}\r\n{"type":"event"}\r\n{"a":1}\r\n',
      { ...none, items: [['event', '{"a":1}\r']] },
    ],
    [
      'what the headers say',
      '{"event_id":"9EC79C33-EC99-42AB-8353-589FCB2E04DC","sent_at":"2026-11-22T01:00:00Z","dsn":"https://k@h/1","trace":{}}\n',
      { eventId: ID, sentAt: '2026-11-22T01:00:00Z', dsn: 'https://k@h/1', items: [] },
    ],
    ['headers of other types', '{"event_id":1,"dsn":null,"__proto__":{"dsn":"x"}}', { ...none, items: [] }],
  ])('%s', (_, text, envelope) => {
    expect(read(text)).toEqual(envelope);
  });

  test.each([
    ['nothing', ''],
    ['no JSON', 'hello'],
    ['an array', '[]\n'],
    ['null', 'null\n'],
    ['an item without headers', '{}\nhello\n'],
    ['an item without a type', '{}\n{"length":1}\na\n'],
    ['a type that is none', '{}\n{"type":1}\na\n'],
    ['an item that is cut off', '{}\n{"type":"event","length":10}\n{}'],
    ['an item of another length', '{}\n{"type":"event","length":1}\n{}\n'],
    ['a negative length', '{}\n{"type":"event","length":-1}\n{}\n'],
    ['a length that is no number', '{}\n{"type":"event","length":"2"}\n{}\n'],
    ['a fraction of a length', '{}\n{"type":"event","length":1.5}\n{}\n'],
    ['too many items', `{}\n${'{"type":"event"}\n{}\n'.repeat(1_001)}`],
    ['headers that are too long', `{"a":"${'x'.repeat(65_536)}"}\n`],
  ])('%s is none', (_, text) => {
    expect(() => read(text)).toThrow(EnvelopeFailure);
  });

  test('is written as it was read', () => {
    const items = [
      { type: 'event', payload: Buffer.from('{"a":\n1}') },
      { type: 'event', payload: Buffer.alloc(0) },
    ];
    const written = writeEnvelope({ eventId: ID, sentAt: undefined }, items);
    expect(readEnvelope(written)).toEqual({ eventId: ID, sentAt: undefined, dsn: undefined, items });
  });
});

test.each<[unknown, string | undefined]>([
  [ID, ID],
  [ID.toUpperCase(), ID],
  ['9ec79c33-ec99-42ab-8353-589fcb2e04dc', ID],
  [`${ID}0`, undefined],
  ['', undefined],
  [7, undefined],
  [null, undefined],
])('the id of an event: %s', (value, id) => {
  expect(readEventId(value)).toBe(id);
});

test.each([
  ['{}', true],
  [' \r\n{"a":1}\t\n', true],
  ['', false],
  ['   ', false],
  ['{', false],
  ['[1]', false],
  ['null', false],
])('an object, by its ends: %j', (text, is) => {
  expect(looksLikeObject(Buffer.from(text))).toBe(is);
});
