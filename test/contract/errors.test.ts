/** The bodies of refusals, on every endpoint (spec: Errors, Error bodies; General request rules). */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import { ROOT_TOKEN, useApp } from '../support/app.ts';
import { addressOf, forEachOf, type SampleIds, titleOf } from '../support/inventory.ts';
import { type RawResponse, sendRaw } from '../support/raw-http.ts';
import { makeWorld } from '../support/world.ts';

const ashlar = useApp();
let places: SampleIds;
beforeAll(async () => {
  places = await makeWorld(ashlar, 1);
});

type Sent = { query?: string; type?: string; body?: string };

/** As root, who passes every access rule. */
function send(spec: Endpoint, { query, type = 'application/json', body }: Sent): Promise<RawResponse> {
  const path = `/api/v4${addressOf(spec.path, places)}${query === undefined ? '' : `?${query}`}`;
  const headers = { 'private-token': ROOT_TOKEN, ...(body !== undefined && { 'content-type': type }) };
  return sendRaw(ashlar.url, `${spec.method} ${path}`, { headers, ...(body !== undefined && { body }) });
}

/** A body that streams is read by its handler, part by part. */
const isRead = ({ stream }: Endpoint): boolean => !stream;

const deep = (levels: number): string => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
const form = 'application/x-www-form-urlencoded';

describe('what cannot be read is refused by every endpoint, on GET too', () => {
  test.each<[string, Sent, string]>([
    ['a NUL byte in the query', { query: 'x=%00' }, '400 Bad request - a NUL byte is not allowed'],
    ['malformed percent-encoding', { query: 'x=%zz' }, '400 Bad request - malformed percent-encoding'],
    ['bytes that are not UTF-8', { query: 'x=%ff' }, '400 Bad request - malformed percent-encoding'],
    [
      'a bracket bomb',
      { query: `x${'[a]'.repeat(50)}=1` },
      '400 Bad request - parameters are nested deeper than 16 levels',
    ],
    [
      'a thousand and one parameters',
      { query: 'x=1&'.repeat(1_001) },
      '400 Bad request - more than 1000 parameters',
    ],
    [
      'two shapes of one name',
      { query: 'x=1&x[]=2' },
      '400 Bad request - "x" is given in conflicting shapes',
    ],
    ['malformed JSON', { body: '{"x":' }, '400 Bad request - malformed JSON'],
    ['JSON that is not an object', { body: '[1]' }, '400 Bad request - the JSON body is not an object'],
    ['a NUL byte in JSON', { body: '{"x":"\\u0000"}' }, '400 Bad request - a NUL byte is not allowed'],
    ['half a surrogate pair', { body: '{"x":"\\ud800"}' }, '400 Bad request - malformed Unicode'],
    ['a number past 2^53', { body: '{"x":9007199254740993}' }, '400 Bad request - a number is past 2^53'],
    ['JSON nested too deep', { body: deep(200) }, '400 Bad request - JSON is nested deeper than 100 levels'],
    ['a NUL byte in a form', { type: form, body: 'x=%00' }, '400 Bad request - a NUL byte is not allowed'],
    [
      'multipart without a boundary',
      { type: 'multipart/form-data', body: 'x' },
      '400 Bad request - malformed multipart header',
    ],
    ['another type of body', { type: 'text/plain', body: 'x' }, '415 Unsupported Media Type'],
  ])('%s', async (_, sent, message) => {
    const requested = sent.query === undefined ? ashlar.app.endpoints.filter(isRead) : ashlar.app.endpoints;
    await forEachOf(requested, 4, async (spec) => {
      const { status, text } = await send(spec, sent);
      const { error_description: hint, ...body } = JSON.parse(text);
      expect([titleOf(spec), status, body]).toEqual([
        titleOf(spec),
        Number(message.slice(0, 3)),
        { message },
      ]);
      expect(hint).toEqual(status === 415 ? expect.stringMatching(/^Send JSON/) : undefined);
    });
  });
});

type Schema = { type?: string; enum?: unknown[]; format?: string };
const scalars = new Set(['integer', 'number', 'boolean', 'string']);

/** Parameters of the query or the body, by whether they must be there. */
function fieldsOf(spec: Endpoint): { name: string; required: boolean; schema: Schema }[] {
  const required = new Set<string>(spec.input.required ?? []);
  return Object.entries<Schema>(spec.input.properties)
    .filter(([name]) => !new RegExp(`:${name}\\b`).test(spec.path))
    .map(([name, schema]) => ({ name, required: required.has(name), schema }));
}

const encode = (values: Record<string, unknown>, spec: Endpoint): Sent =>
  spec.method === 'GET' || spec.method === 'DELETE'
    ? {
        query: Object.keys(values)
          .map((name) => `${name}[k]=1`)
          .join('&'),
      }
    : { body: JSON.stringify(values) };

