/** Serialises lists and records with long or arriving lists by turns, so that no long response holds up other requests. */
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TArray, TObject, TSchema } from 'typebox';
import { hasArriving, isArriving } from '../arriving.ts';
import { holdForRequest } from '../fair-share.ts';
import { serializerOf } from './serialize.ts';

/** Characters that are serialised before yielding. */
const LONG_TEXT_LENGTH = 524_288;
/** A longer text is neither hashed nor concatenated. */
const VERY_LONG_TEXT_LENGTH = 16 * 1_048_576;
/** Items of a list inside a record that are serialised with it. */
const SHORT_LIST = 20;

/**
 * The text by the schema: of a list item by item, of a record its long lists last. A very long one is a stream of its parts,
 * without an ETag; so is one whose lists arrive, as soon as it is long.
 */
export function serializeInTurns(schema: TSchema, value: unknown): string | Promise<string | Readable> {
  if (Array.isArray(value)) return collect((add) => addItems(add, (schema as TArray).items, value));
  if (hasArriving(value)) return begin(partsOf(schema as TObject, value));
  const lists = longListsIn(schema, value);
  if (lists.length === 0) return serializerOf(schema)(value);
  const names = lists.map(({ name }) => name);
  const head = serializerOf(withoutProperties(schema as TObject, names))(value);
  return collect(async (add) => {
    let before = head === '{}' ? '{' : `${head.slice(0, -1)},`;
    for (const { name, items, list } of lists) {
      await add(`${before}${JSON.stringify(name)}:`);
      await addItems(add, items, list);
      before = ',';
    }
    await add('}');
  });
}

type Add = (part: string) => Promise<void> | undefined;

/** Puts the parts together. Records may share long texts, so the length is known only when they are serialised. */
async function collect(addAll: (add: Add) => Promise<void>): Promise<string | Readable> {
  const parts: string[] = [];
  let length = 0;
  let held = 0;
  let turn = LONG_TEXT_LENGTH;
  const rest = async (): Promise<void> => {
    turn = length + LONG_TEXT_LENGTH;
    await nextTurn();
    if (length <= VERY_LONG_TEXT_LENGTH) return;
    holdForRequest(length - held);
    held = length;
  };
  await addAll((part) => {
    parts.push(part);
    length += part.length;
    return length < turn ? undefined : rest();
  });
  // A single text is counted with the response.
  return length <= VERY_LONG_TEXT_LENGTH ? parts.join('') : Readable.from(parts);
}

async function addItems(add: Add, schema: TSchema, items: readonly unknown[]): Promise<void> {
  const serialize = serializerOf(schema);
  let mark = '[';
  for (const item of items) {
    const rest = add(`${mark}${serialize(item)}`);
    // Most items do not end a turn, and a promise for each would take as long as they do.
    if (rest) await rest;
    mark = ',';
  }
  await add(items.length === 0 ? '[]' : ']');
}

/** Characters that are sent at once of what arrives. */
const PART_LENGTH = 65_536;

/** First what is there, then the lists as they arrive, then what is known at the end. */
async function* partsOf(schema: TObject, value: object): AsyncGenerator<string> {
  const properties: Record<string, TSchema> = schema.properties;
  const entries = Object.entries(value).flatMap(([name, part]) => {
    const own = properties[name];
    return own ? [{ name, own, part }] : [];
  });
  const lists = entries.filter(({ part }) => isArriving(part) || isLongList(part));
  const ends = entries.filter(({ part }) => typeof part === 'function');
  const later = [...lists, ...ends].map(({ name }) => name);
  const head = serializerOf(withoutProperties(schema, later))(value);
  let text = head.slice(0, -1);
  let mark = head === '{}' ? '' : ',';
  for (const { name, own, part } of lists) {
    const serialize = serializerOf((own as TArray).items);
    text += `${mark}${JSON.stringify(name)}:`;
    mark = '[';
    for await (const item of part as AsyncIterable<unknown> | readonly unknown[]) {
      text += `${mark}${serialize(item)}`;
      mark = ',';
      if (text.length < PART_LENGTH) continue;
      yield text;
      text = '';
      await nextTurn();
    }
    text += mark === '[' ? '[]' : ']';
    mark = ',';
  }
  for (const { name, own, part } of ends)
    text += `${mark}${JSON.stringify(name)}:${serializerOf(own)(part())}`;
  yield `${text}}`;
}

/** The whole text where it is one part; else a stream that begins with it, and the first of which waits for no other. */
async function begin(parts: AsyncGenerator<string>): Promise<string | Readable> {
  const { value: first = '' } = await parts.next();
  if (first.length < PART_LENGTH) return first;
  return Readable.from(
    (async function* () {
      yield first;
      yield* parts;
    })(),
  );
}

type LongList = { name: string; items: TSchema; list: readonly unknown[] };

const isLongList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.length > SHORT_LIST;

function longListsIn(schema: TSchema, value: unknown): LongList[] {
  const { type, properties } = schema as Partial<TObject> & { type?: unknown };
  if (type !== 'object' || !properties || typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, list]) => {
    if (!isLongList(list)) return [];
    const { type, items } = (properties[name] ?? {}) as Partial<TArray> & { type?: unknown };
    return type === 'array' && items ? [{ name, items, list }] : [];
  });
}

const shortened = new WeakMap<TSchema, Map<string, TSchema>>();

function withoutProperties(schema: TObject, properties: readonly string[]): TSchema {
  const variants = shortened.get(schema) ?? new Map<string, TSchema>();
  shortened.set(schema, variants);
  const names = new Set(properties);
  const key = [...names].join();
  const known = variants.get(key);
  if (known) return known;
  const left = Object.fromEntries(Object.entries(schema.properties).filter(([name]) => !names.has(name)));
  const required = (schema.required as readonly string[] | undefined)?.filter((name) => !names.has(name));
  const { $id: _, ...rest } = schema as TObject & { $id?: string };
  const short = { ...rest, properties: left, ...(required && { required }) } as TSchema;
  variants.set(key, short);
  return short;
}
