/** Compressed responses (RFC 9110, section 12.5.3): which may be compressed, and in which coding. */
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { HttpResponse } from '../messages.ts';

type Request = { method: string; headers: Record<string, string | string[] | undefined> };

/** Bytes; a smaller response fits into one packet. */
const MIN_COMPRESSED_BYTES = 1024;
/** Of the four threads of Node's pool, which also reads files. */
const MAX_AT_ONCE = 2;

const brotli = promisify<Buffer, zlib.BrotliOptions, Buffer>(zlib.brotliCompress);
const gzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gzip);
const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = zlib.constants;

/** Levels that take half the time of the usual ones, for nearly the same size. */
const compressors = {
  br: (body: Buffer) =>
    brotli(body, { params: { [BROTLI_PARAM_QUALITY]: 3, [BROTLI_PARAM_SIZE_HINT]: body.length } }),
  gzip: (body: Buffer) => gzip(body, { level: 4 }),
};

export type Coding = keyof typeof compressors;

/**
 * Whether the length of the body may depend on how well it compresses. An attacker who makes a browser repeat
 * a request with guesses learns from lengths the text beside the guesses (BREACH). So nothing is compressed
 * for a credential that browsers add by themselves, a cookie or basic credentials, unless the body is the
 * same for all callers; and no response to a write, which may show fresh secrets beside the sent text. Bytes
 * and streams (files, archives, git) stay as they are.
 */
export function isCompressible({ method, headers }: Request, response: HttpResponse): boolean {
  const { body } = response;
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (typeof body !== 'string' && !response.sameForAll) return false;
  const addedByBrowser =
    headers.cookie !== undefined ||
    (headers.authorization !== undefined && !/^bearer /i.test(headers.authorization.toString()));
  if (addedByBrowser && !response.sameForAll) return false;
  return (
    (typeof body === 'string' || Buffer.isBuffer(body)) &&
    (body.length >= MIN_COMPRESSED_BYTES || Buffer.byteLength(body) >= MIN_COMPRESSED_BYTES)
  );
}

/** The best coding that client and server have; undefined for none. */
export function preferredCoding(header: string | undefined): Coding | undefined {
  const weights = new Map<string, number>();
  for (const part of header?.toLowerCase().split(',') ?? []) {
    const [coding = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((text) => text.startsWith('q='))?.slice(2) ?? '1';
    weights.set(coding, Number(weight) || 0);
  }
  const br = weights.get('br') ?? 0;
  // For `*`, the coding that all clients know.
  const gzipped = weights.get('gzip') ?? weights.get('*') ?? 0;
  const best = Math.max(br, gzipped);
  if (best === 0 || best < (weights.get('identity') ?? 0)) return undefined;
  return br === best ? 'br' : 'gzip';
}

let running = 0;

/** The compressed body; undefined while all slots are in use, when sending it uncompressed is faster. */
export async function compress(body: string | Buffer, coding: Coding): Promise<Buffer | undefined> {
  if (running >= MAX_AT_ONCE) return undefined;
  running += 1;
  try {
    return await compressors[coding](typeof body === 'string' ? Buffer.from(body) : body);
  } finally {
    running -= 1;
  }
}
