/**
 * Lists as long as a body may have them are answered: with records, or with an error of the caller. A statement takes
 * 32,767 values, and one that took more ended the program.
 */
import type { TSchema } from 'typebox';
import { beforeAll, expect, test } from 'vitest';
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import { accessOptions, makeAccessWorld } from '../support/access-world.ts';
import { ROOT_TOKEN, useApp } from '../support/app.ts';
import { makeRequests, type NamedRequest } from '../support/good-requests.ts';
import { titleOf } from '../support/inventory.ts';
import { sendRaw } from '../support/raw-http.ts';
import { type Undo, watchChanges } from '../support/undo.ts';

const ENTRIES = 70_000;
/** A body has 100,000 values at most. */
const OBJECTS = 30_000;

const ashlar = useApp(accessOptions());
let requests: readonly NamedRequest[];
let undo: Undo;

beforeAll(async () => {
  const { places } = await makeAccessWorld(ashlar);
  await ashlar.app.services.database.sql`update users set admin = true where username = 'root'`;
  requests = (await makeRequests(ashlar, places, ashlar.app.endpoints)).filter(
    ({ title, spec }) => title === titleOf(spec),
  );
  undo = await watchChanges(ashlar);
});

type Node = { type?: string | readonly string[]; items?: TSchema; commaSeparated?: boolean; enum?: unknown };

/** Long lists for the parameter: numbers, and texts where it takes them. */
function* longLists(schema: TSchema): Generator<[kind: string, value: unknown]> {
  const node = schema as Node; // TypeBox's schemas are JSON Schema
  if (![node.type].flat().includes('array')) return;
  const items = (node.items ?? {}) as Node;
  const types = [items.type ?? 'string'].flat();
  const numbers = Array.from({ length: ENTRIES }, (_, index) => index + 1);
  if (types.includes('object'))
    yield ['objects', numbers.slice(0, OBJECTS).map((id) => ({ id, name: `a${id}` }))];
  else if (Array.isArray(items.enum)) yield ['names', numbers.map(() => (items.enum as unknown[])[0])];
  else if (types.includes('integer')) yield ['numbers', numbers];
  else yield ['texts', numbers.map((number) => `a${number}`)];
}

const listsOf = (spec: Endpoint): [string, string, unknown][] =>
  Object.entries(spec.input.properties as Record<string, TSchema>)
    .filter(([name]) => !spec.path.includes(`:${name}`))
    .flatMap(([name, schema]) =>
      [...longLists(schema)].map(([kind, value]): [string, string, unknown] => [name, kind, value]),
    );

test('every list of a request may be as long as its body', async () => {
  const failed: string[] = [];
  let asked = 0;
  for (const { spec, title, request } of requests) {
    for (const [name, kind, value] of listsOf(spec)) {
      const fields =
        typeof request.body === 'string' && request.body.startsWith('{') ? JSON.parse(request.body) : {};
      const { status } = await sendRaw(ashlar.url, request.line, {
        headers: { ...request.headers, 'private-token': ROOT_TOKEN, 'content-type': 'application/json' },
        body: JSON.stringify({ ...fields, [name]: value }),
      }).catch((error: Error) => ({ status: error.message }));
      asked += 1;
      if (typeof status === 'string' || status >= 500) failed.push(`${title}, ${name} of ${kind}: ${status}`);
      if (spec.method !== 'GET') await undo.undo();
    }
  }
  expect(asked).toBeGreaterThan(50);
  expect(failed).toEqual([]);
});
