/** Reports over real HTTP: access, forms, packings, and the rows of the spool afterwards. */
import { connect } from 'node:net';
import zlib from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeProject } from '../../../../test/support/factories.ts';
import { errorTrackingCapability } from '../index.ts';
import { readEnvelope } from '../reports/envelope.ts';
import { unpack } from '../reports/packing.ts';

// Without the digest, which would empty the spool.
const app = useApp({
  instead(services) {
    const { background: _, ...collecting } = errorTrackingCapability(services);
    return collecting;
  },
});

const ID = '9ec79c33ec9942ab8353589fcb2e04dc';
const event = (message = 'x') => JSON.stringify({ event_id: ID, message, level: 'error' });
const envelope = (...items: [type: string, payload: string][]) =>
  [
    JSON.stringify({ event_id: ID, sent_at: '2026-11-22T01:00:00Z' }),
    ...items.flatMap(([type, payload]) => [
      JSON.stringify({ type, length: Buffer.byteLength(payload) }),
      payload,
    ]),
    '',
  ].join('\n');

let project = 0;
let key = { id: 0, public_key: '', tracker_dsn: '' };

async function makeTracked() {
  const { id } = await makeProject(app);
  const body = { active: true, integrated: true };
  bodyOf(await app.root(`PUT /projects/${id}/error_tracking/settings`, { body }), 200);
  return { id, key: bodyOf(await app.root(`POST /projects/${id}/error_tracking/client_keys`), 201) };
}

type Sent = { status: number; headers: Headers; body: unknown };

