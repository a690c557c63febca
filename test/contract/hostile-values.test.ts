/**
 * Every parameter of every endpoint with hostile values: the response is never a fault of the server (spec:
 * Status codes, 500 "something unexpected went wrong").
 */
import { Agent, request } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import { ROOT_TOKEN, useApp } from '../support/app.ts';
import { addMember, bodyOf, type MadeUser, makeGroup, makeProject, makeUser } from '../support/factories.ts';

const ashlar = useApp();
const agent = new Agent({ keepAlive: true, maxSockets: 6 });

type Schema = {
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  required?: string[];
  minimum?: number;
  maximum?: number;
};

const INT4 = 2 ** 31;
const LARGEST = Number.MAX_SAFE_INTEGER;
const texts = [
  ' ',
  "'; drop table users; --\\",
  '%_((((a+)+)+)+$',
  'a\r\nX-Injected: yes',
  '../../../../etc/passwd',
  '\u202e\ufeff\u{1f4a9}\u0001',
  '9'.repeat(40),
  'ß'.repeat(30_000),
];
const inPaths = [...texts.slice(1, 5), `${LARGEST}`, 'ß'.repeat(3_000)];
const days = ['0001-01-01', '9999-12-31', 'infinity'];
const instants = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z', '-infinity'];
const integers = [-LARGEST, -1, 0, INT4, LARGEST];
/** Values that hardly any declaration admits. */
const misfits = [null, [[[]]], { a: { b: [{}] } }, [null, 1.5, true, ''], '1e400'];

const deep = (levels: number): unknown => (levels === 0 ? 'x' : { a: deep(levels - 1) });

/** More than one statement can have parameters. */
const crowd = Array.from({ length: 70_000 }, (_, index) => index + 1);

/** Values that pass the declaration, and are trouble behind it. */
function hostile(schema: Schema): unknown[] {
  if (schema.enum) return schema.enum;
  if (schema.anyOf) return schema.anyOf.flatMap(hostile);
  const types = [schema.type ?? 'anything'].flat();
  if (types.includes('array')) {
    const items = hostile(schema.items ?? {});
    return [items, items.slice(-2), [items[0], items[0]], crowd];
  }
  if (schema.patternProperties) {
    const named = Object.fromEntries(texts.map((text) => [text, text]));
    return [
      named,
      {},
      { '': '' },
      Object.fromEntries(crowd.slice(0, 35_000).map((each) => [`k${each}`, 'v'])),
    ];
  }
  if (types.includes('object')) {
    const fields = Object.entries(schema.properties ?? {}).map(
      ([name, field]) => [name, hostile(field)] as const,
    );
    return [0, 1, 2, 3].map((at) =>
      Object.fromEntries(fields.map(([name, values]) => [name, values.at(at)])),
    );
  }
  if (types.includes('integer') || types.includes('number')) {
    const { minimum = -LARGEST, maximum = LARGEST } = schema;
    return [...new Set([minimum, maximum, ...integers])];
  }
  if (types.includes('boolean')) return [true, false];
  if (schema.format === 'date') return days;
  if (schema.format === 'date-time') return instants;
  if (types.includes('string')) return schema.format === 'binary' ? ['text'] : texts;
  return [...texts, ...integers, deep(90)];
}

/** A value that the declaration admits, for required parameters. */
function plausible(schema: Schema): unknown {
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf?.[0]) return plausible(schema.anyOf[0]);
  const types = [schema.type ?? 'string'].flat();
  if (types.includes('array')) return [plausible(schema.items ?? {})];
  if (types.includes('object')) return filled(schema);
  if (types.includes('integer') || types.includes('number')) return Math.max(1, schema.minimum ?? 1);
  if (types.includes('boolean')) return true;
  if (schema.format === 'date') return '2040-01-01';
  if (schema.format === 'date-time') return '2040-01-01T00:00:00Z';
  serial += 1;
  return `some${serial}`;
}
let serial = 0;

const filled = (schema: Schema): Record<string, unknown> =>
  Object.fromEntries(
    (schema.required ?? []).map((name) => [name, plausible(schema.properties?.[name] ?? {})]),
  );

let user: MadeUser;
let places: Record<string, string>;

beforeAll(async () => {
  user = await makeUser(ashlar);
  const group = await makeGroup(ashlar);
  const project = await makeProject(ashlar, { namespace_id: group.id });
  await addMember(ashlar, `groups/${group.id}`, user, 50);
  const body = { name: 'flag', version: 'new_version_flag' };
  bodyOf(await ashlar.root(`POST /projects/${project.id}/feature_flags`, { body }), 201);
  places = {
    projects: `${project.id}`,
    groups: `${group.id}`,
    users: `${user.id}`,
    namespaces: `${group.id}`,
  };
});

