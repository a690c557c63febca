/** Makes text and JSON storable: PostgreSQL refuses NUL and lone surrogates, but no alert may be lost. */

import type { Json } from '../../../platform/db/rows.ts';
import type { JsonObject } from '../records.ts';
import { isList, isObject } from './values.ts';

/** Replaces each character that cannot be stored by U+FFFD. */
export const storableText = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();

/** JSON's escapes of such characters, and of a few others, which are then only checked. */
const SUSPECT = /\\u(?:0000|d[89a-f])/;

/** The payload with storable keys and texts; itself when it is storable. At most 100 levels deep. */
export const storable = (payload: JsonObject): JsonObject =>
  SUSPECT.test(JSON.stringify(payload)) ? storableObject(payload) : payload;

const storableObject = (value: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      storableText(key),
      item === undefined ? null : storableJson(item),
    ]),
  );

function storableJson(value: Json): Json {
  if (typeof value === 'string') return storableText(value);
  if (isList(value)) return value.map(storableJson);
  return isObject(value) ? storableObject(value) : value;
}
