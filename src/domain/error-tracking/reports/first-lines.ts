/**
 * Reads the first lines of a gzip body (RFC 1951 and 1952) in plain JavaScript. The engine's unpacker creates
 * a stream for each body, which stays in memory until a full collection. Pure.
 */

/** Bytes that are read at most, and bytes that are unpacked from them. */
const MAX_READ_BYTES = 1_024;
const MAX_INFLATED_BYTES = 8_192;
const NEWLINE = 0x0a;

/** The input ends before the lines do, or is not gzip. */
class Stop extends Error {}

/** A prefix code: how many symbols have each length in bits, and the symbols in the order of their codes. */
class PrefixCode {
  readonly #counts = new Uint16Array(16);
  readonly #starts = new Uint16Array(16);
  readonly #symbols = new Uint16Array(288);

  /** The code whose symbols have these lengths (RFC 1951, section 3.2.2). */
  set(lengths: Uint8Array): this {
    this.#counts.fill(0);
    for (const length of lengths) this.#counts[length] = (this.#counts[length] ?? 0) + 1;
    this.#counts[0] = 0;
    for (let length = 1; length < 16; length++)
      this.#starts[length] = (this.#starts[length - 1] ?? 0) + (this.#counts[length - 1] ?? 0);
    lengths.forEach((length, symbol) => {
      if (length === 0) return;
      const place = this.#starts[length] ?? 0;
      this.#symbols[place] = symbol;
      this.#starts[length] = place + 1;
    });
    return this;
  }

  read(input: Input): number {
    let code = 0;
    let first = 0;
    let place = 0;
    for (let length = 1; length < 16; length++) {
      const count = this.#counts[length] ?? 0;
      code |= input.bits(1);
      if (code - first < count) return this.#symbols[place + code - first] ?? 0;
      place += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    throw new Stop();
  }
}

class Input {
  readonly #bytes: Uint8Array;
  #at = 0;
  #held = 0;
  #bits = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes.subarray(0, MAX_READ_BYTES);
  }

  byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new Stop();
    return byte;
  }

  /** The lowest bit first; 16 bits at most. */
  bits(count: number): number {
    while (this.#bits < count) {
      this.#held |= this.byte() << this.#bits;
      this.#bits += 8;
    }
    const value = this.#held & ((1 << count) - 1);
    this.#held >>>= count;
    this.#bits -= count;
    return value;
  }

  /** Drops the remaining bits of the current byte. */
  align(): void {
    this.#held = 0;
    this.#bits = 0;
  }

  skip(count: number): void {
    this.#at += count;
  }
}

/** RFC 1951, section 3.2.5. */
const LENGTHS = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195,
  227, 258,
];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCES = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
  6145, 8193, 12289, 16385, 24577,
];
const distanceBits = (symbol: number): number => Math.max(0, (symbol >> 1) - 1);
/** Section 3.2.7. */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** Section 3.2.6. */
const fixedLiterals = new PrefixCode().set(
  Uint8Array.from({ length: 288 }, (_, symbol) =>
    symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8,
  ),
);
const fixedDistances = new PrefixCode().set(new Uint8Array(30).fill(5));
// Shared by all calls: a call is synchronous, so one at a time uses them.
const lengthsCode = new PrefixCode();
const literalsCode = new PrefixCode();
const distancesCode = new PrefixCode();
const lengths = new Uint8Array(320);
const made = Buffer.alloc(MAX_INFLATED_BYTES);

class Output {
  readonly #wanted: number;
  #length = 0;
  #lines = 0;

  constructor(lines: number) {
    this.#wanted = lines;
  }

  add(byte: number): void {
    if (this.#length === MAX_INFLATED_BYTES) throw new Stop();
    made[this.#length++] = byte;
    if (byte === NEWLINE) this.#lines += 1;
  }

  copy(distance: number, length: number): void {
    if (distance > this.#length) throw new Stop();
    for (let copied = 0; copied < length; copied++) this.add(made[this.#length - distance] ?? 0);
  }

  get isWhole(): boolean {
    return this.#lines >= this.#wanted;
  }

  get text(): Buffer {
    return Buffer.from(made.subarray(0, this.#length));
  }
}

/** RFC 1952, section 2.3: the header. */
function readHeader(input: Input): void {
  if (input.byte() !== 0x1f || input.byte() !== 0x8b || input.byte() !== 8) throw new Stop();
  const flags = input.byte();
  input.skip(6);
  if (flags & 4) input.skip(input.byte() | (input.byte() << 8));
  if (flags & 8) while (input.byte() !== 0);
  if (flags & 16) while (input.byte() !== 0);
  if (flags & 2) input.skip(2);
}

function readStored(input: Input, output: Output): void {
  input.align();
  const length = input.byte() | (input.byte() << 8);
  input.skip(2);
  for (let read = 0; read < length && !output.isWhole; read++) output.add(input.byte());
}

/** RFC 1951, section 3.2.7: the two codes of a block with dynamic codes. */
function readCodes(input: Input): void {
  const literals = input.bits(5) + 257;
  const distances = input.bits(5) + 1;
  const given = input.bits(4) + 4;
  lengths.fill(0);
  for (const symbol of ORDER.slice(0, given)) lengths[symbol] = input.bits(3);
  lengthsCode.set(lengths.subarray(0, 19));
  for (let place = 0; place < literals + distances; ) {
    const symbol = lengthsCode.read(input);
    const repeated = symbol === 16 ? (lengths[place - 1] ?? 0) : symbol < 16 ? symbol : 0;
    const times =
      symbol < 16
        ? 1
        : symbol === 16
          ? 3 + input.bits(2)
          : symbol === 17
            ? 3 + input.bits(3)
            : 11 + input.bits(7);
    lengths.fill(repeated, place, place + times);
    place += times;
  }
  literalsCode.set(lengths.subarray(0, literals));
  distancesCode.set(lengths.subarray(literals, literals + distances));
}

function readPacked(input: Input, output: Output, literals: PrefixCode, distances: PrefixCode): void {
  while (!output.isWhole) {
    const symbol = literals.read(input);
    if (symbol === 256) return;
    if (symbol < 256) {
      output.add(symbol);
      continue;
    }
    const shortest = LENGTHS[symbol - 257];
    const length = input.bits(LENGTH_BITS[symbol - 257] ?? 0);
    const far = distances.read(input);
    const nearest = DISTANCES[far];
    // Codes can have invalid symbols; a distance of zero would read bytes of an earlier call.
    if (shortest === undefined || nearest === undefined) throw new Stop();
    output.copy(nearest + input.bits(distanceBits(far)), shortest + length);
  }
}

function readMember(input: Input, output: Output): void {
  readHeader(input);
  for (let isLast = false; !isLast && !output.isWhole; ) {
    isLast = input.bits(1) === 1;
    const kind = input.bits(2);
    if (kind === 0) readStored(input, output);
    else if (kind === 1) readPacked(input, output, fixedLiterals, fixedDistances);
    else if (kind === 2) {
      readCodes(input);
      readPacked(input, output, literalsCode, distancesCode);
    } else throw new Stop();
  }
  input.align();
  // The checksum and the size, which the digest checks.
  input.skip(8);
}

/**
 * The first `lines` lines of a gzip body, perhaps with some bytes after them; undefined where they are not in
 * its first kilobyte, or the body is not gzip.
 */
export function firstLines(packed: Uint8Array, lines: number): Buffer | undefined {
  const input = new Input(packed);
  const output = new Output(lines);
  try {
    while (!output.isWhole) readMember(input, output);
  } catch (error) {
    if (error instanceof Stop) return undefined;
    throw error;
  }
  return output.text;
}
