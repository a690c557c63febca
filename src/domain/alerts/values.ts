/** Values of payloads that people and tools wrote: whatever is there is read as what it may mean, or as nothing. */
import type { JsonObject } from '../../core/alerts/records.ts';
import type { Json } from '../../platform/db/rows.ts';

export type Value = Json | undefined;
/** Keys of objects and indexes of arrays, from the outside in. */
export type Path = readonly (string | number)[];

export const isList = (value: Value): value is readonly Json[] => Array.isArray(value);
export const isObject = (value: Value): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const INDEX = /^(?:0|[1-9]\d{0,6})$/;

/** What is at the path: only what the payload itself has, nothing that every object inherits. */
export function at(value: Value, path: Path): Value {
  let found = value;
  for (const key of path) {
    if (isObject(found)) found = Object.hasOwn(found, key) ? found[key] : undefined;
    else if (isList(found)) found = INDEX.test(String(key)) ? found[Number(key)] : undefined;
    else return undefined;
  }
  return found;
}

/** Whether there is nothing in it: zero is something, `false` and white space are not. */
export function isBlank(value: Value): boolean {
  if (typeof value === 'string') return !/\S/.test(value);
  if (isList(value)) return value.length === 0;
  if (isObject(value)) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === false;
}

/** Text that says something, or a number as text. */
export function textOf(value: Value): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && !isBlank(value) ? value : undefined;
}

/** One text, or all in lists in lists; undefined when there are none. */
export function textsOf(value: Value): string[] | undefined {
  const texts: string[] = [];
  gatherTexts(value, texts);
  return texts.length === 0 ? undefined : texts;
}

/** Into one list: to copy those of each level again would take seconds of a large payload. */
function gatherTexts(value: Value, into: string[]): void {
  const text = textOf(value);
  if (text !== undefined) into.push(text);
  if (isList(value)) for (const item of value) gatherTexts(item, into);
}

/** What `read` makes of the first value that it makes anything of. */
export function firstOf<T>(values: readonly Value[], read: (value: Value) => T | undefined): T | undefined {
  for (const value of values) {
    const result = read(value);
    if (result !== undefined) return result;
  }
  return undefined;
}

/** Characters are counted as readers and the database do: one outside the basic plane is one. */
const fits = (text: string, most: number): boolean =>
  text.length <= most || Array.from(text.slice(0, 2 * most + 2)).length <= most;

/** At most so many characters; of longer text, the last three are dots. */
export function cut(text: string, most: number): string {
  if (fits(text, most)) return text;
  const kept = Array.from(text.slice(0, 2 * most)).slice(0, most - 3);
  return `${kept.join('')}...`;
}

/** The same of text that may not be there. */
export const cutOrNull = (text: string | undefined, most: number): string | null =>
  text === undefined ? null : cut(text, most);

/** The first of the texts that have at most so many characters together; the very first is there at least in part. */
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
