/** What clients get of answers that faults change: over real connections. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createFaults, type Faults } from './faults.ts';

const LIST = JSON.stringify(Array.from({ length: 20 }, (_, id) => ({ id })));
let faults: Faults;
let asked: string[] = [];
let drawn = 0;
/** In place of the usual answer. */
let answering: ((response: ServerResponse) => void) | undefined;

/** As an app answers: in several pieces, with headers of both kinds. */
function answer(request: IncomingMessage, response: ServerResponse, by: string): void {
  asked.push(`${by} ${request.method}`);
  if (answering) {
    answering(response);
    return;
  }
  response.setHeader('x-total', '20');
  response.setHeader('link', '<http://a/?page=2>; rel="next", <http://a/?page=9>; rel="last"');
  response.writeHead(200, { 'content-type': 'application/json', 'x-total-pages': '1', 'x-page': '1' });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  response.write(LIST.slice(0, 50));
  response.end(LIST.slice(50), 'utf8');
}

const server = http.createServer((request, response) => {
  faults.apply(request, response).then(({ by }) => {
    if (by !== 'nobody') answer(request, response, by);
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  faults = createFaults(() => drawn);
  asked = [];
  drawn = 0;
  answering = undefined;
});

const url = (path: string): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
const get = (path = '/api/v4/projects', init: RequestInit = {}) => fetch(url(path), init);

test('without a rule the app answers', async () => {
  const response = await get();
  expect([response.status, response.headers.get('x-total'), await response.text()]).toEqual([
    200,
    '20',
    LIST,
  ]);
  expect(asked).toEqual(['app GET']);
});

test('a status is answered, and the app not asked', async () => {
  faults.add({ route: '/projects', method: 'POST', status: 503 });
  expect((await get()).status).toBe(200);
  const refused = await get('/api/v4/projects', { method: 'POST', body: 'x'.repeat(1_000_000) });
  expect([refused.status, await refused.json()]).toEqual([503, { message: '503 Service Unavailable' }]);
  expect(asked).toEqual(['app GET']);
});

test('a connection goes on after a status, also for a body that nobody read', async () => {
  faults.add({ status: 503 });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const sockets = new Set<unknown>();
  const post = (size: number) =>
    new Promise<number | undefined>((resolve, reject) => {
      const request = http.request(url('/api/v4/projects'), { agent, method: 'POST' }, (response) => {
        sockets.add(request.socket);
        response.resume().once('end', () => resolve(response.statusCode));
      });
      request.once('error', reject).end('x'.repeat(size));
    });
  expect([await post(0), await post(1_000_000), await post(10)]).toEqual([503, 503, 503]);
  expect(sockets.size).toBe(1);
  agent.destroy();
});

test('a rule is over after its count, and is for its share', async () => {
  faults.add({ status: 500, count: 1 });
  faults.add({ status: 502, share: 0.5 });
  expect([(await get()).status, (await get()).status]).toEqual([500, 502]);
  drawn = 0.5;
  expect((await get()).status).toBe(200);
  expect(faults.list()).toEqual([{ id: 2, status: 502, share: 0.5 }]);
});

test('a throttle says when to come again', async () => {
  faults.add({ rate_limit: { limit: 5, retry_after: 7 } });
  const { status, headers } = await get();
  expect([status, headers.get('retry-after'), headers.get('ratelimit-limit')]).toEqual([429, '7', '5']);
});

test.each([
  ['before', []],
  ['after', ['app GET']],
])('a connection is cut %s the app has worked', async (cut, told) => {
  faults.add({ cut });
  await expect(get()).rejects.toThrow(/fetch failed/);
  expect(asked).toEqual(told);
});

test('a connection is cut during the answer', async () => {
  faults.add({ cut: 'during' });
  const response = await get();
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow(/terminated/);
  const head = await get('/api/v4/projects', { method: 'HEAD' }).catch(() => undefined);
  expect(head?.status ?? 200).toBe(200);
});

test('bytes come slowly, and all of them', async () => {
  faults.add({ slow: 2_000 });
  const response = await get();
  let pieces = 0;
  let text = '';
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    pieces += 1;
    text += piece;
  }
  expect(text).toBe(LIST);
  expect(pieces).toBeGreaterThan(1);
});

test('who writes what goes slowly waits until it has gone', async () => {
  faults.add({ slow: 100_000_000 });
  let asked = 0;
  const pieces = Readable.from(
    (function* () {
      for (; asked < 40; asked += 1) yield Buffer.alloc(1_000_000);
    })(),
  );
  let most = 0;
  let got = 0;
  answering = (response) => pieces.pipe(response);
  const response = await get();
  for await (const piece of response.body ?? []) {
    got += piece.length;
    most = Math.max(most, asked * 1_000_000 - got);
  }
  expect(got).toBe(40_000_000);
  expect(most).toBeLessThan(25_000_000);
});

test('a client that hangs up is not waited for', async () => {
  faults.add({ delay: 600_000 });
  const response = get('/api/v4/projects', { signal: AbortSignal.timeout(50) });
  await expect(response).rejects.toThrow(/aborted/);
  expect(asked).toEqual([]);
});

test('lists lack their totals, however the app writes them', async () => {
  faults.add({ missing_totals: true });
  const { status, headers } = await get();
  expect(status).toBe(200);
  expect(['x-total', 'x-total-pages', 'x-page', 'link'].map((name) => headers.get(name))).toEqual([
    null,
    null,
    '1',
    '<http://a/?page=2>; rel="next"',
  ]);
});

test('a copy answers reads alone', async () => {
  faults.add({ stale: true });
  await get();
  await get('/api/v4/projects', { method: 'POST' });
  expect(asked).toEqual(['copy GET', 'app POST']);
});

test('what is no rule is refused, and one that is not there', () => {
  expect(() => faults.add({ status: 700 })).toThrow('status is a whole number from 200 to 599');
  const { id } = faults.add({ status: 500 });
  faults.remove(id);
  expect(() => faults.remove(id)).toThrow(`there is no rule ${id}`);
});
