/**
 * Raw parameters + declared schema → typed values, or one Failure that names every problem at once.
 * The schema is walked once, when the decoder is compiled; a request only runs closures.
 */
import type { Static, TSchema } from 'typebox';
import {
  compileBoolean,
  compileEnum,
  compileFile,
  compileNumber,
  compileString,
  compileTime,
  compileUnknown,
  type Decode,
  type SchemaNode,
} from './decode-scalars.ts';
import { MAX_JSON_VALUES } from './json-meter.ts';
import {
  invalidAt,
  missingAt,
  type Path,
  type Problems,
  parameterFailure,
  parameterName,
  refuse,
  tooLongAt,
  tooShortAt,
} from './problems.ts';
import { isRawObject, objectOf, type RawObject, type RawValue } from './raw-parameters.ts';
import { refuseApart } from './rules.ts';
import { parameterRulesOf } from './schema.ts';

/**
 * Returns a function from raw parameters to the schema's static type; it throws the 400 of the spec's "Error bodies".
 * Unknown parameters are dropped, absent ones stay absent; null for an optional one that is not nullable is absent too.
 * Throws at once for a schema it has no rule for.
 */
export const compileDecoder = <T extends TSchema>(schema: T): ((raw: RawObject) => Static<T>) => {
  const node = schema as SchemaNode; // TypeBox schemas are JSON Schema objects; its types only say `{}`
  if (node.type !== 'object') throw new Error('parameters are declared as one object');
  const decode = compileObject(node, []);
  const { together = [] } = parameterRulesOf(schema);
  return (raw) => {
    const problems: Problems = new Set();
    const value = decode(raw, problems);
    if (problems.size > 0) throw parameterFailure(problems);
    for (const rule of together) refuseApart(rule, value as Record<string, unknown>);
    return value as Static<T>; // what the closures built follows the schema
  };
};

const compile = (node: SchemaNode, path: Path): Decode => {
  const decode = compileValue(node, path);
  if (!isNullable(node)) return decode;
  const blankIsNull = !takesBlank(node);
  return (raw, problems) => (raw === null || (blankIsNull && raw === '') ? null : decode(raw, problems));
};

const compileValue = (node: SchemaNode, path: Path): Decode => {
  const members = enumMembers(node);
  if (members !== undefined) return compileEnum(members, path);
  if (node.anyOf !== undefined) return compileUnion(node.anyOf, path);
  const [type, ...others] = typesOf(node).filter((name) => name !== 'null');
  if (others.length === 0) {
    if (type === 'string' && node.format === 'binary') return compileFile(path);
    if (type === 'string' && (node.format === 'date' || node.format === 'date-time')) {
      return compileTime(node.format, path);
    }
    if (type === 'string') return compileString(node, path);
    if (type === 'integer' || type === 'number') return compileNumber(node, type === 'integer', path);
    if (type === 'boolean') return compileBoolean(path);
    if (type === 'array') return compileList(node, path);
    if (type === 'object') return compileObject(node, path);
    if (Object.keys(node).every((key) => annotations.has(key))) return compileUnknown(path);
  }
  throw new Error(`no decoding rule for parameter ${parameterName(path)}: ${JSON.stringify(node)}`);
};

/** Keywords that leave a schema open to any value. */
const annotations = new Set(['title', 'description', 'default', 'examples', 'deprecated', 'ruled']);

const typesOf = (node: SchemaNode): string[] => (node.type === undefined ? [] : [node.type].flat());

const isNullable = (node: SchemaNode): boolean =>
  typesOf(node).includes('null') ||
  node.enum?.includes(null) === true ||
  node.anyOf?.some(isNullable) === true;

/** Whether '' is a value of its own; elsewhere an empty form field means null where null is allowed. */
const takesBlank = (node: SchemaNode): boolean => {
  const members = enumMembers(node);
  if (members !== undefined) return members.includes('');
  if (node.anyOf !== undefined) return node.anyOf.some(takesBlank);
  return typesOf(node).includes('string') ? node.format === undefined : typesOf(node).length === 0;
};

/** Whether null is a value of its own: for nullable and untyped schemas, and as the empty array. */
const takesNull = (node: SchemaNode): boolean => {
  if (isNullable(node) || node.anyOf?.some(takesNull)) return true;
  const types = typesOf(node);
  return types.includes('array') || (types.length === 0 && !node.anyOf && enumMembers(node) === undefined);
};

