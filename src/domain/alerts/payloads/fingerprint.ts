/** Fingerprints of alerts: a SHA-1 of the given fingerprint, or of the payload's constant parts. */

import type { Json } from '../../../platform/db/rows.ts';
import { sha1 } from '../../../platform/secret.ts';
import type { JsonObject } from '../records.ts';
import { at, isBlank, isList, isObject, type Path, type Value } from './values.ts';

/** JSON with sorted keys, equal for equal values. At most 100 levels deep. */
export function canonicalJson(value: Json): string {
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
  return `{${members.join(',')}}`;
}

/** Nested lists are joined without separators, so that other receivers get the same fingerprint. */
function flatText(value: Json): string {
  if (typeof value === 'string') return value;
  if (isList(value)) return value.map(flatText).join('');
  return value === null ? '' : canonicalJson(value);
}

/** Hash of the payload's own fingerprint, a text or a list; undefined without one. */
export function givenFingerprint(value: Value): Buffer | undefined {
  if (value === undefined || isBlank(value)) return undefined;
  const text = flatText(value);
  return isBlank(text) ? undefined : sha1(text);
}

/** The value without the path; in a list null replaces it, so that indexes stay. */
function without(value: Json, path: Path): Json {
  const [key, ...rest] = path;
  const left = (item: Json): Json => (rest.length === 0 ? null : without(item, rest));
  if (isList(value)) return value.map((item, index) => (String(index) === String(key) ? left(item) : item));
  if (!isObject(value)) return value;
  const { [String(key)]: found, ...others } = value;
  return rest.length === 0 ? others : { ...others, [String(key)]: left(found ?? null) };
}

/** Hash of the payload without these paths; undefined when the rest is blank. */
export function generatedFingerprint(payload: JsonObject, except: readonly Path[]): Buffer | undefined {
  const rest = except.reduce<Json>(
    (left, path) => (at(left, path) === undefined ? left : without(left, path)),
    payload,
  );
  return isObject(rest) && Object.values(rest).every(isBlank) ? undefined : sha1(canonicalJson(rest));
}

/** Fingerprint of a metrics alert: its start as written, its untruncated title, and its query if any. */
export const metricsFingerprint = (startsAt: string, title: string, query: string | undefined): Buffer =>
  sha1(`${startsAt}/${title}/${query ?? ''}`);
