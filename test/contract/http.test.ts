/** Rules for every request: methods, headers, conditional reads, long addresses. */
import { connect as connectSocket } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../src/kernel/api/endpoint.ts';
import { ROOT_TOKEN, useApp } from '../support/app.ts';
import { addressOf, forEachOf, type SampleIds, titleOf } from '../support/inventory.ts';
import { type RawResponse, sendRaw } from '../support/raw-http.ts';
import { makeWorld } from '../support/world.ts';

const ashlar = useApp();
let places: SampleIds;
beforeAll(async () => {
  places = await makeWorld(ashlar, 2);
});

const asRoot = { 'private-token': ROOT_TOKEN };
const pathOf = (spec: Pick<Endpoint, 'path'>): string => `/api/v4${addressOf(spec.path, places)}`;
const reads = (): Endpoint[] => ashlar.app.endpoints.filter(({ method }) => method === 'GET');

/** Endpoints whose HEAD has headers of its own, or 204 (facts: Repository, files, commits, branches, tags). */
const ownHead = [
  '/projects/:id/repository/branches/:branch',
  '/projects/:id/repository/files/:file_path',
  '/projects/:id/repository/files/:file_path/blame',
];

/** Made while they are sent, so that they have no hash. */
const streamed = [
  '/projects/:id/repository/archive',
  '/projects/:id/repository/archive.:format',
  '/projects/:id/snapshot',
  '/projects/:id/merge_requests/:merge_request_iid/raw_diffs',
];

/** Another token with each answer. */
const issues = ({ path }: Endpoint): boolean => path.endsWith('/users/authenticate');

/** On every response, refusals included. */
function expectSecurityHeaders({ headers }: RawResponse, what: string): void {
  expect([what, headers['x-content-type-options'], headers['x-frame-options']]).toEqual([
    what,
    'nosniff',
    'SAMEORIGIN',
  ]);
  expect([what, headers['referrer-policy']]).toEqual([what, 'strict-origin-when-cross-origin']);
  expect(headers['content-security-policy'], what).toContain("default-src 'none'");
  expect(headers['x-request-id'], what).toMatch(/^[\w.:-]+$/);
}

describe('methods', () => {
  const all = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

  test('one that a path does not have is 405, and Allow names those it has (spec: Status codes)', async () => {
    const paths = new Map<string, Set<string>>();
    for (const { method, path } of ashlar.app.endpoints) {
      const methods = paths.get(path) ?? new Set<string>();
      paths.set(path, methods.add(method));
      if (method === 'GET') methods.add('HEAD');
    }
    await forEachOf([...paths], 4, async ([path, methods]) => {
      for (const method of all.filter((each) => !methods.has(each))) {
        const response = await sendRaw(ashlar.url, `${method} ${pathOf({ path })}`, { headers: asRoot });
        const allowed = String(response.headers.allow).split(', ').sort();
        expect([method, path, response.status, allowed]).toEqual([method, path, 405, [...methods].sort()]);
        if (method === 'HEAD') continue;
        expect(JSON.parse(response.text)).toEqual({
          message: '405 Method Not Allowed',
          error: '405 Not Allowed',
        });
      }
      const options = await sendRaw(ashlar.url, `OPTIONS ${pathOf({ path })}`);
      const allowed = String(options.headers.allow).split(', ').sort();
      expect([path, options.status, allowed]).toEqual([path, 200, [...methods, 'OPTIONS'].sort()]);
    });
  });

  test('HEAD answers as GET does, without the body', async () => {
    // Different at every request, or about this connection.
    const own = new Set([
      'x-request-id',
      'x-runtime',
      'date',
      'connection',
      'keep-alive',
      'transfer-encoding',
    ]);
    const plain = ({ headers }: RawResponse) =>
      Object.fromEntries(
        Object.entries(headers).filter(([name]) => !own.has(name) && !name.startsWith('ratelimit')),
      );
    for (const spec of reads().filter((each) => !ownHead.includes(each.path))) {
      const get = await sendRaw(ashlar.url, `GET ${pathOf(spec)}`, { headers: asRoot });
      const head = await sendRaw(ashlar.url, `HEAD ${pathOf(spec)}`, { headers: asRoot });
      expect([titleOf(spec), head.status, head.text]).toEqual([titleOf(spec), get.status, '']);
      expect([titleOf(spec), plain(head)]).toEqual([titleOf(spec), plain(get)]);
    }
  });
});

