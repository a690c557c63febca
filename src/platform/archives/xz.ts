/**
 * Unpacks xz in bounded memory: what comes out is its own dictionary, however large a one the archive asks for. It reads what
 * `xz` writes by default, one stream of LZMA2 without other filters. Its checksums are not compared: who unpacks knows what has
 * to come out. It takes as long as it takes: programs ask the thread for it. (The .xz file format 1.2; LZMA Specification.)
 */
import { ArchiveError } from './zip-file.ts';

const broken = (): ArchiveError => new ArchiveError('not packed by xz');

const MAGIC = Buffer.from('fd377a585a00', 'hex');
const HEADER = 12;
const LZMA2 = 0x21;
/** Bytes of the check behind a block, by its kind. */
const checkSizes = [0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64];

const BITS = 11;
const HALF = 1 << (BITS - 1);
const STATES = 12;
const END_OF_LITERALS = 7;
const probabilities = (count: number): Uint16Array => new Uint16Array(count).fill(HALF);

/** Decodes the bits of one chunk; what is behind its end reads as zeros, and `isOver` tells. */
class RangeDecoder {
  private range = 0xffffffff;
  private code: number;
  private readonly bytes: Buffer;
  private at: number;
  private readonly end: number;

  constructor(bytes: Buffer, at: number, end: number) {
    if (end - at < 5 || bytes[at] !== 0) throw broken();
    this.bytes = bytes;
    this.code = bytes.readUInt32BE(at + 1);
    this.at = at + 5;
    this.end = end;
  }

  get isOver(): boolean {
    return this.at > this.end;
  }

  private normalize(): void {
    if (this.range >= 0x1000000) return;
    this.range = (this.range << 8) >>> 0;
    const next = this.at < this.end ? (this.bytes[this.at] ?? 0) : 0;
    this.at += 1;
    this.code = ((this.code << 8) | next) >>> 0;
  }

  bit(model: Uint16Array, index: number): 0 | 1 {
    this.normalize();
    const probability = model[index] ?? HALF;
    const bound = (this.range >>> BITS) * probability;
    if (this.code < bound) {
      this.range = bound;
      model[index] = probability + ((2048 - probability) >>> 5);
      return 0;
    }
    this.range -= bound;
    this.code -= bound;
    model[index] = probability - (probability >>> 5);
    return 1;
  }

  direct(count: number): number {
    let value = 0;
    for (let left = count; left > 0; left--) {
      this.normalize();
      this.range >>>= 1;
      const isOne = this.code >= this.range;
      if (isOne) this.code -= this.range;
      value = (value * 2 + (isOne ? 1 : 0)) >>> 0;
    }
    return value;
  }

  tree(model: Uint16Array, offset: number, bits: number): number {
    let node = 1;
    for (let left = bits; left > 0; left--) node = (node << 1) | this.bit(model, offset + node);
    return node - (1 << bits);
  }

  reversedTree(model: Uint16Array, offset: number, bits: number): number {
    let node = 1;
    let value = 0;
    for (let at = 0; at < bits; at++) {
      const bit = this.bit(model, offset + node);
      node = (node << 1) | bit;
      value |= bit << at;
    }
    return value;
  }
}

/** The models of lengths: of those up to 9 and up to 17 for each place, and of the others. */
const lengthModel = () => ({
  choice: probabilities(2),
  low: probabilities(16 << 3),
  middle: probabilities(16 << 3),
  high: probabilities(256),
});

function lengthOf(bits: RangeDecoder, model: ReturnType<typeof lengthModel>, place: number): number {
  if (bits.bit(model.choice, 0) === 0) return 2 + bits.tree(model.low, place << 3, 3);
  if (bits.bit(model.choice, 1) === 0) return 10 + bits.tree(model.middle, place << 3, 3);
  return 18 + bits.tree(model.high, 0, 8);
}

/** The bytes that have come out, which grow up to a bound. */
class Output {
  bytes: Buffer;
  length = 0;
  /** Where the dictionary begins. */
  start = 0;
  private readonly maximum: number;

  constructor(maximum: number) {
    this.maximum = maximum;
    this.bytes = Buffer.alloc(Math.min(maximum, 65_536));
  }

  reserve(count: number): void {
    const needed = this.length + count;
    if (needed > this.maximum) throw new ArchiveError('too large when it is unpacked');
    if (needed <= this.bytes.length) return;
    const larger = Buffer.alloc(Math.min(this.maximum, Math.max(needed, 2 * this.bytes.length)));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }
}

