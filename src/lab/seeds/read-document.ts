/** YAML 1.2, and so JSON, as plain values with the places of their keys: bounded in size, depth and aliases. Pure. */
import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type ParsedNode } from 'yaml';
import { composeInSteps } from '../../platform/documents/yaml.ts';

/** Keys of objects and indexes of lists, one below the other. */
export type Path = readonly (string | number)[];

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** `at` is an offset in the text. */
export type Misreading = { message: string; at: number };

export type ReadDocument = {
  value: Json;
  misread: readonly Misreading[];
  /** The offset of the last part of the path that is there. */
  offsetOf(path: Path): number;
};

/** Characters of a document; and how many its aliases may add to it, which are few where people write them. */
export const MAX_LENGTH = 32 * 1024 * 1024;
const MAX_ALIASED = 1_000_000;
const MAX_DEPTH = 50;

class Unreadable extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

/** Reads one document; what cannot be read at all is in `misread` alone. */
export function readDocument(text: string): ReadDocument {
  const nothing = { value: null, offsetOf: () => 0 };
  if (text.length > MAX_LENGTH)
    return { ...nothing, misread: [{ message: `it is longer than ${MAX_LENGTH / 1024 / 1024} MiB`, at: 0 }] };
  try {
    const [document, second] = documentsOf(text);
    if (second !== undefined)
      return {
        ...nothing,
        misread: [{ message: 'a second document begins here: a seed is one', at: second.range[0] }],
      };
    const errors = document?.errors ?? [];
    if (errors.length > 0)
      return {
        ...nothing,
        misread: errors.map(({ message, pos: [at] }) => ({ message: inWords(message), at })),
      };
    return new Reading().read(document?.contents ?? null);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { ...nothing, misread: [{ message: error.message, at: error.at }] };
  }
}

const inWords = (message: string): string =>
  `${message.slice(0, 1).toLowerCase()}${message.slice(1)}`.split('\n')[0] ?? '';

function documentsOf(text: string): Document.Parsed[] {
  const tooDeep = (at: number) => new Unreadable(`it is nested deeper than ${MAX_DEPTH} levels`, at);
  const documents: Document.Parsed[] = [];
  for (const more of composeInSteps(text, { version: '1.2' }, { depth: MAX_DEPTH, tooDeep })) {
    documents.push(...more);
    if (documents.length > 1) return documents;
  }
  return documents;
}

const offsetOf = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);

class Reading {
  readonly #offsets = new WeakMap<object, Map<string | number, number>>();
  /** What anchors name, with the number of values in it. */
  readonly #anchors = new Map<string, { value: Json; size: number }>();
  readonly #misread: Misreading[] = [];
  #size = 0;
  #aliased = 0;

  read(node: ParsedNode | null): ReadDocument {
    const value = this.#valueOf(node, 0);
    return {
      value,
      misread: this.#misread,
      offsetOf: (path) => {
        let at = offsetOf(node);
        let reached: Json = value;
        for (const part of path) {
          if (typeof reached !== 'object' || reached === null) break;
          const offset = this.#offsets.get(reached)?.get(part);
          if (offset === undefined) break;
          at = offset;
          reached = (reached as { [key: string]: Json })[part] ?? null; // as much of a list
        }
        return at;
      },
    };
  }

  #valueOf(node: ParsedNode | null, depth: number): Json {
    if (node === null) return null;
    // Aliases take a value deeper than the text is.
    if (depth > MAX_DEPTH)
      throw new Unreadable(`it is nested deeper than ${MAX_DEPTH} levels`, offsetOf(node));
    if (isAlias(node)) {
      const named = this.#anchors.get(node.source);
      if (named === undefined)
        throw new Unreadable(`nothing is called &${node.source} before here`, offsetOf(node));
      this.#aliased += named.size;
      if (this.#aliased > MAX_ALIASED)
        throw new Unreadable('its aliases make too much of it', offsetOf(node));
      this.#size += named.size;
      return named.value;
    }
    const before = this.#size;
    this.#size += 1;
    const value = this.#contentOf(node, depth);
    if (node.anchor) this.#anchors.set(node.anchor, { value, size: this.#size - before });
    return value;
  }

  #contentOf(node: Exclude<ParsedNode, { source: string; value?: never }>, depth: number): Json {
    if (isScalar(node)) {
      const { value, source } = node;
      this.#size += source.length;
      if (typeof value === 'number' && !Number.isSafeInteger(value)) return source;
      return typeof value === 'bigint' ? source : (value as Json); // of YAML 1.2 without tags there are no others
    }
    const offsets = new Map<string | number, number>();
    if (isSeq(node)) {
      const items = node.items.map((item, index) => {
        offsets.set(index, offsetOf(item));
        return this.#valueOf(item as ParsedNode, depth + 1);
      });
      this.#offsets.set(items, offsets);
      return items;
    }
    const object: { [key: string]: Json } = Object.create(null); // a key may be __proto__
    this.#offsets.set(object, offsets);
    for (const { key, value } of isMap(node) ? node.items : []) {
      const at = offsetOf(key ?? value);
      const name = isScalar(key) ? key.source : undefined;
      if (name === undefined) {
        this.#misread.push({ message: 'a key is a word, no list or object', at });
        continue;
      }
      if (offsets.has(name)) this.#misread.push({ message: `${quoted(name)} is there twice`, at });
      offsets.set(name, at);
      object[name] = this.#valueOf(value as ParsedNode | null, depth + 1);
    }
    return object;
  }
}

/** A text of the document in a message: on one line, and no longer than helps. */
export const quoted = (text: string): string =>
  JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
