/**
 * Taking over what an application sent, in one pass: secrets out, everything cut to a bound, nothing that a database or a
 * page could stumble over.
 */
import { type Json, type JsonObject, REMOVED } from './event-shape.ts';
import { scrubCards, scrubSource, scrubText, verdictOf } from './scrub.ts';

/** Characters of one text. */
const MAX_TEXT_LENGTH = 16_384;
/** Of a longer one: a secret may begin within what is kept of it and end behind that. */
const MAX_SCANNED_LENGTH = 20_480;
const MAX_KEY_LENGTH = 200;
const MAX_KEYS = 500;
const MAX_ITEMS = 500;
const MAX_DEPTH = 100;
/** What an object or a number takes of what there is, beside its texts. */
const PLACEHOLDER_LENGTH = 8;

/** What stands beside the name of something, where both are members. */
const VALUE_KEYS: ReadonlySet<string> = new Set(['value', 'val', 'content']);
/** Items of a list that may name the one behind them. */
const OPTION = /^[bu]?["']?--?[a-z]/i;
const NAMES_NEXT = /^[bu]?["']?(?:--?[a-z]|(?:proxy-)?authorization["']?$|(?:set-)?cookie["']?$|x-)/i;
/** A body that was read as another format than its own is one key, secrets and all. */
const PLAIN_KEY = /^[a-z_][\w.-]*$/i;

export type Cleaner = {
  /** The text of a scalar, scrubbed and cut; null for anything else, and for nothing. */
  text(value: unknown, longest?: number): string | null;
  /** A line of source code. */
  source(value: unknown): string | null;
  json(value: unknown): Json;
  /** Null where it is none. */
  object(value: unknown): JsonObject | null;
  /** Whether what goes by the name must not be kept. */
  hides(name: string): boolean;
  /** Nothing more can be kept. */
  isFull(): boolean;
};

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Without what texts cannot hold everywhere: U+0000, and halves of characters. */
function mend(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes('\0') ? whole.replaceAll('\0', '') : whole;
}

const cut = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, Math.max(0, longest - 1))}…`;

/** Short texts that a way of scrubbing leaves as they are: the lines and names of a program come with each of its events. */
class Known {
  static readonly #most = 30_000;
  static readonly #longest = 256;
  #latest = new Set<string>();
  #before = new Set<string>();

  has(text: string): boolean {
    if (this.#latest.has(text)) return true;
    const isKnown = this.#before.has(text);
    if (isKnown) this.add(text);
    return isKnown;
  }

  /** As many as are many: then those that were not met since the last time are forgotten. */
  add(text: string): void {
    if (text.length > Known.#longest) return;
    if (this.#latest.size >= Known.#most) {
      this.#before = this.#latest;
      this.#latest = new Set();
    }
    this.#latest.add(text);
  }
}

type Scrubber = { scrub(text: string): string; known: Known };
const texts: Scrubber = { scrub: scrubText, known: new Known() };
const sources: Scrubber = { scrub: scrubSource, known: new Known() };
const cards: Scrubber = { scrub: scrubCards, known: new Known() };

/**
 * A cleaner for one event, of which so many characters are kept at most; what comes after them is left out. Cutting comes
 * last: half a card number is not known for one.
 */
export function createCleaner(keepAddresses: boolean, most: number): Cleaner {
  let left = most;

  const hides = (name: string): boolean => {
    const verdict = verdictOf(name);
    return verdict === 'secret' || (verdict === 'address' && !keepAddresses);
  };

  function keep(value: string, { scrub, known }: Scrubber, longest: number): string {
    const most = Math.min(longest, left);
    if (value.length <= most && known.has(value)) {
      left -= value.length;
      return value;
    }
    // A secret that begins within the bound ends not far behind it; what is cut off here is looked at by nobody.
    const scrubbed = scrub(
      mend(value.length > MAX_SCANNED_LENGTH ? value.slice(0, MAX_SCANNED_LENGTH) : value),
    );
    if (scrubbed === value) known.add(value);
    const kept = mend(cut(scrubbed, most));
    left -= kept.length;
    return kept;
  }

  function text(value: unknown, longest = MAX_TEXT_LENGTH): string | null {
    if (left <= 0) return null;
    if (typeof value === 'string') return value === '' ? null : keep(value, texts, longest);
    return typeof value === 'number' || typeof value === 'boolean'
      ? keep(String(value), cards, longest)
      : null;
  }

  function number(value: number): Json {
    left -= PLACEHOLDER_LENGTH;
    if (Math.abs(value) < 1e12) return value;
    const written = String(value);
    return scrubCards(written) === written ? value : REMOVED;
  }

  /** What goes by a name that hides it; that there was nothing, or a yes or no, may be known. */
  const hidden = (value: unknown): Json =>
    value === null || value === '' || typeof value === 'boolean' ? value : REMOVED;

  /** Headers, cookies and parameters come as pairs too, in lists of headers one after another, and options in commands. */
  function isNamed(values: readonly unknown[], place: number): boolean {
    const name = values[place - 1];
    if (typeof name !== 'string' || name.length > MAX_KEY_LENGTH) return false;
    const names =
      values.length === 2 ? place === 1 : place % 2 === 1 ? NAMES_NEXT.test(name) : OPTION.test(name);
    return names && hides(name);
  }

  function list(values: readonly unknown[], depth: number): Json {
    const kept: Json[] = [];
    for (const each of values) {
      if (kept.length >= MAX_ITEMS || left <= 0) break;
      kept.push(isNamed(values, kept.length) ? hidden(each) : walk(each, depth));
    }
    return kept;
  }

  function members(value: Record<string, unknown>, depth: number): JsonObject {
    const name = value.name ?? value.key ?? value.header;
    const isSecret = typeof name === 'string' && hides(name);
    const kept: Record<string, Json> = {};
    let count = 0;
    for (const key of Object.keys(value)) {
      if (count >= MAX_KEYS || left <= 0) break;
      const short = mend(
        cut(PLAIN_KEY.test(key) ? key : scrubText(key.slice(0, MAX_TEXT_LENGTH)), MAX_KEY_LENGTH),
      );
      if (short === '__proto__') continue;
      count += 1;
      left -= short.length + PLACEHOLDER_LENGTH;
      const isHidden = hides(key) || (isSecret && VALUE_KEYS.has(key));
      kept[short] = isHidden ? hidden(value[key]) : walk(value[key], depth);
    }
    return kept;
  }

  function walk(value: unknown, depth: number): Json {
    if (typeof value === 'string') return left <= 0 ? '' : keep(value, texts, MAX_TEXT_LENGTH);
    if (typeof value === 'number') return number(value);
    if (typeof value === 'boolean') return value;
    if (typeof value !== 'object' || value === null) return null;
    left -= PLACEHOLDER_LENGTH;
    if (depth >= MAX_DEPTH) return '…';
    return Array.isArray(value) ? list(value, depth + 1) : isRecord(value) ? members(value, depth + 1) : null;
  }

  return {
    text,
    source: (value) => (typeof value === 'string' && left > 0 ? keep(value, sources, MAX_TEXT_LENGTH) : null),
    json: (value) => walk(value, 0),
    object: (value) => (isRecord(value) ? members(value, 1) : null),
    hides,
    isFull: () => left <= 0,
  };
}
