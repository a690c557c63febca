/**
 * Takes the file out of a JSON text while it arrives: the base64 text at `_attachments.<name>.data`, where the name ends with the
 * ending. All else is passed on as it is, so that only that is held and parsed. Pure.
 */
import { badRequest } from '../../../platform/failure.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Objects around the text. */
const DEPTH = 3;
/** Bytes of a name, each letter of it escaped, that can be one of those looked for. */
const MAX_NAME_BYTES = 4_096;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

const broken = () => badRequest('the data of the attachment is not base64');

/** Decodes base64 that comes in pieces; 400 for anything else. */
class Base64Pieces {
  #rest = '';
  #ended = false;

  push(text: string): Buffer {
    const all = this.#rest + text;
    const whole = all.slice(0, all.length - (all.length % 4));
    this.#rest = all.slice(whole.length);
    if (whole === '') return Buffer.alloc(0);
    if (this.#ended || !BASE64.test(whole)) throw broken();
    this.#ended = whole.endsWith('=');
    return Buffer.from(whole, 'base64');
  }

  end(): void {
    if (this.#rest !== '') throw broken();
  }
}

type Text = 'name' | 'value' | 'data';

export type Scanned = {
  /** All else, with an empty text in the place of the data. */
  json: Buffer;
  /** What the data stands for. */
  data: Buffer;
};

/**
 * Takes the bytes in order, in pieces of any size. What is no JSON is passed on too: who parses the rest refuses it. 400 for data
 * that is not base64, and for a second file.
 */
export class AttachmentScanner {
  readonly #ending: string;
  /** For each open object or list, whether it is an object. */
  readonly #open: boolean[] = [];
  /** For the outermost of them, the last name; undefined where it is none of those looked for. */
  readonly #names: (string | undefined)[] = [];
  #nameComes = false;
  #text: Text | undefined;
  /** The bytes of a name, without quotes, as they came. */
  #name: Buffer[] = [];
  #nameBytes = 0;
  /** The bytes of an escape within a name, a value or data. */
  #escape: number[] | undefined;
  #base64: Base64Pieces | undefined;

  constructor(ending: string) {
    this.#ending = ending;
  }

  push(piece: Buffer): Scanned {
    const json: Buffer[] = [];
    const data: Buffer[] = [];
    let at = 0;
    /** Where begins what is not passed on yet. */
    let from = 0;
    while (at < piece.length) {
      if (this.#text === undefined) {
        at = this.#structure(piece, at);
        if (this.#isData()) {
          json.push(piece.subarray(from, at));
          from = at;
        }
      } else if (this.#isData()) {
        at = this.#data(piece, at, data);
        from = at;
        if (!this.#isData()) from = at - 1;
      } else at = this.#skip(piece, at);
    }
    if (!this.#isData()) json.push(piece.subarray(from));
    return { json: Buffer.concat(json), data: Buffer.concat(data) };
  }

  /** A text that breaks off is no JSON, so that nothing is to be told of it. */
  #isData(): boolean {
    return this.#text === 'data';
  }

  /** Goes on to behind the next quote. */
  #structure(piece: Buffer, start: number): number {
    for (let at = start; at < piece.length; at++) {
      const byte = piece[at];
      if (byte === QUOTE) {
        this.#beginText();
        return at + 1;
      }
      if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        this.#open.push(byte === OPEN_OBJECT);
        if (this.#open.length <= DEPTH) this.#names[this.#open.length - 1] = undefined;
        this.#nameComes = byte === OPEN_OBJECT;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        this.#open.pop();
        this.#nameComes = false;
      } else if (byte === COMMA) this.#nameComes = this.#open.at(-1) === true;
      else if (byte === COLON) this.#nameComes = false;
    }
    return piece.length;
  }

  #beginText(): void {
    const depth = this.#open.length;
    if (this.#nameComes) {
      this.#text = 'name';
      this.#name = [];
      this.#nameBytes = 0;
      return;
    }
    const [outer, name, own] = this.#names;
    const isHere =
      depth === DEPTH &&
      this.#open.every(Boolean) &&
      outer === '_attachments' &&
      name?.endsWith(this.#ending) &&
      own === 'data';
    this.#text = isHere ? 'data' : 'value';
    if (!isHere) return;
    if (this.#base64) throw badRequest('there is more than one attachment');
    this.#base64 = new Base64Pieces();
  }

  /** Goes on to behind the quote that ends a name or a value. */
  #skip(piece: Buffer, start: number): number {
    let at = start;
    // The byte behind a backslash ends nothing; the digits of an escape are like other letters.
    if (this.#escape) {
      this.#escape = undefined;
      at += 1;
    }
    for (; at < piece.length; at++) {
      if (piece[at] === QUOTE) {
        this.#keepName(piece.subarray(start, at));
        this.#endText();
        return at + 1;
      }
      if (piece[at] !== BACKSLASH) continue;
      at += 1;
      if (at === piece.length) this.#escape = [];
    }
    this.#keepName(piece.subarray(start));
    return piece.length;
  }

  #keepName(bytes: Buffer): void {
    if (this.#text !== 'name' || this.#open.length > DEPTH) return;
    this.#nameBytes += bytes.length;
    if (this.#nameBytes <= MAX_NAME_BYTES) this.#name.push(Buffer.from(bytes));
  }

  #endText(): void {
    if (this.#text === 'name' && this.#open.length <= DEPTH)
      this.#names[this.#open.length - 1] =
        this.#nameBytes <= MAX_NAME_BYTES ? textOf(Buffer.concat(this.#name)) : undefined;
    this.#nameComes = false;
    this.#text = undefined;
  }

  /** Decodes up to the end of the piece, or to behind the quote that ends the data. */
  #data(piece: Buffer, start: number, data: Buffer[]): number {
    const base64 = this.#base64;
    if (!base64) throw new Error('data has begun');
    let at = start;
    while (at < piece.length) {
      if (this.#escape) {
        this.#escape.push(piece[at] ?? 0);
        at += 1;
        if (this.#escape.length === (this.#escape[0] === LOWER_U ? 5 : 1)) {
          const text = textOf(Buffer.from([BACKSLASH, ...this.#escape]));
          this.#escape = undefined;
          if (text === undefined) throw broken();
          data.push(base64.push(text));
        }
        continue;
      }
      const quote = piece.indexOf(QUOTE, at);
      const end = quote < 0 ? piece.length : quote;
      const backslash = piece.subarray(at, end).indexOf(BACKSLASH);
      const stop = backslash < 0 ? end : at + backslash;
      if (stop > at) data.push(base64.push(piece.toString('latin1', at, stop)));
      if (backslash >= 0) this.#escape = [];
      else if (quote >= 0) {
        base64.end();
        this.#text = undefined;
        return quote + 1;
      }
      at = stop + (backslash >= 0 ? 1 : 0);
    }
    return at;
  }
}

/** The text of a JSON string without its quotes; undefined where it is none. */
function textOf(bytes: Buffer): string | undefined {
  try {
    return JSON.parse(`"${bytes.toString()}"`);
  } catch {
    return undefined;
  }
}