const pathNames = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '');

/** The address with real objects in its path, but for the given ones. */
function address(endpoint: Endpoint, given: Record<string, string>): string {
  const kind = endpoint.path.split('/')[1] ?? '';
  return endpoint.path.replace(/:(\w+)/g, (_, name: string) => {
    const real = name === 'id' ? places[kind] : name === 'user_id' ? `${user.id}` : undefined;
    return encodeURIComponent(given[name] ?? real ?? '1');
  });
}

type Attack = { endpoint: Endpoint; path: string; token: string; input: Record<string, unknown> };

function* attacksOn(endpoint: Endpoint): Generator<Attack> {
  const schema = endpoint.input as Schema;
  const inPath = pathNames(endpoint.path);
  const tokens = [ROOT_TOKEN, user.token];
  let turn = 0;
  const attack = (input: Record<string, unknown>, given: Record<string, string> = {}): Attack => {
    const path = address(endpoint, given);
    turn += 1;
    const token = tokens[turn % 2] ?? ROOT_TOKEN;
    return { endpoint, path, token, input };
  };
  const base = () =>
    Object.fromEntries(Object.entries(filled(schema)).filter(([name]) => !inPath.includes(name)));
  for (const name of inPath) {
    for (const value of inPaths) yield attack(base(), { [name]: value });
  }
  const fields = Object.entries(schema.properties ?? {}).filter(([name]) => !inPath.includes(name));
  const values = fields.map(([name, field]) => [name, hostile(field)] as const);
  for (const [name, each] of values) {
    // A closed list has no hostile value; its members come up together with the rest.
    if (isClosed(schema.properties?.[name])) continue;
    for (const value of each) yield attack({ ...base(), [name]: value });
  }
  for (const misfit of misfits) yield attack(Object.fromEntries(fields.map(([name]) => [name, misfit])));
  for (let at = 0; at < 3; at++) {
    yield attack(Object.fromEntries(values.map(([name, each]) => [name, each[at % each.length]])));
  }
}

const isClosed = (field: Schema = {}): boolean => field.enum !== undefined || field.type === 'boolean';

/**
 * The response's status. The parameters go as JSON in every method's body (spec: General request rules, 2).
 */
const send = ({ endpoint, path, token, input }: Attack): Promise<number> =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify(input);
    const headers = {
      'private-token': token,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const options = { agent, method: endpoint.method, headers };
    const sending = request(`${ashlar.url}/api/v4${path}`, options, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    sending.once('error', reject);
    sending.end(body);
  });

/**
 * Reads first; requests that end or change the instance, the caller and the objects of other requests, last.
 */
function rank({ method, path }: Endpoint): number {
  if (/^\/(application|user\b|users\/:id)/.test(path) && method !== 'GET') return method === 'DELETE' ? 5 : 4;
  return ['GET', 'PATCH', 'PUT', 'POST', 'DELETE'].indexOf(method);
}

describe('hostile values', () => {
  it('are never a fault', async () => {
    const { endpoints, services } = ashlar.app;
    const ordered = [...endpoints].sort((a, b) => rank(a) - rank(b));
    const before = await services.settings.read();
    const faults = new Set<string>();
    let accepted = 0;
    for (const endpoint of ordered) {
      const attacks = [...attacksOn(endpoint)];
      let next = 0;
      const worker = async () => {
        for (let attack = attacks[next++]; attack; attack = attacks[next++]) {
          const status = await send(attack);
          if (status < 300) accepted += 1;
          if (status < 500) continue;
          const shown = JSON.stringify(attack.input).slice(0, 300);
          faults.add(`${status} ${endpoint.method} ${attack.path.slice(0, 200)} ${shown}`);
        }
      };
      const changesSettings = endpoint.path.startsWith('/application');
      await Promise.all(Array.from({ length: changesSettings ? 1 : 6 }, worker));
      if (!changesSettings || endpoint.method === 'GET') continue;
      await services.settings.write(services.database.db, before);
      services.settings.forget();
    }
    expect([...faults]).toEqual([]);
    // Otherwise nothing of it passed authorization.
    expect(accepted).toBeGreaterThan(1_000);
    expect(ashlar.log.filter((line) => line.includes('"event":"fault"'))).toEqual([]);
  });
});
