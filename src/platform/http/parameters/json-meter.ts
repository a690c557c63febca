/** Counts the values of a JSON text while it arrives, without parsing it, to refuse very many early. */
import { badRequest } from '../../failure.ts';

/** Values and names of one body; the public server has the same limit. */
export const MAX_JSON_VALUES = 100_000;
export const MAX_JSON_DEPTH = 100;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN = [0x5b, 0x7b] as const;
const CLOSE = [0x5d, 0x7d] as const;

/** Takes the bytes in order, in pieces of any size; throws the 400 as soon as a bound is exceeded. */
export class JsonMeter {
  /** Names and values so far, without those of the outermost value. */
  values = 0;
  /** Names of the outermost object. */
  #parameters = 0;
  readonly #most: number;
  readonly #mostValues: number;
  #depth = 0;
  #inText = false;
  /** Whether the previous piece ended within an escape. */
  #escaped = false;

  /** `parameters` bounds the names of the outermost object; `values` all values and names. */
  constructor(parameters = Number.POSITIVE_INFINITY, values = MAX_JSON_VALUES) {
    this.#most = parameters;
    this.#mostValues = values;
  }

  push(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; at++) {
      if (this.#inText) {
        at = this.#endOfText(piece, at);
        continue;
      }
      const byte = piece[at];
      if (byte === QUOTE) this.#inText = true;
      else if (byte === COMMA) this.#count();
      else if (byte === COLON) this.#countName();
      else if (byte === OPEN[0] || byte === OPEN[1]) {
        this.#count();
        this.#depth += 1;
        if (this.#depth > MAX_JSON_DEPTH)
          throw badRequest(`JSON is nested deeper than ${MAX_JSON_DEPTH} levels`);
      } else if (byte === CLOSE[0] || byte === CLOSE[1]) this.#depth -= 1;
    }
  }

  #countName(): void {
    this.#count();
    if (this.#depth !== 1) return;
    this.#parameters += 1;
    if (this.#parameters > this.#most) throw badRequest(`more than ${this.#most} parameters`);
  }

  #count(): void {
    this.values += 1;
    if (this.values > this.#mostValues)
      throw badRequest(`the JSON body has more than ${this.#mostValues} names and values`);
  }

  /** The index of the quote that ends the text, or of the piece's last byte. Skips long texts. */
  #endOfText(piece: Uint8Array, from: number): number {
    let at = from;
    if (this.#escaped) {
      this.#escaped = false;
      at += 1;
    }
    while (at < piece.length) {
      const quote = piece.indexOf(QUOTE, at);
      const end = quote < 0 ? piece.length : quote;
      let slashes = 0;
      while (end - slashes > at && piece[end - 1 - slashes] === BACKSLASH) slashes += 1;
      const isEscaped = slashes % 2 === 1;
      if (quote < 0) {
        this.#escaped = isEscaped;
        return piece.length - 1;
      }
      at = quote + 1;
      if (!isEscaped) {
        this.#inText = false;
        return quote;
      }
    }
    return piece.length - 1;
  }
}