describe('headers', () => {
  test('every answer has the security headers and a request id', async () => {
    await forEachOf(ashlar.app.endpoints, 4, async (spec) => {
      const anonymous = await sendRaw(ashlar.url, `${spec.method} ${pathOf(spec)}`);
      expectSecurityHeaders(anonymous, titleOf(spec));
      expect([titleOf(spec), anonymous.headers['access-control-allow-origin']]).toEqual([titleOf(spec), '*']);
      expect(anonymous.headers.vary, titleOf(spec)).toContain('Origin');
    });
    for (const line of [
      'GET /nothing',
      'GET /-/health',
      'GET /api/docs',
      'GET /api/v4/%zz',
      'GET /api/v3',
      'OPTIONS /api/v4/users',
    ]) {
      expectSecurityHeaders(await sendRaw(ashlar.url, line), line);
    }
  });

  test('a request id is taken over when it is one, and replaced when it is not', async () => {
    const sent = await sendRaw(ashlar.url, 'GET /api/v4/users', {
      headers: { 'x-request-id': 'from-the-client.1' },
    });
    expect(sent.headers['x-request-id']).toBe('from-the-client.1');
    const wrong = await sendRaw(ashlar.url, 'GET /api/v4/users', {
      headers: { 'x-request-id': 'a b<script>' },
    });
    expect(wrong.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('a preflight is answered for every endpoint, and allows what is asked', async () => {
    await forEachOf(ashlar.app.endpoints, 4, async (spec) => {
      const headers = {
        origin: 'https://elsewhere.example',
        'access-control-request-method': spec.method,
        'access-control-request-headers': 'private-token, content-type',
      };
      const response = await sendRaw(ashlar.url, `OPTIONS ${pathOf(spec)}`, { headers });
      expect([titleOf(spec), response.status, response.headers['access-control-allow-origin']]).toEqual([
        titleOf(spec),
        200,
        '*',
      ]);
      expect(response.headers['access-control-allow-methods'], titleOf(spec)).toContain(spec.method);
      expect(response.headers['access-control-allow-headers'], titleOf(spec)).toContain('private-token');
      expect(response.headers['access-control-allow-credentials'], titleOf(spec)).toBeUndefined();
    });
  });

  test('pages of another origin may read what pages and links say', async () => {
    const { headers } = await sendRaw(ashlar.url, 'GET /api/v4/users', {
      headers: { origin: 'https://elsewhere.example' },
    });
    for (const name of [
      'Link',
      'X-Total',
      'X-Next-Page',
      'ETag',
      'RateLimit-Remaining',
      'Retry-After',
      'X-Request-Id',
    ]) {
      expect(headers['access-control-expose-headers']).toContain(name);
    }
  });
});

test('what has not changed since its ETag is 304, without a body (spec: Status codes)', async () => {
  let seen = 0;
  for (const spec of reads().filter((each) => !streamed.includes(each.path) && !issues(each))) {
    const first = await sendRaw(ashlar.url, `GET ${pathOf(spec)}`, { headers: asRoot });
    if (first.status !== 200) continue;
    const { etag } = first.headers;
    expect([titleOf(spec), typeof etag, String(etag).slice(0, 3)]).toEqual([titleOf(spec), 'string', 'W/"']);
    const headers = { ...asRoot, 'if-none-match': `"other", ${etag}` };
    const again = await sendRaw(ashlar.url, `GET ${pathOf(spec)}`, { headers });
    expect([titleOf(spec), again.status, again.text, again.headers.etag]).toEqual([
      titleOf(spec),
      304,
      '',
      etag,
    ]);
    const other = await sendRaw(ashlar.url, `GET ${pathOf(spec)}`, {
      headers: { ...asRoot, 'if-none-match': '"other"' },
    });
    expect([titleOf(spec), other.status, other.text]).toEqual([titleOf(spec), 200, first.text]);
    seen += 1;
  }
  expect(seen).toBeGreaterThan(40);
});

/** The status line and body of the response to a request line of this many bytes. */
function askLong(bytes: number): Promise<string> {
  const { hostname, port } = new URL(ashlar.url);
  return new Promise((resolve, reject) => {
    const socket = connectSocket(Number(port), hostname);
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    const start = 'GET /api/v4/users?x=';
    const end = ' HTTP/1.1';
    socket.write(
      `${start}${'x'.repeat(bytes - start.length - end.length)}${end}\r\nHost: a\r\nConnection: close\r\n\r\n`,
    );
  });
}

test.each([9_000, 16_500, 64_000, 250_000, 1_000_000])(
  'a request line of %i bytes is 414, not 431 or a reset (spec: General request rules, 2)',
  async (bytes) => {
    const text = await askLong(bytes);
    expect(text.split('\r\n')[0]).toMatch(/^HTTP\/1\.1 414 /);
    expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))).toEqual({
      message: '414 Request-URI Too Large',
    });
  },
);

test('one of 7,000 bytes is not', async () => {
  expect((await askLong(7_000)).split('\r\n')[0]).toBe('HTTP/1.1 200 OK');
});
