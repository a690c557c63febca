/** Serialises lists and records with long lists by turns, so that no long response holds up other requests. */
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TArray, TObject, TSchema } from 'typebox';
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
 * without an ETag.
 */
export function serializeInTurns(schema: TSchema, value: unknown): string | Promise<string | Readable> {
  if (Array.isArray(value)) return collect((add) => addItems(add, (schema as TArray).items, value));
  const lists = longListsIn(schema, value);
  if (lists.length === 0) return serializerOf(schema)(value);
  const head = serializerOf(withoutLists(schema as TObject, lists))(value);
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

type LongList = { name: string; items: TSchema; list: readonly unknown[] };

function longListsIn(schema: TSchema, value: unknown): LongList[] {
  const { type, properties } = schema as Partial<TObject> & { type?: unknown };
  if (type !== 'object' || !properties || typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, list]) => {
    if (!Array.isArray(list) || list.length <= SHORT_LIST) return [];
    const { type, items } = (properties[name] ?? {}) as Partial<TArray> & { type?: unknown };
    return type === 'array' && items ? [{ name, items, list }] : [];
  });
}

const shortened = new WeakMap<TSchema, Map<string, TSchema>>();

/** The schema without these lists. */
function withoutLists(schema: TObject, lists: readonly LongList[]): TSchema {
  const variants = shortened.get(schema) ?? new Map<string, TSchema>();
  shortened.set(schema, variants);
  const names = new Set(lists.map(({ name }) => name));
  const key = [...names].join();
  const known = variants.get(key);
  if (known) return known;
  const properties = Object.fromEntries(
    Object.entries(schema.properties).filter(([name]) => !names.has(name)),
  );
  const required = (schema.required as readonly string[] | undefined)?.filter((name) => !names.has(name));
  const { $id: _, ...rest } = schema as TObject & { $id?: string };
  const short = { ...rest, properties, ...(required && { required }) } as TSchema;
  variants.set(key, short);
  return short;
}
