/**
 * Copies an application's values in one pass: secrets are removed, lengths bounded, and characters dropped
 * that a database or a page cannot take.
 */

import { scrubCards, scrubSource, scrubText, verdictOf } from './scrub.ts';
import { type Json, type JsonObject, REMOVED } from './shape.ts';

/** Characters of one text. */
const MAX_TEXT_LENGTH = 16_384;
/** Characters of a text that are scanned: a secret may begin in the kept part and end behind it. */
const MAX_SCANNED_LENGTH = 20_480;
const MAX_KEY_LENGTH = 200;
const MAX_KEYS = 500;
const MAX_ITEMS = 500;
const MAX_DEPTH = 100;
/** Characters that an object or a number counts for, beside its texts. */
const SCALAR_LENGTH = 8;

/** Members that have the value where `name`, `key` or `header` names it. */
const VALUE_KEYS: ReadonlySet<string> = new Set(['value', 'val', 'content']);
/** An item of a list that may name the next one. */
const OPTION = /^[bu]?["']?--?[a-z]/i;
const NAMES_NEXT = /^[bu]?["']?(?:--?[a-z]|(?:proxy-)?authorization["']?$|(?:set-)?cookie["']?$|x-)/i;
/** A body that was parsed as the wrong format becomes one key, secrets and all. */
const PLAIN_KEY = /^[a-z_][\w.-]*$/i;

export type Cleaner = {
  /** A scalar as text, scrubbed and cut; null for an empty text and any other value. */
  text(value: unknown, longest?: number): string | null;
  /** A line of source code. */
  source(value: unknown): string | null;
  json(value: unknown): Json;
  /** Null for a value that is not an object. */
  object(value: unknown): JsonObject | null;
  /** Whether the value of this name must not be kept. */
  hides(name: string): boolean;
  /** Whether the budget of characters is used up. */
  isFull(): boolean;
};

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Drops U+0000 and replaces lone surrogates, which databases refuse. */
function mend(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes('\0') ? whole.replaceAll('\0', '') : whole;
}

const cut = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, Math.max(0, longest - 1))}…`;

/** Short texts that scrubbing leaves unchanged: a program's lines and names come with each of its events. */
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

  /** A full set becomes the older one; texts that were not met since are dropped. */
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
 * A cleaner for one event, which keeps at most `most` characters and drops the rest. Texts are cut last,
 * because half a card number is not recognised.
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
    // A secret that begins within the bound ends soon after it; the rest of the text is not kept.
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
    left -= SCALAR_LENGTH;
    if (Math.abs(value) < 1e12) return value;
    const written = String(value);
    return scrubCards(written) === written ? value : REMOVED;
  }

  /** Removes the value of a secret name; null, an empty text and booleans give nothing away. */
  const hidden = (value: unknown): Json =>
    value === null || value === '' || typeof value === 'boolean' ? value : REMOVED;

  /** Headers, cookies and parameters also come as pairs, header lists as flat lists, options as commands. */
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
      left -= short.length + SCALAR_LENGTH;
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
    left -= SCALAR_LENGTH;
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
