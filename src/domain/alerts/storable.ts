/** Text and JSON as PostgreSQL stores them: it refuses NUL characters and halves of surrogate pairs, an alert must not. */
import type { JsonObject } from '../../core/alerts/records.ts';
import type { Json } from '../../platform/db/rows.ts';
import { isList, isObject } from './values.ts';

/** The text with U+FFFD in place of each character that cannot be stored. */
export const storableText = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();

/** What JSON writes for such characters; also for some that are none of them, which are then only looked at. */
const SUSPECT = /\\u(?:0000|d[89a-f])/;

/** The payload with every key and text storable; itself when they are. At most 100 levels deep. */
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
