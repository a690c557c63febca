/** Values inside the document's schemas, and just outside of them, as a client would send them. */
import fc from 'fast-check';
import { UploadedFile } from '../../src/platform/http/parameters/raw-parameters.ts';
import { formatValues } from './format-values.ts';

export type Schema = {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  patternProperties?: Record<string, Schema>;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
};
export type Parameter = {
  $ref?: string;
  name: string;
  in: string;
  style?: string;
  explode?: boolean;
  required?: boolean;
  schema: Schema;
};
export type Operation = { parameters?: Parameter[]; requestBody?: { content: Record<string, Media> } };
export type Media = { schema: Schema; encoding?: Record<string, { contentType: string }> };
export type Document = { paths: Record<string, Record<string, Operation>> };

export const follow = <T extends { $ref?: string }>(root: Document, node: T): T => {
  if (node.$ref === undefined) return node;
  const at = node.$ref
    .slice(2)
    .split('/')
    .reduce<unknown>((place, key) => (place as Record<string, unknown>)[key], root);
  return follow(root, at as T);
};

const letters = fc.constantFrom('a', 'Z', '0', ' ', '-', '.', '%', "'", 'é', '漢', '😀');
const upload = new UploadedFile('a.png', 'image/png', Buffer.from('png'));

/** Characters: longer texts are not limited by the schema alone. */
const LONG_TEXT = 50_000;

/** Values that a schema allows. */
export function inside(root: Document, given: Schema): fc.Arbitrary<unknown> {
  const schema = follow(root, given);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives && schema.properties === undefined)
    return fc.oneof(...alternatives.map((each) => inside(root, each)));
  const types = [schema.type].flat();
  return fc.oneof(...types.map((type) => insideOf(root, schema, type)));
}

function insideOf(root: Document, schema: Schema, type: string | undefined): fc.Arbitrary<unknown> {
  if (type === 'null') return fc.constant(null);
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer' || type === 'number') {
    const { minimum: min = Number.MIN_SAFE_INTEGER, maximum: max = Number.MAX_SAFE_INTEGER } = schema;
    const anywhere = fc.bigInt({ min: BigInt(Math.ceil(min)), max: BigInt(Math.floor(max)) }).map(Number);
    const bounds = fc.oneof(anywhere, fc.constantFrom(min, max));
    return type === 'integer' ? bounds : fc.oneof(bounds, fc.double({ min, max, noNaN: true }));
  }
  if (type === 'string') return textInside(schema);
  if (type === 'array') {
    const { minItems = 0, maxItems = minItems + 3 } = schema;
    return fc.array(inside(root, schema.items ?? {}), {
      minLength: minItems,
      maxLength: Math.min(maxItems, minItems + 3),
    });
  }
  if (type === 'object') return objectInside(root, schema);
  return fc.constantFrom<unknown>(null, true, 0, 'x', [1], { a: 1 });
}

function textInside({ format, pattern, minLength = 0, maxLength }: Schema): fc.Arbitrary<unknown> {
  if (format === 'binary') return fc.constant(upload);
  const time = fc.date({ min: new Date('0002-01-01'), max: new Date('9998-12-31'), noInvalidDate: true });
  if (format === 'date') return time.map((day) => day.toISOString().slice(0, 10));
  if (format === 'date-time') return time.map((day) => day.toISOString());
  if (format === 'email') return fc.emailAddress().filter((address) => address.length <= (maxLength ?? 254));
  if (format === 'uri') return fc.webUrl();
  const known = formatValues[format ?? ''];
  if (known) return fc.constantFrom(...known);
  const fits = (text: string): boolean =>
    [...text].length >= minLength && (maxLength === undefined || [...text].length <= maxLength);
  // Names in any script: the generator knows no classes of characters.
  if (pattern?.includes('\\p')) return fc.stringMatching(/^[a-z]{1,9}$/);
  if (pattern !== undefined)
    return fc.stringMatching(new RegExp(pattern, 'u')).filter((text) => fits(text) && !text.includes('\0'));
  const short = fc.string({
    unit: letters,
    minLength,
    maxLength: Math.min(maxLength ?? minLength + 9, minLength + 9),
  });
  return maxLength === undefined || maxLength > LONG_TEXT
    ? short
    : fc.oneof(short, fc.constant('漢'.repeat(maxLength)));
}

/** With all that are required, and any of the others: mostly few of many, as a client sends them. */
export const recordOf = (
  fields: Record<string, fc.Arbitrary<unknown>>,
  required: readonly string[],
): fc.Arbitrary<Record<string, unknown>> => {
  const optional = Object.keys(fields).filter((name) => !required.includes(name));
  const present = (names: readonly string[]) =>
    fc.record(Object.fromEntries(names.map((name) => [name, fields[name] ?? fc.constant(null)])));
  return fc
    .subarray(optional, { maxLength: Math.min(optional.length, 8) })
    .chain((some) => present([...required, ...some]));
};

