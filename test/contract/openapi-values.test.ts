/**
 * The document says what is accepted, since clients are generated from it: each value that an operation's schemas allow is
 * taken by the decoder of its endpoint, and each that is just outside of them is refused.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Endpoint } from '../../src/core/endpoint.ts';
import { Failure } from '../../src/platform/failure.ts';
import { compileDecoder } from '../../src/platform/http/decode.ts';
import {
  mergeParameters,
  parseUrlEncoded,
  type RawObject,
  UploadedFile,
} from '../../src/platform/http/raw-parameters.ts';
import { togetherOf } from '../../src/platform/http/schema.ts';
import { togetherKeywords } from '../../src/platform/http/together-rules.ts';
import { useApp } from '../support/app.ts';
import { titleOf } from '../support/inventory.ts';

const ashlar = useApp();

type Schema = {
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
type Parameter = {
  $ref?: string;
  name: string;
  in: string;
  style?: string;
  explode?: boolean;
  required?: boolean;
  schema: Schema;
};
type Operation = { parameters?: Parameter[]; requestBody?: { content: Record<string, { schema: Schema }> } };
type Document = { paths: Record<string, Record<string, Operation>> };

const document = async (): Promise<Document> => (await ashlar.call('GET /openapi.json')).body;

const follow = <T extends { $ref?: string }>(root: Document, node: T): T => {
  if (node.$ref === undefined) return node;
  const at = node.$ref
    .slice(2)
    .split('/')
    .reduce<unknown>((place, key) => (place as Record<string, unknown>)[key], root);
  return follow(root, at as T);
};

const letters = fc.constantFrom('a', 'Z', '0', ' ', '-', '.', '%', "'", 'é', '漢', '😀');
const upload = new UploadedFile('a.png', 'image/png', Buffer.from('png'));

/** Values that a schema allows. */
function inside(root: Document, given: Schema): fc.Arbitrary<unknown> {
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
  return maxLength === undefined ? short : fc.oneof(short, fc.constant('漢'.repeat(maxLength)));
}

function objectInside(root: Document, schema: Schema): fc.Arbitrary<unknown> {
  const properties = Object.entries(schema.properties ?? {});
  const record = fc.record(Object.fromEntries(properties.map(([name, each]) => [name, inside(root, each)])), {
    requiredKeys: schema.required ?? [],
    noNullPrototype: true,
  });
  const whole = record.filter((value) => (schema.allOf ?? []).every((rule) => holds(rule, value)));
  const [pattern, patterned] = Object.entries(schema.patternProperties ?? {})[0] ?? [];
  const free =
    patterned ?? (schema.additionalProperties === true ? {} : schema.additionalProperties || undefined);
  if (free === undefined) return whole;
  const others = fc.dictionary(
    // In a query an object whose keys are all numbers is a list.
    fc.stringMatching(/^[a-z_]{1,9}$/).filter((name) => new RegExp(pattern ?? '', 'u').test(name)),
    inside(root, free),
    { maxKeys: 3 },
  );
  return fc.tuple(others, whole).map(([rest, own]) => ({ ...rest, ...(own as object) }));
}

/** Of the rules that say which parameters go together. */
function holds(rule: Schema, value: object): boolean {
  if (rule.required) return rule.required.every((name) => name in value);
  if (rule.anyOf) return rule.anyOf.some((each) => holds(each, value));
  if (rule.oneOf) return rule.oneOf.filter((each) => holds(each, value)).length === 1;
  if (rule.not) return !holds(rule.not, value);
  throw new Error(`a rule that nothing here reads: ${JSON.stringify(rule)}`);
}