/** Of the literals, for the most that their properties may say. */
const MAX_LITERAL_BITS = 4;

/** The state of LZMA between chunks. */
class Decoder {
  private lc = 0;
  private placeMask = 0;
  private literalMask = 0;
  private state = 0;
  private readonly recent: [number, number, number, number] = [0, 0, 0, 0];
  private readonly literals = probabilities(0x300 << MAX_LITERAL_BITS);
  private readonly isMatch = probabilities(STATES << 4);
  private readonly isRepeated = probabilities(STATES);
  private readonly isRepeatedFirst = probabilities(STATES);
  private readonly isRepeatedSecond = probabilities(STATES);
  private readonly isRepeatedThird = probabilities(STATES);
  private readonly isLongFirst = probabilities(STATES << 4);
  private readonly slots = probabilities(4 << 6);
  private readonly special = probabilities(128);
  private readonly align = probabilities(16);
  private readonly lengths = lengthModel();
  private readonly repeatedLengths = lengthModel();
  private readonly models = [
    ...[this.isMatch, this.isRepeated, this.isRepeatedFirst, this.isRepeatedSecond, this.isRepeatedThird],
    ...[this.isLongFirst, this.slots, this.special, this.align],
    ...Object.values(this.lengths),
    ...Object.values(this.repeatedLengths),
  ];

  /** Forgets what it learnt, in place: each of very many chunks may ask for it. */
  reset(properties: number): void {
    const [lc, lp, pb] = [properties % 9, Math.floor(properties / 9) % 5, Math.floor(properties / 45)];
    if (pb > 4 || lc + lp > MAX_LITERAL_BITS) throw broken();
    this.lc = lc;
    this.literalMask = (1 << lp) - 1;
    this.placeMask = (1 << pb) - 1;
    this.state = 0;
    this.recent.fill(0);
    this.literals.fill(HALF, 0, 0x300 << (lc + lp));
    for (const model of this.models) model.fill(HALF);
  }

  private literal(bits: RangeDecoder, out: Output): void {
    const { bytes, length } = out;
    const previous = length > out.start ? (bytes[length - 1] ?? 0) : 0;
    const context = (((length - out.start) & this.literalMask) << this.lc) + (previous >>> (8 - this.lc));
    const offset = 0x300 * context;
    let symbol = 1;
    if (this.state >= END_OF_LITERALS) {
      let matched = bytes[length - this.recent[0] - 1] ?? 0;
      while (symbol < 0x100) {
        const expected = (matched >>> 7) & 1;
        matched <<= 1;
        const bit = bits.bit(this.literals, offset + ((1 + expected) << 8) + symbol);
        symbol = (symbol << 1) | bit;
        if (bit !== expected) break;
      }
    }
    while (symbol < 0x100) symbol = (symbol << 1) | bits.bit(this.literals, offset + symbol);
    bytes[length] = symbol & 0xff;
    out.length += 1;
    this.state = this.state < 4 ? 0 : this.state < 10 ? this.state - 3 : this.state - 6;
  }

  private distance(bits: RangeDecoder, length: number): number {
    const slot = bits.tree(this.slots, Math.min(length - 2, 3) << 6, 6);
    if (slot < 4) return slot;
    const extra = (slot >>> 1) - 1;
    const base = ((2 | (slot & 1)) << extra) >>> 0;
    if (slot < 14) return base + bits.reversedTree(this.special, base - slot, extra);
    return base + bits.direct(extra - 4) * 16 + bits.reversedTree(this.align, 0, 4);
  }

  /** The length of what is repeated; its distance is the first of the recent ones. */
  private repetition(bits: RangeDecoder, place: number): number {
    const { state, recent } = this;
    const isLiteral = state < END_OF_LITERALS;
    if (bits.bit(this.isRepeated, state) === 0) {
      const length = lengthOf(bits, this.lengths, place);
      recent.copyWithin(1, 0, 3);
      recent[0] = this.distance(bits, length);
      this.state = isLiteral ? 7 : 10;
      return length;
    }
    if (bits.bit(this.isRepeatedFirst, state) === 0) {
      if (bits.bit(this.isLongFirst, (state << 4) + place) === 0) {
        this.state = isLiteral ? 9 : 11;
        return 1;
      }
    } else {
      const which =
        bits.bit(this.isRepeatedSecond, state) === 0 ? 1 : 2 + bits.bit(this.isRepeatedThird, state);
      const chosen = recent[which] ?? 0;
      recent.copyWithin(1, 0, which);
      recent[0] = chosen;
    }
    this.state = isLiteral ? 8 : 11;
    return lengthOf(bits, this.repeatedLengths, place);
  }