async function send(
  body: string | Buffer,
  options: {
    form?: string;
    project?: number | string;
    query?: string;
    headers?: Record<string, string>;
    method?: string;
  } = {},
): Promise<Sent> {
  const { form = 'envelope/', query = `sentry_key=${key.public_key}`, method = 'POST' } = options;
  const path = `/api/v4/error_tracking/collector/api/${options.project ?? project}/${form}`;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const response = await fetch(`${app.url}${path}?${query}`, {
    method,
    headers: options.headers ?? {},
    ...(method === 'POST' && { body: Uint8Array.from(bytes) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text && JSON.parse(text) };
}

type SpoolRow = {
  project_id: number;
  form: string;
  encoding: 'gzip' | 'deflate' | 'br' | 'identity';
  body: Buffer;
  address: string | null;
};
const spool = () =>
  app.app.services.database.sql<SpoolRow[]>`
    select project_id, form, encoding, body, address from error_spool order by id`;
const unpacked = (row: SpoolRow | undefined): string =>
  row ? unpack(row.encoding, row.body, 30_000_000).toString() : '';

const configure = (changes: Parameters<typeof app.app.services.settings.write>[1]) =>
  app.app.services.settings
    .write(app.app.services.database.db, changes)
    .then(() => app.app.services.settings.forget());

beforeAll(async () => {
  const made = await makeTracked();
  project = made.id;
  key = made.key;
});
beforeEach(async () => {
  await app.app.services.database.sql`delete from error_spool`;
});

const plain = envelope(['event', event()]);

describe('what is taken', () => {
  test.each<[string, string | Buffer, Parameters<typeof send>[1], string, string]>([
    ['as it is', plain, {}, 'identity', plain],
    ['without a slash', plain, { form: 'envelope' }, 'identity', plain],
    ['gzip', zlib.gzipSync(plain), { headers: { 'content-encoding': 'gzip' } }, 'gzip', plain],
    ['gzip that nobody mentions', zlib.gzipSync(plain), {}, 'gzip', plain],
    ['deflate', zlib.deflateSync(plain), { headers: { 'content-encoding': 'deflate' } }, 'deflate', plain],
    [
      'deflate, raw',
      zlib.deflateRawSync(plain),
      { headers: { 'content-encoding': 'deflate' } },
      'deflate',
      plain,
    ],
    ['brotli', zlib.brotliCompressSync(plain), { headers: { 'content-encoding': 'br' } }, 'br', plain],
    [
      'a type of content',
      plain,
      { headers: { 'content-type': 'application/x-sentry-envelope' } },
      'identity',
      plain,
    ],
    ['another type', plain, { headers: { 'content-type': 'multipart/form-data' } }, 'identity', plain],
    [
      'the key in a header',
      plain,
      { query: '', headers: { 'x-sentry-auth': 'Sentry sentry_version=7, sentry_key=KEY' } },
      'identity',
      plain,
    ],
    [
      'the key in the other header',
      plain,
      { query: '', headers: { authorization: 'Sentry sentry_key=KEY, sentry_version=7' } },
      'identity',
      plain,
    ],
    ['one event', event(), { form: 'store/' }, 'identity', event()],
    ['one event, packed', zlib.gzipSync(event()), { form: 'store' }, 'gzip', event()],
    [
      'one event of the first clients',
      zlib.deflateSync(event()).toString('base64'),
      { form: 'store/', headers: { 'content-type': 'application/octet-stream' } },
      'deflate',
      event(),
    ],
  ])('%s', async (_, body, options, encoding, text) => {
    const headers = Object.fromEntries(
      Object.entries(options?.headers ?? {}).map(([name, value]) => [
        name,
        value.replace('KEY', key.public_key),
      ]),
    );
    expect(await send(body, { ...options, headers })).toMatchObject({ status: 200, body: { id: ID } });
    const rows = await spool();
    expect(rows).toMatchObject([{ project_id: project, encoding, address: null }]);
    expect(rows[0]?.form).toBe(options?.form?.startsWith('store') ? 'store' : 'envelope');
    expect(unpacked(rows[0])).toBe(text);
  });

  test('the address for applications, in the envelope alone', async () => {
    const body = `${JSON.stringify({ event_id: ID, dsn: key.tracker_dsn })}\n{"type":"event"}\n${event()}`;
    expect(await send(body, { query: '' })).toMatchObject({ status: 200 });
    expect(await spool()).toHaveLength(1);
    const other = body.replace(key.public_key, `glet_${'0'.repeat(32)}`);
    expect(await send(other, { query: '' })).toMatchObject({ status: 404 });
    expect(await spool()).toHaveLength(1);
  });

  test('in pieces, without a length', async () => {
    const { port } = new URL(app.url);
    const answered = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1');
      let text = '';
      socket.on('data', (data) => {
        text += data.toString();
        socket.end();
      });
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
      const path = `/api/v4/error_tracking/collector/api/${project}/envelope/?sentry_key=${key.public_key}`;
      socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`);
      for (const part of [plain.slice(0, 10), plain.slice(10)])
        socket.write(`${part.length.toString(16)}\r\n${part}\r\n`);
      socket.write('0\r\n\r\n');
    });
    expect(answered).toMatch(/^HTTP\/1\.1 200 /);
    expect(unpacked((await spool())[0])).toBe(plain);
  });

  test('what was not packed is packed here, and what is not kept does not come with it', async () => {
    const long = event('long '.repeat(1_000));
    await send(envelope(['event', long], ['session', '{}']));
    await send(envelope(['attachment', 'x'.repeat(100_000)], ['event', long], ['event', event()]));
    const [first, second] = await spool();
    expect(first).toMatchObject({ encoding: 'deflate' });
    expect(unpacked(first)).toBe(envelope(['event', long], ['session', '{}']));
    expect(readEnvelope(Buffer.from(unpacked(second)))).toMatchObject({
      eventId: ID,
      sentAt: '2026-11-22T01:00:00Z',
      items: [
        { type: 'event', payload: Buffer.from(long) },
        { type: 'event', payload: Buffer.from(event()) },
      ],
    });
  });

  test('many at the same time, of several projects, each once', async () => {
    const other = await makeTracked();
    const sent = Array.from({ length: 60 }, (_, index) =>
      send(envelope(['event', event(`number ${index}`)]), {
        ...(index % 2 === 1 && { project: other.id, query: `sentry_key=${other.key.public_key}` }),
      }),
    );
    expect((await Promise.all(sent)).filter(({ status }) => status !== 200)).toEqual([]);
    const rows = await spool();
    expect(new Set(rows.map(unpacked)).size).toBe(60);
    expect(rows.filter(({ project_id }) => project_id === other.id)).toHaveLength(30);
  });

  test('addresses, where the project keeps them', async () => {
    const tracked = await makeTracked();
    const body = { active: true, keep_addresses: true };
    bodyOf(await app.root(`PATCH /projects/${tracked.id}/error_tracking/settings`, { body }), 200);
    await send(plain, { project: tracked.id, query: `sentry_key=${tracked.key.public_key}` });
    expect(await spool()).toMatchObject([{ address: '127.0.0.1' }]);
  });
});

test('what is no error is counted and dropped', async () => {
  const body = envelope(['session', '{}'], ['transaction', '{}'], ['client_report', '{}'], ['novelty', '{}']);
  expect(await send(body)).toMatchObject({ status: 200, body: { id: ID } });
  expect(await send('{}\n{"type":"sessions"}\n{}')).toMatchObject({ status: 200, body: {} });
  expect(await send('{"type":"transaction"}', { form: 'store/' })).toMatchObject({ status: 200 });
  expect(await spool()).toEqual([]);
  const metrics = await app.call('GET /-/metrics', { raw: true });
  expect(metrics.text).toContain('error_items_dropped_total{type="transaction"} 2');
  expect(metrics.text).toContain('error_items_dropped_total{type="unknown"} 1');
});

test('the spool is among the metrics', async () => {
  const read = async () => (await app.call('GET /-/metrics', { raw: true })).text;
  expect(await read()).toMatch(/^error_spool_rows 0\nerror|^error_spool_rows 0$/m);
  await send(plain);
  await app.app.services.database.sql`update error_spool set received_at = now() - interval '100 seconds'`;
  const text = await read();
  expect(text).toMatch(/^error_spool_rows 1$/m);
  expect(Number(/^error_spool_oldest_seconds (.*)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(100);
});

describe('who is refused', () => {
  const refused = {
    status: 404,
    body: { message: '404 Not Found' },
  };

  test.each<[string, Parameters<typeof send>[1]]>([
    ['no key', { query: '' }],
    ['an unknown key', { query: `sentry_key=glet_${'0'.repeat(32)}` }],
    ['no key of ours', { query: 'sentry_key=abc' }],
    ['an unknown project', { project: 9_999_999 }],
    ['no project', { project: 'x' }],
    ['a project by another name', { project: '01' }],
  ])('%s', async (_, options) => {
    const response = await send(plain, options);
    expect(response).toMatchObject(refused);
    expect(response.headers.get('x-sentry-error')).toBe('unknown project or client key');
    expect(await spool()).toEqual([]);
  });

  test('whoever has the key of another project', async () => {
    const other = await makeTracked();
    expect(await send(plain, { project: other.id })).toMatchObject(refused);
  });

  test.each<[string, (id: number, keyId: number) => Promise<unknown>]>([
    [
      'the key is turned off',
      (id, keyId) =>
        app.root(`PATCH /projects/${id}/error_tracking/client_keys/${keyId}`, { body: { active: false } }),
    ],
    [
      'the key is deleted',
      (id, keyId) => app.root(`DELETE /projects/${id}/error_tracking/client_keys/${keyId}`),
    ],
    [
      'error tracking is turned off',
      (id) => app.root(`PATCH /projects/${id}/error_tracking/settings`, { body: { active: false } }),
    ],
    [
      'errors are kept elsewhere',
      (id) =>
        app.root(`PATCH /projects/${id}/error_tracking/settings`, {
          body: { active: true, integrated: false },
        }),
    ],
    ['the project is archived', (id) => app.root(`POST /projects/${id}/archive`)],
  ])('at once when %s', async (_, change) => {
    const tracked = await makeTracked();
    const options = { project: tracked.id, query: `sentry_key=${tracked.key.public_key}` };
    expect(await send(plain, options)).toMatchObject({ status: 200 });
    await change(tracked.id, tracked.key.id);
    expect(await send(plain, options)).toMatchObject(refused);
    expect(await spool()).toHaveLength(1);
  });

  test('what has no errors, at once when the key is turned off', async () => {
    const sessions = envelope(['session', '{}']);
    const tracked = await makeTracked();
    const options = { project: tracked.id, query: `sentry_key=${tracked.key.public_key}` };
    expect(await send(sessions, options)).toMatchObject({ status: 200 });
    await app.root(`PATCH /projects/${tracked.id}/error_tracking/client_keys/${tracked.key.id}`, {
      body: { active: false },
    });
    expect(await send(sessions, options)).toMatchObject(refused);
  });

  test('a key that was turned off, without using up what others of its project may report', async () => {
    await configure({ error_tracking_events_per_minute: 3 });
    const tracked = await makeTracked();
    const keys = `/projects/${tracked.id}/error_tracking/client_keys`;
    const options = { project: tracked.id, query: `sentry_key=${tracked.key.public_key}` };
    expect(await send(plain, options)).toMatchObject({ status: 200 });
    await app.root(`PATCH ${keys}/${tracked.key.id}`, { body: { active: false } });
    for (let sent = 0; sent < 5; sent++) expect(await send(plain, options)).toMatchObject(refused);
    const { body: other } = await app.root(`POST ${keys}`);
    const response = await send(plain, { ...options, query: `sentry_key=${other.public_key}` });
    await configure({ error_tracking_events_per_minute: 0 });
    expect(response).toMatchObject({ status: 200 });
  });

  test('everybody, while nothing is written', async () => {
    await configure({ maintenance_mode: true });
    const refused = await send(plain);
    expect([refused.status, refused.headers.get('x-sentry-error')]).toEqual([503, 'unavailable']);
    await configure({ maintenance_mode: false });
    expect(await send(plain)).toMatchObject({ status: 200 });
  });
});

describe('what is refused', () => {
  const large = event('x'.repeat(5_000));
  const zeros = zlib.gzipSync(`{}\n{"type":"attachment"}\n${' '.repeat(30_000_000)}`);

  test.each<[string, string | Buffer, Parameters<typeof send>[1], number]>([
    ['nothing', '', {}, 400],
    ['no envelope', 'hello', {}, 400],
    ['an envelope that is cut off', plain.slice(0, -10), {}, 400],
    ['an event that is no object', envelope(['event', '[1]']), {}, 400],
    ['broken gzip', zlib.gzipSync(plain).subarray(0, 40), { headers: { 'content-encoding': 'gzip' } }, 400],
    ['no event', 'hello', { form: 'store/' }, 400],
    ['a broken event', '{"a":}', { form: 'store/' }, 400],
    ['a list', '[]', { form: 'store/' }, 400],
    ['an unknown packing', plain, { headers: { 'content-encoding': 'zstd' } }, 415],
    ['a large event', envelope(['event', large]), {}, 413],
    ['a large event, packed', zlib.gzipSync(envelope(['event', large])), {}, 413],
    ['a large event alone', large, { form: 'store/' }, 413],
    [
      'too many events',
      envelope(...Array.from({ length: 101 }, (): ['event', string] => ['event', '{}'])),
      {},
      413,
    ],
    ['a bomb', zeros, { headers: { 'content-encoding': 'gzip' } }, 413],
    ['too much', Buffer.alloc(21 * 1_048_576), {}, 413],
  ])('%s', async (_, body, options, status) => {
    await configure({ error_tracking_max_event_bytes: 4_096 });
    const response = await send(body, options);
    expect(response.status).toBe(status);
    if (status === 400)
      expect(response.body).toEqual({ message: '400 Bad request - Failed to parse sentry request' });
    expect(response.headers.get('x-sentry-error')).not.toBeNull();
    expect(await spool()).toEqual([]);
  });
});

test('too many events of a project are told when to come again', async () => {
  await configure({ error_tracking_events_per_minute: 3 });
  try {
    const tracked = await makeTracked();
    const options = { project: tracked.id, query: `sentry_key=${tracked.key.public_key}` };
    const two = envelope(['event', event()], ['event', event()]);
    const responses: Sent[] = [];
    // The minute may end during the requests: twice the limit is too much in any case.
    for (const body of [envelope(['session', '{}']), two, plain, plain, two, two, plain])
      responses.push(await send(body, options));
    expect(responses.slice(0, 2).map(({ status }) => status)).toEqual([200, 200]);
    const refused = responses.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    for (const { headers } of refused) {
      const seconds = Number(headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(60);
      expect(headers.get('x-sentry-rate-limits')).toBe(`${seconds}:error:project`);
    }
    expect(await spool()).toHaveLength(responses.length - refused.length - 1);
    // Each project has its own limit.
    expect(await send(plain)).toMatchObject({ status: 200 });
  } finally {
    await configure({ error_tracking_events_per_minute: 0 });
  }
});

test('browsers may send from any page', async () => {
  const requested = await send('', {
    method: 'OPTIONS',
    headers: {
      origin: 'https://shop.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-sentry-auth, content-type, sentry-trace, baggage',
    },
  });
  expect(requested.status).toBe(200);
  expect(requested.headers.get('access-control-allow-origin')).toBe('*');
  expect(requested.headers.get('access-control-allow-headers')).toContain('x-sentry-auth');
  for (const [query, status] of [
    [`sentry_key=${key.public_key}`, 200],
    ['', 404],
  ] as const) {
    const response = await send(plain, { query, headers: { origin: 'https://shop.example' } });
    expect(response.status).toBe(status);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-expose-headers')).toContain('X-Sentry-Rate-Limits');
  }
});

test('a project that goes takes its reports with it', async () => {
  const tracked = await makeTracked();
  await send(plain, { project: tracked.id, query: `sentry_key=${tracked.key.public_key}` });
  await app.app.services.database.sql`delete from projects where id = ${tracked.id}`;
  expect(await spool()).toEqual([]);
});
