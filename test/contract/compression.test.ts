/**
 * Compressed and uncompressed responses on the wire: the server's rule first, then the program's own
 * responses.
 */
import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { json } from '../../src/platform/http/messages.ts';
import { compress, preferredCoding } from '../../src/platform/http/server/compression.ts';
import { ROOT_PASSWORD, ROOT_TOKEN, useApp } from '../support/app.ts';
import { hiddenFields, openBrowser, signInAs } from '../support/browser.ts';
import { bodyOf, makeProject, uniqueName } from '../support/factories.ts';

const LONG = 'a title that says little, and says it again. '.repeat(40);
const FILE = Buffer.from(JSON.stringify({ title: LONG }));

const app = useApp({
  instead: () => ({
    name: 'custom-attributes',
    tables: [],
    endpoints: [],
    routes: [
      ...(['GET', 'POST'] as const).map((method) => ({
        kind: 'api' as const,
        method,
        path: '/record',
        handle: async () => json(200, { title: LONG }),
      })),
      {
        kind: 'api',
        method: 'GET',
        path: '/short',
        handle: async () => json(200, { title: LONG.slice(0, 900) }),
      },
      ...[
        ['/bytes', () => FILE] as const,
        ['/stream', () => Readable.from([FILE])] as const,
        ['/large', () => `"${LONG.repeat(1000)}"`] as const,
      ].map(([path, body]) => ({
        kind: 'api' as const,
        method: 'GET' as const,
        path,
        handle: async () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: body() }),
      })),
      {
        kind: 'static',
        method: 'GET',
        path: '/document',
        handle: async () => ({ status: 200, headers: {}, body: FILE, sameForAll: true as const }),
      },
    ],
  }),
});

type Received = { status: number; headers: IncomingHttpHeaders; bytes: Buffer; text: string };

const decoders: Record<string, (bytes: Buffer) => Buffer> = { br: brotliDecompressSync, gzip: gunzipSync };

/** As it is on the wire: a client of Node's own would decode it, and say nothing. */
async function get(
  path: string,
  headers: Record<string, string> = {},
  options: { method?: string; body?: string } = {},
): Promise<Received> {
  const request = httpRequest(`${app.url}${path}`, { method: options.method ?? 'GET', headers });
  request.end(options.body);
  const [response] = await once(request, 'response');
  const bytes = await buffer(response);
  const decode = decoders[response.headers['content-encoding'] ?? ''];
  const text = (decode && bytes.length > 0 ? decode(bytes) : bytes).toString();
  return { status: response.statusCode, headers: response.headers, bytes, text };
}

const takesAll = { 'accept-encoding': 'gzip, deflate, br' };
const codingOf = ({ headers }: Received) => headers['content-encoding'];

test.each<[string | undefined, string | undefined]>([
  [undefined, undefined],
  ['', undefined],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['BR ; Q=1', 'br'],
  ['gzip;q=0', undefined],
  ['br;q=0, *', 'gzip'],
  ['*', 'gzip'],
  ['*;q=0', undefined],
  ['identity, gzip;q=0.5', undefined],
  ['identity;q=0.5, gzip', 'gzip'],
  ['deflate', undefined],
  ['gzip;q=nonsense', undefined],
  [',,;q=1,gzip', 'gzip'],
])('Accept-Encoding: %s is answered in %s', (header, coding) => {
  expect(preferredCoding(header)).toBe(coding);
});

describe('an answer that may be compressed', () => {
  test.each(['br', 'gzip'])(
    'is the same in %s, with its own length, and says that it varies',
    async (coding) => {
      const plain = await get('/record');
      const packed = await get('/record', { 'accept-encoding': coding });
      expect(codingOf(packed)).toBe(coding);
      expect(packed.text).toBe(plain.text);
      expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 2);
      expect(packed.headers['content-length']).toBe(String(packed.bytes.length));
      for (const name of ['etag', 'vary', 'content-type', 'cache-control', 'x-content-type-options'])
        expect(packed.headers[name], name).toBe(plain.headers[name]);
      expect(codingOf(plain)).toBeUndefined();
      expect(plain.headers.vary).toBe('Origin, Accept-Encoding');
    },
  );

  test('HEAD has the headers of GET, in the coding and plain', async () => {
    for (const headers of [takesAll, {}]) {
      const whole = await get('/record', headers);
      const head = await get('/record', headers, { method: 'HEAD' });
      expect(head.bytes.length).toBe(0);
      for (const name of ['content-length', 'content-encoding', 'content-type', 'etag', 'vary'])
        expect(head.headers[name], name).toBe(whole.headers[name]);
    }
  });

  test('a tag that was given with one coding is known with every other: 304, which varies too', async () => {
    const { etag = '' } = (await get('/record', takesAll)).headers;
    expect(etag).toMatch(/^W\//);
    for (const accepted of ['gzip', 'br', 'identity']) {
      const same = await get('/record', { 'if-none-match': etag, 'accept-encoding': accepted });
      expect([same.status, same.bytes.length, codingOf(same)]).toEqual([304, 0, undefined]);
      expect(same.headers.vary).toBe('Origin, Accept-Encoding');
    }
  });

  test('is sent plain, and at once, while others are being compressed', async () => {
    const body = LONG.repeat(1000);
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => compress(body, 'gzip')));
    expect([first, second, third].map((packed) => packed !== undefined)).toEqual([true, true, false]);
    expect(await compress(body, 'gzip')).toEqual(first);
  });

  test('of many at once each is whole', async () => {
    const plain = await get('/large');
    const all = await Promise.all(Array.from({ length: 12 }, () => get('/large', takesAll)));
    for (const received of all) expect(received.text).toBe(plain.text);
    expect(all.map(codingOf)).toContain('br');
  });
});

