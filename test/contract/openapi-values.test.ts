/**
 * The document describes the accepted requests, since clients are generated from it: each value that an
 * operation's schemas allow is taken by the decoder of its endpoint, and each that is just outside of them is
 * refused.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import { Failure } from '../../src/platform/failure.ts';
import { compileDecoder } from '../../src/platform/http/parameters/decode.ts';
import {
  mergeParameters,
  parseUrlEncoded,
  type RawObject,
} from '../../src/platform/http/parameters/raw-parameters.ts';
import { parameterRuleKeywords } from '../../src/platform/http/parameters/rules.ts';
import { parameterRulesOf } from '../../src/platform/http/parameters/schema.ts';
import { useApp } from '../support/app.ts';
import {
  type Document,
  follow,
  holds,
  inQuery,
  inside,
  objectInside,
  outside,
  type Schema,
} from '../support/document-values.ts';
import { titleOf } from '../support/inventory.ts';

const ashlar = useApp();

const document = async (): Promise<Document> => (await ashlar.call('GET /openapi.json')).body;

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
  const { allOf = [] } = parameterRuleKeywords(parameterRulesOf(endpoint.input).together ?? []);
  const goTogether = (query: object): boolean =>
    bodies.length > 0 || allOf.every((rule) => holds(rule as Schema, query));
  const allowed = [fc.constant({}), ...bodies.map((schema) => objectInside(root, schema))]
    .slice(bodies.length > 0 ? 1 : 0)
    .map((body) =>
      fc
        // No schema covers a query's parameters as a whole; the description says which go together.
        .tuple(recordOf('path'), recordOf('query').filter(goTogether), body)
        .map(([inPath, query, each]) => make(inPath, query, each as object)),
    );
  const [query] = fc.sample(recordOf('query'), { numRuns: 1, seed: 2 }) as Record<string, unknown>[];
  const refused: (Case & { name: string })[] = [];
  for (const { name, schema } of parametersIn('query')) {
    const bare = name.replace('[]', '');
    // The path's value wins.
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

/** The refusal of the decoder; undefined for accepted requests. */
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
      if (name.startsWith('without ') && 'ruled' in endpoint.input) continue;
      if (refusalOf(decode, raw) !== undefined) refused += 1;
      else problems.push(`${titleOf(endpoint)}: ${name} is taken: ${shown}`);
    }
  }
  expect(problems).toEqual([]);
  expect(refused).toBeGreaterThan(2_000);
});
