/** How reports are packed. What is unpacked is cut off where it exceeds what the caller takes: few bytes can stand for many. */
import zlib from 'node:zlib';
import { firstLines } from './first-lines.ts';

/** `deflate` is with a zlib header or without one: clients send both under this name. */
export type Packing = 'gzip' | 'deflate' | 'br' | 'identity';

/** It says more than the caller takes, or it is not packed as it says. */
export class UnpackFailure extends Error {
  readonly reason: 'too_large' | 'broken';
  constructor(reason: 'too_large' | 'broken', cause?: unknown) {
    super(`a report that is ${reason}`, { cause });
    this.reason = reason;
  }
}

const isGzip = (body: Buffer): boolean => body[0] === 0x1f && body[1] === 0x8b;
/** RFC 1950, section 2.2. */
const hasZlibHeader = (body: Buffer): boolean =>
  body.length > 1 && ((body[0] ?? 0) & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0;

/**
 * How a body is packed, by its `Content-Encoding` and its first bytes: proxies unpack and forget to say so, and some
 * clients pack without saying so. Undefined for what nobody here can unpack.
 */
export function packingOf(encoding: string | undefined, body: Buffer): Packing | undefined {
  switch (encoding?.trim().toLowerCase() ?? '') {
    case 'br':
      return 'br';
    case 'deflate':
      return body[0] === 0x7b ? 'identity' : 'deflate';
    case '':
    case 'identity':
    case 'gzip':
    case 'x-gzip':
      return isGzip(body) ? 'gzip' : 'identity';
    default:
      return undefined;
  }
}

/** Most reports fit into one piece, and the next one is as large. */
const PIECE_BYTES = 65_536;

const unpackers = {
  gzip: zlib.gunzipSync,
  deflate: zlib.inflateSync,
  raw: zlib.inflateRawSync,
  br: zlib.brotliDecompressSync,
};

const unpackerOf = (packing: Exclude<Packing, 'identity'>, body: Buffer): keyof typeof unpackers =>
  packing === 'deflate' && !hasZlibHeader(body) ? 'raw' : packing;

/** What the body says, of `most` bytes at most; throws an UnpackFailure. It takes its time on the calling thread. */
export function unpack(packing: Packing, body: Buffer, most: number): Buffer {
  if (packing === 'identity') {
    if (body.length > most) throw new UnpackFailure('too_large');
    return body;
  }
  try {
    return unpackers[unpackerOf(packing, body)](body, { chunkSize: PIECE_BYTES, maxOutputLength: most });
  } catch (error) {
    const isTooLarge =
      error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    throw new UnpackFailure(isTooLarge ? 'too_large' : 'broken', error);
  }
}

/** How large a body says that it is unpacked, and its first two lines; undefined unless gzip has packed it. */
export function peek(body: Buffer): { size: number; beginning: Buffer } | undefined {
  if (!isGzip(body) || body.length < 18) return undefined;
  const beginning = firstLines(body, 2);
  // RFC 1952, section 2.3.1: the last four bytes.
  return beginning && { size: body.readUInt32LE(body.length - 4), beginning };
}

/** Packs as fast as can be, as `deflate`: it is read once, within seconds. The bytes are nobody else's. */
export const pack = (body: Buffer): Uint8Array<ArrayBuffer> =>
  new Uint8Array(zlib.deflateSync(body, { level: 1 }));
