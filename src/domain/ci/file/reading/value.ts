/** Values of configuration files, between the text and what it means. Pure. */
import type { Json } from '../plan.ts';

/** `!reference [job, key]` before it is resolved. */
export class Reference {
  readonly path: readonly string[];
  constructor(path: readonly string[]) {
    this.path = path;
  }
}

/** In the order of the file, whatever the keys are. */
export type Hash = Map<string, Value>;

/** Numbers are whole: no keyword takes a decimal, and `1.0` is the text "1.0". */
export type Value = null | boolean | number | string | Value[] | Hash | Reference;

export const isHash = (value: unknown): value is Hash => value instanceof Map;

/** Lists in lists are one list so far down. */
const MAX_NESTING = 10;

/** The items of nested lists in their order, each with its way there; what is no list is an item. */
export function* nestedItems(
  value: Value,
  path: readonly number[] = [],
): Generator<readonly [item: Value, path: readonly number[]]> {
  if (!Array.isArray(value) || path.length > MAX_NESTING) yield [value, path];
  else for (const [index, item] of value.entries()) yield* nestedItems(item, [...path, index]);
}

/** The way to an item of nested lists by its number. */
export function pathOfItem(list: Value | undefined, number: number): readonly number[] {
  let left = number;
  for (const [, path] of nestedItems(list ?? null)) {
    if (left === 0) return path;
    left -= 1;
  }
  return [];
}

/** Hashes are merged, key by key; all else of the second one replaces what the first one has. */
export function deepMerge(base: Hash, over: Hash): Hash {
  const merged: Hash = new Map(base);
  for (const [key, value] of over) {
    const below = base.get(key);
    merged.set(key, isHash(value) && isHash(below) ? deepMerge(below, value) : value);
  }
  return merged;
}

/** Sizes of values that many places share are counted for each place, and computed once. */
const sizes = new WeakMap<object, number>();

/** About the characters that the value takes as text. */
export function sizeOf(value: Value | undefined): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 4;
  const known = sizes.get(value);
  if (known !== undefined) return known;
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += sizeOf(item);
  else if (isHash(value)) for (const [key, item] of value) size += key.length + 2 + sizeOf(item);
  else for (const part of value.path) size += part.length;
  sizes.set(value, size);
  return size;
}

/** For records and for people to read; references are gone by then. */
export function toJson(value: Value | undefined): Json {
  if (value === undefined || value instanceof Reference) return null;
  if (Array.isArray(value)) return value.map(toJson);
  if (!isHash(value)) return value;
  return Object.fromEntries(Array.from(value, ([key, item]) => [key, toJson(item)]));
}

export function fromJson(json: Json): Value {
  if (Array.isArray(json)) return json.map(fromJson);
  if (typeof json === 'number') return Number.isSafeInteger(json) ? json : String(json);
  if (typeof json !== 'object' || json === null) return json;
  return new Map(Object.entries(json).map(([key, item]) => [key, fromJson(item)]));
}
