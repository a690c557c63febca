/** What tells occurrences of one alert from another alert: a SHA-1 of what was given, or of what stays the same. */
import type { JsonObject } from '../../core/alerts/records.ts';
import type { Json } from '../../platform/db/rows.ts';
import { sha1 } from '../../platform/secret.ts';
import { at, isBlank, isList, isObject, type Path, type Value } from './values.ts';

/** JSON that is the same for equal values, in whatever order their keys came. At most 100 levels deep. */
export function canonicalJson(value: Json): string {
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
  return `{${members.join(',')}}`;
}

/** Lists in lists are one text without anything between, so that other receivers of the same payload agree. */
function flatText(value: Json): string {
  if (typeof value === 'string') return value;
  if (isList(value)) return value.map(flatText).join('');
  return value === null ? '' : canonicalJson(value);
}

/** Of the fingerprint that a payload gives, a text or a list; undefined when it gives none. */
export function givenFingerprint(value: Value): Buffer | undefined {
  if (value === undefined || isBlank(value)) return undefined;
  const text = flatText(value);
  return isBlank(text) ? undefined : sha1(text);
}

/** The value without what is at the path; in a list, null is in its place, so that what follows keeps its own. */
function without(value: Json, path: Path): Json {
  const [key, ...rest] = path;
  const left = (item: Json): Json => (rest.length === 0 ? null : without(item, rest));
  if (isList(value)) return value.map((item, index) => (String(index) === String(key) ? left(item) : item));
  if (!isObject(value)) return value;
  const { [String(key)]: found, ...others } = value;
  return rest.length === 0 ? others : { ...others, [String(key)]: left(found ?? null) };
}

/** Of the payload without what is at those paths; undefined when nothing is said beside them. */
export function generatedFingerprint(payload: JsonObject, except: readonly Path[]): Buffer | undefined {
  const rest = except.reduce<Json>(
    (left, path) => (at(left, path) === undefined ? left : without(left, path)),
    payload,
  );
  return isObject(rest) && Object.values(rest).every(isBlank) ? undefined : sha1(canonicalJson(rest));
}

/** Of a metrics alert: its start as it was written, its whole title, and the query when there is one. */
export const metricsFingerprint = (startsAt: string, title: string, query: string | undefined): Buffer =>
  sha1(`${startsAt}/${title}/${query ?? ''}`);