describe('an answer whose length must not tell', () => {
  test.each<[string, string, Record<string, string>, string]>([
    ['a cookie goes with the request', '/record', { cookie: 'any=1' }, 'GET'],
    ['a password of HTTP goes with it', '/record', { authorization: 'Basic cm9vdDp4' }, 'GET'],
    ['it answers a write', '/record', {}, 'POST'],
    ['it is short', '/short', {}, 'GET'],
    ['it is a file', '/bytes', {}, 'GET'],
    ['it is a stream', '/stream', {}, 'GET'],
  ])('is plain where %s', async (_, path, headers, method) => {
    const received = await get(path, { ...takesAll, ...headers }, { method });
    expect([received.status, codingOf(received)]).toEqual([200, undefined]);
    expect(received.headers.vary).toBe('Origin');
    expect(received.text).toContain('a title that says little');
  });

  test('nothing is secret in a document that is the same for all', async () => {
    for (const headers of [{}, { cookie: 'any=1' }, { authorization: 'Basic cm9vdDp4' }])
      expect(codingOf(await get('/document', { ...takesAll, ...headers }))).toBe('br');
  });
});

describe('the program', () => {
  const root = { 'private-token': ROOT_TOKEN };
  let cookie = '';
  beforeAll(async () => {
    const browser = openBrowser(app);
    await signInAs(browser, 'root', ROOT_PASSWORD);
    cookie = browser.cookieHeader();
    await makeProject(app, { description: LONG });
  });

  test.each([
    ['records', '/api/v4/projects', root],
    ['records for a bearer', '/api/v4/projects', { authorization: `Bearer ${ROOT_TOKEN}` }],
    ['a page without a session', '/users/sign_in', {}],
  ])('compresses %s', async (_, path, headers) => {
    const packed = await get(path, { ...headers, ...takesAll });
    expect([packed.status, codingOf(packed)]).toEqual([200, 'br']);
    expect(packed.text).toBe((await get(path, headers)).text);
  });

  test.each([['/api/v4/openapi.json'], ['/api/docs'], ['/-/style.css']])(
    'compresses %s for all, who get the same',
    async (path) => {
      const strangers = await get(path, takesAll);
      const own = await get(path, { ...takesAll, cookie });
      expect([codingOf(strangers), codingOf(own)]).toEqual(['br', 'br']);
      expect(own.text).toBe(strangers.text);
    },
  );

  test('compresses no page with the token of a session, whatever the path', async () => {
    const pages = app.app.routes.filter(
      ({ method, path }) => method === 'GET' && !path.includes(':') && !path.includes('*'),
    );
    let withToken = 0;
    for (const { path } of pages) {
      const shown = await get(path, { ...takesAll, cookie });
      if (!/csrf-token|authenticity_token/.test(shown.text)) continue;
      withToken += 1;
      expect(codingOf(shown), path).toBeUndefined();
    }
    expect(withToken).toBeGreaterThan(10);
  });

  test('compresses no record for a session, which a browser adds by itself', async () => {
    const shown = await get('/api/v4/projects', { ...takesAll, cookie });
    expect([shown.status, codingOf(shown)]).toEqual([200, undefined]);
  });

  test('compresses no answer that shows a fresh token beside what was sent', async () => {
    const name = LONG.slice(0, 250).trim();
    const write = async (path: string, form: Record<string, string>, headers: Record<string, string>) => {
      const body = new URLSearchParams(form).toString();
      const type = { 'content-type': 'application/x-www-form-urlencoded' };
      return get(path, { ...takesAll, ...type, ...headers }, { method: 'POST', body });
    };
    const grant = { grant_type: 'password', username: 'root', password: ROOT_PASSWORD };
    const application = {
      name: uniqueName('app'),
      redirect_uri: `https://a.example/${'x'.repeat(1500)}`,
      scopes: 'api',
    };
    const page = await get('/-/profile/password', { cookie });
    const csrf = hiddenFields(page.text, '/users/sign_out').authenticity_token ?? '';
    for (const shown of [
      await write('/oauth/token', grant, {}),
      await write('/api/v4/users/1/personal_access_tokens', { name, 'scopes[]': 'api' }, root),
      await write('/api/v4/applications', application, root),
      await write('/-/profile/password', { authenticity_token: csrf, current_password: LONG }, { cookie }),
    ]) {
      expect(shown.status).toBeLessThan(500);
      expect(shown.status).not.toBe(404);
      expect(codingOf(shown)).toBeUndefined();
    }
  });

  test('leaves files of a repository, and what git is sent, as they are', async () => {
    const project = await makeProject(app, { initialize_with_readme: true, visibility: 'public' });
    const body = { branch: 'main', content: LONG, commit_message: 'Add a long file' };
    bodyOf(await app.root(`POST /projects/${project.id}/repository/files/long.json`, { body }), 201);
    for (const path of [
      `/api/v4/projects/${project.id}/repository/files/long.json/raw`,
      `/api/v4/projects/${project.id}/repository/archive.tar`,
      `/${project.path_with_namespace}.git/info/refs?service=git-upload-pack`,
    ]) {
      const sent = await get(path, takesAll);
      expect([sent.status, codingOf(sent)], path).toEqual([200, undefined]);
    }
    const record = `/api/v4/projects/${project.id}/repository/files/long.json?ref=main`;
    expect(codingOf(await get(record, takesAll))).toBe('br');
  });
});