export function objectInside(root: Document, schema: Schema): fc.Arbitrary<unknown> {
  const properties = Object.entries(schema.properties ?? {}).filter(([, each]) => !isForNobody(each));
  const record = recordOf(
    Object.fromEntries(properties.map(([name, each]) => [name, inside(root, each)])),
    schema.required ?? [],
  );
  const { allOf = [], anyOf, oneOf } = schema;
  const rules = [...allOf, ...(anyOf ? [{ anyOf }] : []), ...(oneOf ? [{ oneOf }] : [])];
  const whole = record.filter((value) => rules.every((rule) => holds(rule, value)));
  const [pattern, patterned] = Object.entries(schema.patternProperties ?? {})[0] ?? [];
  const free =
    patterned ?? (schema.additionalProperties === true ? {} : schema.additionalProperties || undefined);
  if (free === undefined) return whole;
  const others = fc.dictionary(
    fc.stringMatching(/^[a-z0-9_]{1,9}$/).filter((name) => new RegExp(pattern ?? '', 'u').test(name)),
    inside(root, free),
    { maxKeys: 3 },
  );
  return fc.tuple(others, whole).map(([rest, own]) => ({ ...rest, ...(own as object) }));
}

/** For a property that no value is allowed for. */
const isForNobody = ({ not }: Schema): boolean => not !== undefined && Object.keys(not).length === 0;

/** For rules on parameters that go together. */
export function holds(rule: Schema, value: object): boolean {
  if (rule.required)
    return (
      rule.required.every((name) => name in value) &&
      Object.entries(rule.properties ?? {}).every(([name, each]) =>
        each.enum?.includes((value as Record<string, unknown>)[name]),
      )
    );
  if (rule.anyOf) return rule.anyOf.some((each) => holds(each, value));
  if (rule.oneOf) return rule.oneOf.filter((each) => holds(each, value)).length === 1;
  if (rule.not) return !holds(rule.not, value);
  throw new Error(`a rule that nothing here reads: ${JSON.stringify(rule)}`);
}

/** Values just outside of a schema, by the fault of each. Null stands for "not given" wherever nothing is null. */
export function outside(root: Document, given: Schema): [string, unknown][] {
  const schema = follow(root, given);
  const types = [schema.type].flat().filter((type) => type !== 'null');
  if (schema.enum) return [['a word that is not listed', 'no such word']];
  if (schema.anyOf || schema.oneOf || types.length > 1) return [];
  const [type] = types;
  if (type === 'boolean')
    return [
      ['no boolean', 'maybe'],
      ['a third boolean', 2],
    ];
  if (type === 'integer' || type === 'number') {
    const { minimum = 0, maximum = 0 } = schema;
    const past: [string, unknown][] = [
      ['less than the minimum', minimum === Number.MIN_SAFE_INTEGER ? '-9007199254740993' : minimum - 1],
      ['more than the maximum', maximum === Number.MAX_SAFE_INTEGER ? '9007199254740993' : maximum + 1],
    ];
    return [
      ['no number', 'x'],
      ['an object', { a: 1 }],
      ...(type === 'integer' ? ([['a fraction', 1.5]] as const) : []).map(
        ([what, value]): [string, unknown] => [what, value],
      ),
      ...past,
    ];
  }
  if (type === 'string') return textOutside(schema);
  if (type === 'array') return arrayOutside(root, schema);
  if (type === 'object')
    return [
      ['no object', 'x'],
      ...(schema.required ?? [])
        .slice(0, 1)
        .map((name): [string, unknown] => [`an object without ${name}`, {}]),
    ];
  return [];
}

function textOutside({ format, pattern, minLength = 0, maxLength }: Schema): [string, unknown][] {
  if (format === 'binary') return [['no file', 'text']];
  if (format === 'date' || format === 'date-time')
    return [
      ['no time', 'yesterday'],
      ['a day that is not', '2040-02-30'],
    ];
  const wrong: [string, unknown][] = [
    ['a list', [['x']]],
    ['an object', { a: 1 }],
  ];
  if (minLength > 1) wrong.push(['too short', 'x'.repeat(minLength - 1)]);
  if (maxLength !== undefined) wrong.push(['too long', 'x'.repeat(maxLength + 1)]);
  if (pattern !== undefined) {
    const other = ['', ' ', '!', 'ß', '\n', 'x'].find((text) => !new RegExp(pattern, 'u').test(text));
    if (other !== undefined) wrong.push([`outside of ${pattern}`, other]);
  }
  return wrong;
}

function arrayOutside(root: Document, schema: Schema): [string, unknown][] {
  const { items = {}, minItems = 0, maxItems } = schema;
  const [one] = fc.sample(inside(root, items), { numRuns: 1, seed: 1 });
  // Blank entries of a list are dropped where it may be one text.
  const wrong = outside(root, items)
    .filter(([, value]) => typeof value !== 'string' || value.trim() !== '')
    .map(([what, value]): [string, unknown] => [`${what} in a list`, [value]]);
  if (minItems > 0) wrong.push(['too few', Array.from({ length: minItems - 1 }, () => one)]);
  if (maxItems !== undefined) wrong.push(['too many', Array.from({ length: maxItems + 1 }, () => one)]);
  return [['an object instead of a list', { a: { b: 1 } }], ...wrong];
}

/** As a client writes it in a query. */
export function inQuery({ name, style, explode }: Parameter, value: unknown): string[] {
  const write = (key: string, text: unknown): string =>
    `${encodeURIComponent(key)}=${encodeURIComponent(String(text))}`;
  if (style === 'deepObject' && typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, each]) =>
      Array.isArray(each)
        ? each.map((item) => write(`${name}[${key}][]`, item))
        : [write(`${name}[${key}]`, each)],
    );
  if (!Array.isArray(value)) return [write(name, value)];
  if (explode === false) return [write(name, value.join(','))];
  return value.map((item) => write(name, item));
}
