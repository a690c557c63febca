/** Packings of reports. Unpacking stops at the caller's limit, because few bytes can expand to very many. */
import zlib from 'node:zlib';
import { firstLines } from './first-lines.ts';

/** `deflate` is with or without a zlib header: clients send both under this name. */
export type Packing = 'gzip' | 'deflate' | 'br' | 'identity';

/** The body is larger than the limit, or not packed as declared. */
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
 * The packing of a body, by `Content-Encoding` and first bytes: proxies unpack without changing the header,
 * and some clients pack without setting it. Undefined for an unknown packing.
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

/** Most reports fit into one chunk. */
const PIECE_BYTES = 65_536;

const unpackers = {
  gzip: zlib.gunzipSync,
  deflate: zlib.inflateSync,
  raw: zlib.inflateRawSync,
  br: zlib.brotliDecompressSync,
};

const unpackerOf = (packing: Exclude<Packing, 'identity'>, body: Buffer): keyof typeof unpackers =>
  packing === 'deflate' && !hasZlibHeader(body) ? 'raw' : packing;

/** Unpacks at most `most` bytes; throws an UnpackFailure. Synchronous: it blocks the calling thread. */
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

/** The declared unpacked size of a body and its first two lines; undefined unless it is gzip. */
export function peek(body: Buffer): { size: number; beginning: Buffer } | undefined {
  if (!isGzip(body) || body.length < 18) return undefined;
  const beginning = firstLines(body, 2);
  // RFC 1952, section 2.3.1: the last four bytes.
  return beginning && { size: body.readUInt32LE(body.length - 4), beginning };
}

/** Packs at the fastest level, as `deflate`: it is read once, within seconds. Returns a buffer of its own. */
export const pack = (body: Buffer): Uint8Array<ArrayBuffer> =>
  new Uint8Array(zlib.deflateSync(body, { level: 1 }));