/** Values just outside of a schema, by what is wrong with each. Null stands for "not given" wherever nothing is null. */
function outside(root: Document, given: Schema): [string, unknown][] {
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
function inQuery({ name, style, explode }: Parameter, value: unknown): string[] {
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

type Case = { raw: RawObject; shown: string };

/** Requests of an operation: allowed ones, and those with one value just outside. */
function requestsOf(
  root: Document,
  endpoint: Endpoint,
): { allowed: fc.Arbitrary<Case>[]; refused: (Case & { name: string })[] } {
  const template = endpoint.path.replaceAll(/:(\w+)/g, '{$1}');
  const operation = root.paths[template]?.[endpoint.method.toLowerCase()] ?? {};
  const parameters = (operation.parameters ?? []).map((each) => follow(root, each));
  const parametersIn = (place: string) => parameters.filter((each) => each.in === place);
  const recordOf = (place: string) =>
    fc.record(
      Object.fromEntries(parametersIn(place).map(({ name, schema }) => [name, inside(root, schema)])),
      {
        requiredKeys: parametersIn(place)
          .filter(({ required }) => required)
          .map(({ name }) => name),
      },
    );
  const bodies = Object.values(operation.requestBody?.content ?? {}).map(({ schema }) =>
    follow(root, schema),
  );
  const [path] = fc.sample(recordOf('path'), { numRuns: 1, seed: 1 }) as Record<string, unknown>[];

  const make = (
    inPath: Record<string, unknown>,
    query: Record<string, unknown>,
    body: object,
    wrong: Record<string, unknown> = {},
  ): Case => {
    const text = parametersIn('query')
      .flatMap((each) => (each.name in query ? inQuery(each, query[each.name]) : []))
      .join('&');
    const named = Object.fromEntries(Object.entries(inPath).map(([name, value]) => [name, String(value)]));
    const raw = mergeParameters(
      { ...parseUrlEncoded(text), ...(wrong as RawObject) },
      body as RawObject,
      named,
    );
    return { raw, shown: `${JSON.stringify([inPath, wrong, body])} ?${text}`.slice(0, 400) };
  };
  const { allOf = [] } = togetherKeywords(togetherOf(endpoint.input).together ?? []);
  const goTogether = (query: object): boolean =>
    bodies.length > 0 || allOf.every((rule) => holds(rule as Schema, query));
  const allowed = [fc.constant({}), ...bodies.map((schema) => objectInside(root, schema))]
    .slice(bodies.length > 0 ? 1 : 0)
    .map((body) =>
      fc
        // No schema holds the parameters of a query together; the description says which go together.
        .tuple(recordOf('path'), recordOf('query').filter(goTogether), body)
        .map(([inPath, query, each]) => make(inPath, query, each as object)),
    );
  const [query] = fc.sample(recordOf('query'), { numRuns: 1, seed: 2 }) as Record<string, unknown>[];
  const refused: (Case & { name: string })[] = [];
  for (const { name, schema } of parametersIn('query')) {
    const bare = name.replace('[]', '');
    // What the path says wins.
    if (bare in (path ?? {})) continue;
    for (const [what, value] of outside(root, schema)) {
      // A query has no empty list.
      if (Array.isArray(value) && value.length === 0) continue;
      refused.push({ ...make(path ?? {}, query ?? {}, {}, { [bare]: value }), name: `${bare}: ${what}` });
    }
  }
  for (const schema of bodies) {
    const [body] = fc.sample(objectInside(root, schema), { numRuns: 1, seed: 3 }) as object[];
    for (const [name, field] of Object.entries(schema.properties ?? {}))
      for (const [what, value] of outside(root, field))
        refused.push({ ...make(path ?? {}, {}, { ...body, [name]: value }), name: `${name}: ${what}` });
    for (const name of schema.required ?? []) {
      const { [name]: _, ...rest } = body as Record<string, unknown>;
      refused.push({ ...make(path ?? {}, {}, rest), name: `without ${name}` });
    }
  }
  return { allowed, refused };
}

/** The refusal of the decoder; undefined for what it takes. */
function refusalOf(decode: (raw: RawObject) => unknown, raw: RawObject): string | undefined {
  try {
    decode(raw);
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

test('what the document allows is taken, for every operation', async () => {
  const root = await document();
  const problems: string[] = [];
  let taken = 0;
  for (const endpoint of ashlar.app.endpoints) {
    const decode = compileDecoder(endpoint.input);
    for (const arbitrary of requestsOf(root, endpoint).allowed) {
      for (const { raw, shown } of fc.sample(arbitrary, { numRuns: 25, seed: 1 })) {
        const refusal = refusalOf(decode, raw);
        if (refusal === undefined) taken += 1;
        else problems.push(`${titleOf(endpoint)}: ${refusal} for ${shown}`);
      }
    }
  }
  expect(problems).toEqual([]);
  expect(taken).toBeGreaterThan(25 * 600);
});

test('what is just outside is refused, for every operation', async () => {
  const root = await document();
  const problems: string[] = [];
  let refused = 0;
  for (const endpoint of ashlar.app.endpoints) {
    const decode = compileDecoder(endpoint.input);
    for (const { raw, shown, name } of requestsOf(root, endpoint).refused) {
      // A rule behind the decoder refuses that, in words of its own.
      const [property = ''] = name.split(/\[\]|: /);
      if ('ruled' in (endpoint.input.properties[property] ?? {})) continue;
      if (refusalOf(decode, raw) !== undefined) refused += 1;
      else problems.push(`${titleOf(endpoint)}: ${name} is taken: ${shown}`);
    }
  }
  expect(problems).toEqual([]);
  expect(refused).toBeGreaterThan(2_000);
});
