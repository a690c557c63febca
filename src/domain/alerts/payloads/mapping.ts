/** Custom mapping: paths in an integration's payloads for the properties of alerts, chosen from a sample. */

import type { Json } from '../../../platform/db/rows.ts';
import { invalid } from '../../../platform/failure.ts';
import type { JsonObject } from '../records.ts';
import { canonicalJson } from './fingerprint.ts';
import { timeOf } from './times.ts';
import { at, cut, isList, isObject, type Path, type Value } from './values.ts';

export const mappableFields = [
  'title',
  'description',
  'start_time',
  'end_time',
  'service',
  'monitoring_tool',
  'hosts',
  'severity',
  'fingerprint',
  'service_environment_name',
] as const;
export type MappableField = (typeof mappableFields)[number];

export const fieldTypes = ['string', 'numeric', 'datetime', 'array'] as const;
export type FieldType = (typeof fieldTypes)[number];

/** A path in a payload, its type, and a label such as `alerts[0].name`. */
export type PayloadField = { path: Path; label: string; type: FieldType };
export type Mapping = { readonly [field in MappableField]?: PayloadField };

/** Properties that may be lists. */
const LISTS: readonly MappableField[] = ['hosts', 'fingerprint'];
const MAX_FIELDS = 1000;
/** Characters: fields below a longer label are left out, or its keys would be repeated for each of them. */
const MAX_LABEL_LENGTH = 1000;
const NOT_IN_SAMPLE = 'is no text, number or list in payload_example: a changed sample needs a new mapping';

const isMappable = (name: string): name is MappableField => mappableFields.some((field) => field === name);

function typeOf(value: Value): FieldType | undefined {
  if (isList(value)) return 'array';
  if (typeof value === 'number') return 'numeric';
  if (typeof value !== 'string') return undefined;
  return timeOf(value) === undefined ? 'string' : 'datetime';
}

const labelOf = (path: Path): string =>
  path.map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at === 0 ? '' : '.'}${key}`)).join('');

const entriesOf = (value: Value): [string | number, Value][] => {
  if (isList(value)) return [...value.entries()];
  return isObject(value) ? Object.entries(value) : [];
};

function* fieldsBelow(value: Value, path: Path): Generator<PayloadField> {
  for (const [key, item] of entriesOf(value)) {
    const place = [...path, key];
    const label = labelOf(place);
    if (label.length > MAX_LABEL_LENGTH) continue;
    const type = typeOf(item);
    if (type !== undefined) yield { path: place, label, type };
    yield* fieldsBelow(item, place);
  }
}

/** The first thousand fields of a sample, in its order. */
export function fieldsOf(sample: JsonObject): PayloadField[] {
  const fields: PayloadField[] = [];
  for (const field of fieldsBelow(sample, [])) {
    if (fields.push(field) === MAX_FIELDS) break;
  }
  return fields;
}

const isPath = (value: Value): value is readonly (string | number)[] =>
  isList(value) &&
  value.length > 0 &&
  value.every((key) => typeof key === 'string' || (Number.isSafeInteger(key) && Number(key) >= 0));

/** The field as stored, or the message of a refusal. */
function chosen(name: MappableField, given: Value, sample: JsonObject | null): PayloadField | string {
  if (!isObject(given) || !isPath(given.path)) return 'needs a path: a list of keys';
  const { path, type: named, label } = given;
  const type = typeOf(at(sample, path));
  if (type === undefined) return `${cut(labelOf(path), 100)} ${NOT_IN_SAMPLE}`;
  if (type === 'array' && !LISTS.includes(name)) return 'cannot be a list';
  if (named != null && named !== type) return `has another type in payload_example: ${type}`;
  return { path, type, label: typeof label === 'string' && label !== '' ? label : labelOf(path) };
}

/** The mapping as stored, with types from the sample; throws a 400 that lists all misfits. */
export function validateMapping(mapping: JsonObject, sample: JsonObject | null): Mapping {
  const fields: { [field in MappableField]?: PayloadField } = {};
  const wrong: [string, string[]][] = [];
  for (const [name, given] of Object.entries(mapping)) {
    const field = isMappable(name) ? chosen(name, given, sample) : 'is not a property of alerts';
    if (typeof field === 'string') wrong.push([name, [field]]);
    else if (isMappable(name)) fields[name] = field;
  }
  if (wrong.length > 0) throw invalid({ payload_attribute_mappings: Object.fromEntries(wrong) });
  return fields;
}

/** Whether the sample changed: then it needs a new mapping, even where the old one would fit. */
export const changesSample = (before: Json, after: Json): boolean =>
  canonicalJson(before) !== canonicalJson(after);