describe('parameters', () => {
  test('one that is missing is named in a text (spec: Error bodies, Missing attribute)', async () => {
    const needing = ashlar.app.endpoints.filter((spec) => fieldsOf(spec).some(({ required }) => required));
    expect(needing.length).toBeGreaterThan(5);
    await forEachOf(needing, 4, async (spec) => {
      const { status, text } = await send(spec, {});
      const names = fieldsOf(spec)
        .filter(({ required }) => required)
        .map(({ name }) => name);
      const { message, error } = JSON.parse(text);
      expect([titleOf(spec), status, typeof message]).toEqual([titleOf(spec), 400, 'string']);
      for (const name of names) {
        expect(message, titleOf(spec)).toContain(`"${name}" not given`);
        expect(error, titleOf(spec)).toContain(`${name} is missing`);
      }
    });
  });

  test('one of the wrong shape has its messages under its name (spec: Error bodies, Validation failure)', async () => {
    let tried = 0;
    await forEachOf(ashlar.app.endpoints.filter(isRead), 4, async (spec) => {
      const fields = fieldsOf(spec);
      const wrong = fields.filter(({ schema }) => schema.type !== undefined && scalars.has(schema.type));
      // With a parameter missing, the refusal would be about that.
      if (wrong.length === 0 || fields.some((field) => field.required && !wrong.includes(field))) return;
      const values = Object.fromEntries(wrong.map(({ name }) => [name, { k: 1 }]));
      const { status, text } = await send(spec, encode(values, spec));
      const { message } = JSON.parse(text);
      const expected = Object.fromEntries(wrong.map(({ name }) => [name, ['is invalid']]));
      expect([titleOf(spec), status, message]).toEqual([titleOf(spec), 400, expected]);
      tried += 1;
    });
    expect(tried).toBeGreaterThan(20);
  });

  test('unknown ones are ignored', async () => {
    const { status } = await ashlar.root('GET /user', { query: 'unknown=1&other[a][]=2' });
    expect(status).toBe(200);
  });
});

describe('bodies over their limit', () => {
  test('are 413, whatever the endpoint’s limit', async () => {
    const limits = new Map<string, Endpoint>();
    for (const spec of ashlar.app.endpoints.filter(isRead))
      limits.set(`${spec.method} ${spec.bodyLimit}`, spec);
    for (const spec of limits.values()) {
      const body = JSON.stringify({ x: 'x'.repeat(spec.bodyLimit ?? 1_048_576) });
      const { status, text } = await send(spec, { body });
      const message = '413 Request Entity Too Large';
      expect([titleOf(spec), status, JSON.parse(text)]).toEqual([titleOf(spec), 413, { message }]);
    }
  });
});

describe('paths', () => {
  test.each(['nothing', 'projects/1/nothing', 'Projects', '..%2f..%2fetc%2fpasswd', '%20'])(
    '/api/v4/%s is no endpoint',
    async (path) => {
      const { status, text } = await sendRaw(ashlar.url, `GET /api/v4/${path}`);
      expect([status, JSON.parse(text)]).toEqual([404, { message: '404 Not Found', error: '404 Not Found' }]);
    },
  );

  test.each([
    '%00',
    'a%00b',
    'a%2Fb%00',
    '%2F',
    '-1',
    '1e3',
    '9'.repeat(30),
    '%F0%9F%98%80',
    '%25',
    "'",
    '%0a',
    '..%2F..',
  ])('a subject named %s is not there, and the server does not stumble over it', async (name) => {
    for (const path of ['projects', 'groups', 'users', 'namespaces']) {
      const headers = { 'private-token': ROOT_TOKEN };
      const { status, text } = await sendRaw(ashlar.url, `GET /api/v4/${path}/${name}`, { headers });
      expect([path, status]).toEqual([path, 404]);
      expect(JSON.parse(text).message).toMatch(/^404 /);
    }
  });

  test.each(['%zz', '%', '%ff', '%c0%af'])('an encoding that is none, %s, is 400', async (name) => {
    const { status, text } = await sendRaw(ashlar.url, `GET /api/v4/projects/${name}`);
    expect(status).toBe(400);
    expect(JSON.parse(text).message).toMatch(/^400 Bad request/);
  });

  test('a NUL byte in any path parameter is 404 for whoever may look (never 500)', async () => {
    await forEachOf(ashlar.app.endpoints, 4, async (spec) => {
      const names = [...spec.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
      for (const name of names) {
        const path = spec.path.replace(`:${name}`, 'a%00b');
        const headers = { 'private-token': ROOT_TOKEN };
        const line = `${spec.method} /api/v4${addressOf(path, places)}`;
        expect([line, (await sendRaw(ashlar.url, line, { headers })).status]).toEqual([line, 404]);
      }
    });
  });

  test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])(
    '%s of the former version is 410',
    async (method) => {
      for (const path of ['/api/v3', '/api/v3/', '/api/v3/projects', '/api/v3/projects/a%2Fb/issues?x=1']) {
        const { status, text } = await sendRaw(ashlar.url, `${method} ${path}`);
        expect([path, status]).toEqual([path, 410]);
        if (method === 'HEAD') continue;
        const error = 'API V3 is no longer supported. Use API V4 instead.';
        expect(JSON.parse(text)).toEqual({ message: '410 Gone', error });
      }
    },
  );
});

test('none of it was a fault of the server’s', () => {
  const faults = ashlar.log
    .join('')
    .split('\n')
    .filter((line) => line.includes('"event":"fault"'));
  expect(faults).toEqual([]);
});
