/** The lines of git's protocol: a length of four hexadecimal digits, and as much behind it. Pure (gitprotocol-common). */

export const FLUSH = Buffer.from('0000');

/** The most that one line carries. */
const MAX_PAYLOAD_BYTES = 65_516;

/** One line of the payload. */
export function pktLine(payload: string | Buffer): Buffer {
  const bytes = Buffer.from(payload);
  if (bytes.length > MAX_PAYLOAD_BYTES) throw new Error(`${bytes.length} bytes do not fit into a line`);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
}

/** Bytes that are no line where one must be. */
export class BadPktLine extends Error {}

/** A line with the bytes that it came in; `payload` is undefined for a flush. */
export type PktLine = { payload: Buffer | undefined; bytes: Buffer };

/**
 * The line at the beginning of the bytes; undefined when it is not whole yet. Throws BadPktLine for other
 * bytes, and for the delimiters of later versions of the protocol, which no push has.
 */
function takeLine(bytes: Buffer): PktLine | undefined {
  if (bytes.length < 4) return undefined;
  const digits = bytes.toString('latin1', 0, 4);
  const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
  if (length === 0) return { payload: undefined, bytes: bytes.subarray(0, 4) };
  if (!(length >= 4)) throw new BadPktLine(`no line begins with ${JSON.stringify(digits)}`);
  if (bytes.length < length) return undefined;
  return { payload: bytes.subarray(4, length), bytes: bytes.subarray(0, length) };
}

/** Takes lines out of bytes that come in pieces. */
export class PktLineReader {
  #rest: Buffer = Buffer.alloc(0);

  /** The lines that are whole now. */
  *push(chunk: Buffer): Generator<PktLine> {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (let line = takeLine(this.#rest); line; line = takeLine(this.#rest)) {
      this.#rest = this.#rest.subarray(line.bytes.length);
      yield line;
    }
  }
}

/** Bands of a side-band: for the program, for people, and for the error that ends it all. */
export const DATA = 1;
export const PROGRESS = 2;
export const FATAL = 3;

/** The content in as many lines of a band as it takes. */
export function inBand(band: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const lines: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += MAX_PAYLOAD_BYTES - 1)
    lines.push(pktLine(Buffer.concat([Buffer.from([band]), bytes.subarray(at, at + MAX_PAYLOAD_BYTES - 1)])));
  return Buffer.concat(lines);
}
