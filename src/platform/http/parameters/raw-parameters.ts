/**
 * Parameters as sent: query, form and JSON become the same nested raw values. They get no types here;
 * malformed or dangerous input is refused (spec: General request rules).
 */
import { badRequest } from '../../failure.ts';
import { MAX_JSON_DEPTH } from './json-meter.ts';

/** A file part of a multipart body, in memory. A class, so that no JSON body can imitate one. */
export class UploadedFile {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: Buffer;

  constructor(filename: string, contentType: string, bytes: Buffer) {
    this.filename = filename;
    this.contentType = contentType;
    this.bytes = bytes;
  }
}

export type RawValue = string | number | boolean | null | UploadedFile | RawValue[] | RawObject;

/** Always without a prototype: a parameter named `__proto__` or `constructor` is a name like any other. */
export type RawObject = { [key: string]: RawValue };

export type NestingLimits = { pairs: number; depth: number; index: number };

export const MAX_FORM_PAIRS = 1_000;
const defaultLimits: NestingLimits = { pairs: MAX_FORM_PAIRS, depth: 16, index: 1000 };

export const emptyObject = (): RawObject => Object.create(null);

export const isRawObject = (value: RawValue | undefined): value is RawObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof UploadedFile);

/** Reads a query or form. A name without `=` is null; `+` is a space; a malformed text is a 400. */
export const parseUrlEncoded = (text: string, limits: Partial<NestingLimits> = {}): RawObject => {
  if (text === '') return emptyObject();
  refuseUnstorable(text);
  const pairs: [string, RawValue][] = [];
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    if (equals === -1) pairs.push([decodeComponent(pair), null]);
    else pairs.push([decodeComponent(pair.slice(0, equals)), decodeComponent(pair.slice(equals + 1))]);
  }
  return nestParameters(pairs, limits);
};

/**
 * Turns names with brackets into nested values: `a[]` appends, `a[k]` is a hash, `a[0]` an array in order of
 * index (gaps closed), `a[][k]` an array of hashes in which a repeated key starts the next one. A repeated
 * plain name keeps the last value; a name in two shapes is a 400, and so is too deep nesting.
 */
export const nestParameters = (
  pairs: readonly (readonly [string, RawValue])[],
  limits: Partial<NestingLimits> = {},
): RawObject => {
  const { pairs: maximumPairs, depth, index } = { ...defaultLimits, ...limits };
  if (pairs.length > maximumPairs) throw badRequest(`more than ${maximumPairs} parameters`);
  const root = emptyObject();
  let nested = false;
  for (const [name, value] of pairs) {
    const path = splitName(name);
    if (path.length > depth) throw badRequest(`parameters are nested deeper than ${depth} levels`);
    nested ||= path.length > 1;
    place(root, path, 0, value);
  }
  if (nested) for (const key of Object.keys(root)) root[key] = closeGaps(root[key] ?? null, index);
  return root;
};

/** `a[b][]` → `['a', 'b', '']`; a name with unpaired brackets is a plain name. */
const splitName = (name: string): string[] => {
  const open = name.indexOf('[');
  if (open < 1 || !name.endsWith(']')) return [name];
  const segments = name.slice(open + 1, -1).split('][');
  return segments.some((segment) => /[[\]]/.test(segment)) ? [name] : [name.slice(0, open), ...segments];
};

/** Returns the slot with the value put at the rest of its path; recursion is bounded by the depth limit. */
const place = (slot: RawValue | undefined, path: string[], at: number, value: RawValue): RawValue => {
  const segment = path[at];
  if (segment === undefined) {
    if (Array.isArray(slot) || isRawObject(slot)) throw conflictingShapes(path);
    return value;
  }
  if (segment === '' && at > 0) {
    const list = slot === undefined ? [] : slot;
    if (!Array.isArray(list)) throw conflictingShapes(path);
    const last = list.at(-1);
    const joinsLast = typeof last === 'object' && at + 1 < path.length && !isTaken(last, path, at + 1);
    if (joinsLast) place(last, path, at + 1, value);
    else list.push(place(undefined, path, at + 1, value));
    return list;
  }
  const hash = slot === undefined ? emptyObject() : slot;
  if (!isRawObject(hash)) throw conflictingShapes(path);
  hash[segment] = place(hash[segment], path, at + 1, value);
  return hash;
};

