/** The first lines of gzip bodies, compared with zlib's output. */
import { deflateSync, gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstLines } from './first-lines.ts';

const linesOf = (text: Buffer, lines: number): Buffer => {
  let end = 0;
  for (let line = 0; line < lines; line++) end = text.indexOf(0x0a, end) + 1;
  return text.subarray(0, end);
};

const header = '{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc","dsn":"https://key@errors.example.com/1"}\n';
const envelope = `${header}{"type":"event"}\n${JSON.stringify({ message: 'a '.repeat(20_000) })}\n`;

const packings: [string, (text: string) => Buffer][] = [
  ['stored', (text) => gzipSync(text, { level: 0 })],
  ['fast', (text) => gzipSync(text, { level: 1 })],
  ['well', (text) => gzipSync(text, { level: 9 })],
  ['by codes that are known', (text) => gzipSync(text, { strategy: 4 })],
  ['by lengths alone', (text) => gzipSync(text, { strategy: 2 })],
  ['in two parts', (text) => Buffer.concat([gzipSync(text.slice(0, 50)), gzipSync(text.slice(50))])],
];

test.each(packings)('an envelope that is packed %s', (_, pack) => {
  const packed = pack(envelope);
  expect(gunzipSync(packed).toString()).toBe(envelope);
  const read = firstLines(packed, 2);
  expect(read && linesOf(read, 2).toString()).toBe(`${header}{"type":"event"}\n`);
});

test('a name, a comment, more, and their checksum before the first block', () => {
  const packed = gzipSync('one\ntwo\n');
  const flags = 2 | 4 | 8 | 16;
  const more = Buffer.from([3, 0, 1, 2, 3, ...Buffer.from('a name\0a comment\0'), 0, 0]);
  const named = Buffer.concat([
    packed.subarray(0, 3),
    Buffer.from([flags]),
    packed.subarray(4, 10),
    more,
    packed.subarray(10),
  ]);
  expect(firstLines(named, 2)?.toString()).toBe('one\ntwo\n');
});

test.each([
  ['another packing', deflateSync('one\ntwo\n')],
  ['nothing', Buffer.alloc(0)],
  ['its beginning alone', gzipSync('one\ntwo\n').subarray(0, 12)],
  ['a line that is missing', gzipSync('one\n')],
  ['lines beyond the first kilobyte', gzipSync(`${'a'.repeat(2_000)}\n\n`, { level: 0 })],
  ['few bytes that stand for many', gzipSync(Buffer.alloc(1_000_000))],
  ['a block of no kind', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff])],
  [
    'bytes from before the beginning',
    Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, 0x03, 0x03, 0, 0, 0, 0]),
  ],
])('%s', (_, packed) => {
  expect(firstLines(packed, 2)).toBeUndefined();
});

/** The bits of a block, the lowest of each number first. */
function block(...numbers: (readonly [value: number, bits: number])[]): Buffer {
  const bits = numbers.flatMap(([value, count]) =>
    Array.from({ length: count }, (_, bit) => (value >> bit) & 1),
  );
  const bytes = Array.from({ length: Math.ceil(bits.length / 8) }, (_, at) =>
    bits.slice(at * 8, at * 8 + 8).reduce((byte, bit, place) => byte | (bit << place), 0),
  );
  return Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, ...bytes]);
}

test('a distance that there is none of shows nothing of what was read for somebody else', () => {
  expect(firstLines(gzipSync('a secret\nof another\n'), 2)).toBeDefined();
  const zeros = (count: number) =>
    [
      [1, 1],
      [count - 11, 7],
    ] as const;
  const forged = block(
    // The last block, with its own codes: 258 literals and lengths, 31 distances, and the lengths of their
    // codes.
    ...([
      [1, 1],
      [2, 2],
      [1, 5],
      [30, 5],
      [14, 4],
    ] as const),
    ...Array.from({ length: 18 }, (_, place) => [place === 2 || place === 17 ? 1 : 0, 3] as const),
    ...zeros(138),
    ...zeros(118),
    [0, 1],
    [0, 1],
    ...zeros(30),
    [0, 1],
    // A length of three at the thirty-first distance, which is zero bytes back, ten times.
    ...Array.from(
      { length: 10 },
      () =>
        [
          [1, 1],
          [0, 1],
          [0, 14],
        ] as const,
    ).flat(),
  );
  expect(firstLines(forged, 2)).toBeUndefined();
});

test('whatever is packed, however it is packed, it begins as zlib says or is left to it', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 400 }),
    fc
      .array(fc.constantFrom('{"a":', '"b"}', '\n', 'event', 'é'), { maxLength: 300 })
      .map((parts) => parts.join('')),
  );
  let read = 0;
  fc.assert(
    fc.property(
      text,
      text,
      fc.integer({ min: 0, max: 9 }),
      fc.integer({ min: 0, max: 4 }),
      (one, two, level, strategy) => {
        const packed = gzipSync(`${one}\n${two}\n`, { level, strategy });
        const found = firstLines(packed, 2);
        // Any two lines will do: lines within the texts end there too.
        if (packed.length <= 1_024) expect(found).toBeDefined();
        if (!found) return;
        read += 1;
        const whole = gunzipSync(packed);
        expect(whole.subarray(0, found.length).equals(found)).toBe(true);
        expect(found.toString('latin1').split('\n').length).toBeGreaterThan(2);
      },
    ),
    { numRuns: 500 },
  );
  expect(read).toBeGreaterThan(100);
});

test('whatever bytes come, it ends', () => {
  const begun = fc
    .uint8Array({ maxLength: 600 })
    .map((bytes) => Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, ...bytes]));
  const bitten = fc.tuple(fc.nat(200), fc.nat(255)).map(([at, byte]) => {
    const packed = gzipSync(envelope);
    packed[at % packed.length] = byte;
    return packed;
  });
  fc.assert(
    fc.property(fc.oneof(begun, bitten), (packed) => {
      expect((firstLines(packed, 2) ?? []).length).toBeLessThanOrEqual(8_192);
    }),
    { numRuns: 2_000 },
  );
});
