/** Detection of packings, and bounds of unpacking. */
import zlib from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { pack, packingOf, unpack } from './packing.ts';

const text = '{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc"}\n{"type":"event"}\n{"message":"x"}\n';
const plain = Buffer.from(text);
const bodies = {
  plain,
  gzip: zlib.gzipSync(plain),
  zlib: zlib.deflateSync(plain),
  raw: zlib.deflateRawSync(plain),
  br: zlib.brotliCompressSync(plain),
};

describe('what a body is packed by', () => {
  test.each<[string | undefined, keyof typeof bodies, string | undefined]>([
    [undefined, 'plain', 'identity'],
    ['', 'plain', 'identity'],
    ['identity', 'plain', 'identity'],
    ['gzip', 'gzip', 'gzip'],
    ['GZIP', 'gzip', 'gzip'],
    ['x-gzip', 'gzip', 'gzip'],
    ['gzip', 'plain', 'identity'],
    [undefined, 'gzip', 'gzip'],
    ['deflate', 'zlib', 'deflate'],
    ['deflate', 'raw', 'deflate'],
    ['deflate', 'plain', 'identity'],
    ['br', 'br', 'br'],
    ['zstd', 'plain', undefined],
    ['gzip, br', 'gzip', undefined],
  ])('%s: %s', (encoding, body, packing) => {
    expect(packingOf(encoding, bodies[body])).toBe(packing);
    if (packing === undefined) return;
    const known = packingOf(encoding, bodies[body]) ?? 'identity';
    expect(unpack(known, bodies[body], 1_000).toString()).toBe(text);
  });
});

const zeros = Buffer.alloc(50_000_000);
const bombs = {
  gzip: zlib.gzipSync(zeros),
  deflate: zlib.deflateSync(zeros),
  br: zlib.brotliCompressSync(zeros, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
  identity: Buffer.alloc(100_001),
};

describe('what says more than is taken', () => {
  test.each(Object.keys(bombs) as (keyof typeof bombs)[])('%s', (packing) => {
    expect(() => unpack(packing, bombs[packing], 100_000)).toThrow('too_large');
  });
});

test.each([
  ['gzip', bodies.gzip.subarray(0, 30)],
  ['gzip', Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3])],
  ['deflate', Buffer.from('no such thing')],
  ['deflate', Buffer.alloc(0)],
  ['br', Buffer.from('no such thing')],
] as const)('what is packed by %s and is broken', (packing, body) => {
  expect(() => unpack(packing, body, 1_000)).toThrow('broken');
});

test('what is packed here is unpacked here', () => {
  expect(unpack('deflate', Buffer.from(pack(plain)), plain.length).toString()).toBe(text);
});