const isTaken = (slot: RawValue | undefined, path: string[], at: number): boolean => {
  const segment = path[at];
  if (slot === undefined) return false;
  if (segment === undefined) return true;
  if (segment === '') return !Array.isArray(slot);
  return isRawObject(slot) ? isTaken(slot[segment], path, at + 1) : true;
};

/** The objects of arrays sent as `a[0]`, which may have been meant as objects. */
const asWritten = new WeakMap<RawValue[], RawObject>();

/** The object of a value; an array of indexed names becomes the object of these names. */
export const objectOf = (value: RawValue | undefined): RawObject | undefined =>
  isRawObject(value) ? value : Array.isArray(value) ? asWritten.get(value) : undefined;

/** A hash whose keys are all indexes becomes an array. JavaScript lists integer keys in ascending order. */
const closeGaps = (value: RawValue, maximumIndex: number): RawValue => {
  if (Array.isArray(value)) return value.map((item) => closeGaps(item, maximumIndex));
  if (!isRawObject(value)) return value;
  const keys = Object.keys(value);
  for (const key of keys) value[key] = closeGaps(value[key] ?? null, maximumIndex);
  if (!keys.every((key) => /^(0|[1-9]\d*)$/.test(key))) return value;
  // No list has such an index.
  if (keys.some((key) => Number(key) > maximumIndex)) return value;
  const list = Object.values(value);
  asWritten.set(list, value);
  return list;
};

const conflictingShapes = (path: string[]) =>
  badRequest(`"${path[0]?.slice(0, 100).toWellFormed()}" is given in conflicting shapes`);

const decodeComponent = (text: string): string => {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    const decoded = decodeURIComponent(spaced);
    refuseUnstorable(decoded);
    return decoded;
  } catch (cause) {
    if (cause instanceof URIError) throw badRequest('malformed percent-encoding');
    throw cause;
  }
};

/** PostgreSQL stores neither NUL nor lone surrogates: the client's fault, not a 500. */
export const refuseUnstorable = (text: string): void => {
  if (text.includes('\0')) throw badRequest('a NUL byte is not allowed');
  if (!text.isWellFormed()) throw badRequest('malformed Unicode');
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Text of a body or a part; bytes that are not UTF-8 are a 400. */
export const decodeUtf8 = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes);
  } catch {
    throw badRequest('malformed UTF-8');
  }
};

/** Reads a JSON body: an object, or nothing. Depth, NUL bytes and numbers past 2^53 are a 400. */
export const parseJsonBody = (text: string): RawObject => adoptParameters(parseJson(text));

/** The value of a JSON text, an empty object for an empty one; adoptParameters() makes parameters of it. */
export const parseJson = (text: string): unknown => {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('malformed JSON');
  }
};

/** Plain objects and arrays as parameters; 400 for other values, and for text that cannot be stored. */
export const adoptParameters = (parsed: unknown): RawObject => {
  const value = adoptJson(parsed, 1);
  if (!isRawObject(value)) throw badRequest('the JSON body is not an object');
  return value;
};

/** Copies JSON.parse's objects without prototypes; refuses text that cannot be stored. */
const adoptJson = (value: unknown, depth: number): RawValue => {
  if (typeof value === 'string') {
    refuseUnstorable(value);
    return value;
  }
  if (typeof value === 'number') {
    // Every integer past the limit is parsed to at least 2^53, so the parsed value suffices.
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) throw badRequest('a number is past 2^53');
    return value;
  }
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null) return null;
  if (depth > MAX_JSON_DEPTH) throw badRequest(`JSON is nested deeper than ${MAX_JSON_DEPTH} levels`);
  if (Array.isArray(value)) return value.map((item) => adoptJson(item, depth + 1));
  const adopted = emptyObject();
  // Entries would be an array for each of up to 50,000 names.
  for (const key in value) {
    refuseUnstorable(key);
    adopted[key] = adoptJson((value as Record<string, unknown>)[key], depth + 1);
  }
  return adopted;
};

/**
 * One set of parameters: the path wins over the body, the body over the query, so that no body renames its
 * target.
 */
export const mergeParameters = (
  query: RawObject,
  body: RawObject,
  path: Readonly<Record<string, string>>,
): RawObject => {
  for (const key in path) refuseUnstorable(path[key] ?? '');
  return Object.assign(emptyObject(), query, body, path);
};
