/** Reads values of payloads leniently: unusable values count as missing. */

import type { Json } from '../../../platform/db/rows.ts';
import type { JsonObject } from '../records.ts';

export type Value = Json | undefined;
/** Keys of objects and indexes of arrays, from the outside in. */
export type Path = readonly (string | number)[];

export const isList = (value: Value): value is readonly Json[] => Array.isArray(value);
export const isObject = (value: Value): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const INDEX = /^(?:0|[1-9]\d{0,6})$/;

/** The value at the path; inherited properties do not count. */
export function at(value: Value, path: Path): Value {
  let found = value;
  for (const key of path) {
    if (isObject(found)) found = Object.hasOwn(found, key) ? found[key] : undefined;
    else if (isList(found)) found = INDEX.test(String(key)) ? found[Number(key)] : undefined;
    else return undefined;
  }
  return found;
}

/** Whether a value is blank: `false` and white space are, zero is not. */
export function isBlank(value: Value): boolean {
  if (typeof value === 'string') return !/\S/.test(value);
  if (isList(value)) return value.length === 0;
  if (isObject(value)) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === false;
}

/** Text that is not blank, or a number as text. */
export function textOf(value: Value): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && !isBlank(value) ? value : undefined;
}

/** A text, or all texts of nested lists; undefined without any. */
export function textsOf(value: Value): string[] | undefined {
  const texts: string[] = [];
  gatherTexts(value, texts);
  return texts.length === 0 ? undefined : texts;
}

/** Into one list: copying at each level would take seconds for a large payload. */
function gatherTexts(value: Value, into: string[]): void {
  const text = textOf(value);
  if (text !== undefined) into.push(text);
  if (isList(value)) for (const item of value) gatherTexts(item, into);
}

/** The first defined result of `read`. */
export function firstOf<T>(values: readonly Value[], read: (value: Value) => T | undefined): T | undefined {
  for (const value of values) {
    const result = read(value);
    if (result !== undefined) return result;
  }
  return undefined;
}

/** Counts code points, as the database does. */
const fits = (text: string, most: number): boolean =>
  text.length <= most || Array.from(text.slice(0, 2 * most + 2)).length <= most;

/** Truncates to `most` characters, the last three of which are dots. */
export function cut(text: string, most: number): string {
  if (fits(text, most)) return text;
  const kept = Array.from(text.slice(0, 2 * most)).slice(0, most - 3);
  return `${kept.join('')}...`;
}

/** The same for optional text. */
export const cutOrNull = (text: string | undefined, most: number): string | null =>
  text === undefined ? null : cut(text, most);

/** The first texts up to a total of `most` characters; the first one is truncated if need be. */
export function cutToTotal(texts: readonly string[], most: number): string[] {
  const kept: string[] = [];
  let left = most;
  for (const text of texts) {
    if (!fits(text, left)) break;
    kept.push(text);
    left -= Array.from(text).length;
  }
  const [first] = texts;
  return kept.length === 0 && first !== undefined ? [cut(first, most)] : kept;
}