const enumMembers = (node: SchemaNode): unknown[] | undefined => {
  if (node.enum !== undefined) return node.enum;
  if (node.const !== undefined) return [node.const];
  const literals = node.anyOf?.map((option) => option.const ?? (option.type === 'null' ? null : undefined));
  return literals?.includes(undefined) ? undefined : literals;
};

/** The first declared alternative that accepts the value. */
const compileUnion = (options: SchemaNode[], path: Path): Decode => {
  const alternatives = options
    .filter((option) => option.type !== 'null')
    .map((option) => compile(option, path));
  const invalid = invalidAt(path);
  return (raw, problems) => {
    for (const decode of alternatives) {
      const trial: Problems = new Set();
      const value = decode(raw, trial);
      if (trial.size === 0) return value;
    }
    return refuse(problems, invalid);
  };
};

/** Null and the empty text are the empty array; one value stands for an array of one. */
const compileList = (node: SchemaNode, path: Path): Decode => {
  const { items = {}, commaSeparated = false, minItems = 0, maxItems = MAX_JSON_VALUES } = node;
  const decode = compile(items, path);
  const keepsBlank = takesBlank(items);
  const invalid = invalidAt(path);
  const tooShort = tooShortAt(path, minItems, 'item');
  const tooLong = tooLongAt(path, maxItems, 'item');
  return (raw, problems) => {
    if (isRawObject(raw)) return refuse(problems, invalid);
    let values = Array.isArray(raw) ? raw : raw === null || raw === '' ? [] : [raw];
    if (commaSeparated) values = values.flatMap(splitAtCommas);
    // Forms send `ids[]=` for an empty list.
    else if (values.length === 1 && values[0] === '' && !keepsBlank) values = [];
    if (values.length < minItems) return refuse(problems, tooShort);
    if (values.length > maxItems) return refuse(problems, tooLong);
    return values.map((value) => decode(value, problems));
  };
};

const splitAtCommas = (value: RawValue): RawValue[] =>
  typeof value !== 'string'
    ? [value]
    : value.split(',', MAX_JSON_VALUES + 1).flatMap((entry) => (entry.trim() === '' ? [] : [entry.trim()]));

const compileObject = (node: SchemaNode, path: Path): Decode => {
  const fields = Object.entries(node.properties ?? {}).map(([key, property]) => {
    const required = node.required?.includes(key) && property.default === undefined;
    return {
      key,
      decode: compile(property, [...path, key]),
      fallback: property.default,
      missing: required ? missingAt([...path, key]) : undefined,
      // Public clients write null for an optional parameter that they leave out.
      nullIsAbsent: !required && !takesNull(property),
    };
  });
  const rest = compileRest(node, path);
  const invalid = invalidAt(path);
  return (given, problems) => {
    // The client's own names may be numbers.
    const raw = rest === undefined ? given : objectOf(given);
    if (!isRawObject(raw)) return refuse(problems, invalid);
    const value: Record<string, unknown> = rest === undefined ? {} : rest(raw, problems);
    for (const { key, decode, fallback, missing, nullIsAbsent } of fields) {
      const field = nullIsAbsent && raw[key] === null ? undefined : raw[key];
      if (field !== undefined) value[key] = decode(field, problems);
      else if (fallback !== undefined)
        value[key] = typeof fallback === 'object' ? structuredClone(fallback) : fallback;
      else if (missing !== undefined) problems.add(missing);
    }
    return value;
  };
};

/** Each of the client's own names may become a condition of a statement, so their number is bounded. */
const MAX_FREE_KEYS = 100;

/** The free keys of a record; problems are reported under the record's name. */
const compileRest = (node: SchemaNode, path: Path) => {
  const [pattern, patterned] = Object.entries(node.patternProperties ?? {})[0] ?? [];
  const free =
    patterned ?? (node.additionalProperties === true ? {} : node.additionalProperties || undefined);
  if (free === undefined) return undefined;
  const accepts = new RegExp(pattern ?? '', 'u');
  const declared = new Set(Object.keys(node.properties ?? {}));
  const decode = compile(free, path);
  const tooLong = tooLongAt(path, MAX_FREE_KEYS, 'item');
  return (raw: RawObject, problems: Problems): Record<string, unknown> => {
    // Names of the client's choice need an object without a prototype.
    const value: Record<string, unknown> = Object.create(null);
    let count = 0;
    for (const key in raw) {
      if (!accepts.test(key) || declared.has(key)) continue;
      count += 1;
      // The remaining ones are not read: there may be tens of thousands.
      if (count > MAX_FREE_KEYS) {
        problems.add(tooLong);
        break;
      }
      value[key] = decode(raw[key] ?? null, problems);
    }
    return value;
  };
};