  /** So many bytes out of the chunk, which has them exactly. */
  decode(bits: RangeDecoder, out: Output, size: number): void {
    out.reserve(size);
    const end = out.length + size;
    while (out.length < end) {
      const place = (out.length - out.start) & this.placeMask;
      if (bits.bit(this.isMatch, (this.state << 4) + place) === 0) {
        this.literal(bits, out);
        continue;
      }
      const length = this.repetition(bits, place);
      const distance = this.recent[0] + 1;
      if (distance > out.length - out.start || length > end - out.length) throw broken();
      const { bytes } = out;
      for (let left = length; left > 0; left--, out.length++)
        bytes[out.length] = bytes[out.length - distance] ?? 0;
    }
    if (bits.isOver) throw broken();
  }
}

/** Unpacks one block of LZMA2 from a place on; the place behind it. */
function unpackBlock(packed: Buffer, begin: number, out: Output, decoder: Decoder): number {
  let at = begin;
  let isReady = false;
  let properties: number | undefined;
  let isFirst = true;
  const take = (count: number): number => {
    if (at + count > packed.length) throw broken();
    at += count;
    return at - count;
  };
  for (;;) {
    const control = packed[take(1)] ?? 0;
    if (control === 0) return at;
    if (isFirst && control !== 1 && control < 0xe0) throw broken();
    isFirst = false;
    if (control === 1 || control >= 0xe0) out.start = out.length;
    if (control < 0x80) {
      if (control > 2) throw broken();
      const size = packed.readUInt16BE(take(2)) + 1;
      const from = take(size);
      out.reserve(size);
      packed.copy(out.bytes, out.length, from, from + size);
      out.length += size;
      continue;
    }
    const size = ((control & 0x1f) << 16) + packed.readUInt16BE(take(2)) + 1;
    const packedSize = packed.readUInt16BE(take(2)) + 1;
    if (control >= 0xc0) properties = packed[take(1)];
    if (control >= 0xa0) {
      if (properties === undefined) throw broken();
      decoder.reset(properties);
      isReady = true;
    }
    if (!isReady) throw broken();
    const from = take(packedSize);
    decoder.decode(new RangeDecoder(packed, from, at), out, size);
  }
}

/** A number of the format, of at most five bytes here, and the place behind it. */
function numberAt(packed: Buffer, begin: number): [value: number, at: number] {
  let value = 0;
  for (let index = 0; index < 5; index++) {
    const byte = packed[begin + index];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return [value, begin + index + 1];
  }
  throw broken();
}

/** The place behind the header of a block whose only filter is LZMA2. */
function behindHeader(packed: Buffer, begin: number): number {
  const end = begin + ((packed[begin] ?? 0) + 1) * 4;
  const flags = packed[begin + 1] ?? 0xff;
  if (end > packed.length) throw broken();
  if ((flags & 0x3f) !== 0) throw new ArchiveError('packed by xz with other filters than LZMA2');
  let at = begin + 2;
  if (flags & 0x40) [, at] = numberAt(packed, at);
  if (flags & 0x80) [, at] = numberAt(packed, at);
  if (packed[at] !== LZMA2 || packed[at + 1] !== 1) throw broken();
  return end;
}

/** Unpacks what xz packed, at most so many bytes. ArchiveError for what is no xz. */
export function unpackXz(packed: Buffer, maximum: number): Buffer {
  if (packed.length < HEADER || !packed.subarray(0, 6).equals(MAGIC)) throw broken();
  const checkSize = checkSizes[(packed[7] ?? 0) & 0x0f] ?? 0;
  const out = new Output(maximum);
  const decoder = new Decoder();
  let at = HEADER;
  // A zero begins the index, which lists the blocks.
  while (packed[at] !== 0) {
    if (at >= packed.length) throw broken();
    const begin = behindHeader(packed, at);
    const end = unpackBlock(packed, begin, out, decoder);
    at = end + (-(end - begin) & 3) + checkSize;
  }
  return out.bytes.subarray(0, out.length);
}
