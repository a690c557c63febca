import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { useRoutes } from '../../../../test/support/routes-server.ts';
import { readBytes } from '../bodies/body.ts';
import { json } from '../messages.ts';
import type { Route } from './server.ts';

let hungUp = 0;
let endless: Readable | undefined;

const routes: Route[] = [
  {
    kind: 'git',
    method: 'POST',
    path: '/:path+.git/echo',
    async handle({ bodyStream, params }) {
      let bytes = 0;
      for await (const chunk of bodyStream) bytes += chunk.length;
      return json(200, { bytes, path: params.path });
    },
  },
  {
    kind: 'git',
    method: 'GET',
    path: '/:path+.git/deep/*',
    handle: async ({ params, path }) => json(200, { path: params.path, rest: params['*'], asked: path }),
  },
  {
    kind: 'file',
    method: 'GET',
    path: '/endless',
    async handle({ signal }) {
      signal.addEventListener('abort', () => {
        hungUp += 1;
      });
      endless = new Readable({
        read() {
          this.push(Buffer.alloc(65_536));
        },
      });
      return { status: 200, headers: {}, body: endless };
    },
  },
  {
    kind: 'api',
    method: 'POST',
    path: '/small',
    handle: async (request) => json(200, { bytes: (await readBytes(request)).length }),
  },
];

const named = async (name: string) => json(200, { name });
const overlapping: Route[] = [
  { kind: 'api', method: 'GET', path: '/users/export', handle: () => named('export') },
  { kind: 'api', method: 'GET', path: '/users/:id', handle: () => named('user') },
  { kind: 'api', method: 'DELETE', path: '/users/:id', handle: () => named('deletion') },
  { kind: 'api', method: 'PUT', path: '/users/*', handle: () => named('any') },
];

const probe: Route = { kind: 'probe', method: 'GET', path: '/-/alive', handle: async () => json(200, {}) };
const site = useRoutes([...routes, ...overlapping, probe, { ...probe, kind: 'page', path: '/-/page' }]);

test('a streamed body has no limit and is not read before its route; others keep theirs', async () => {
  const body = Buffer.alloc(3_000_000);
  const streamed = await fetch(`${site.url}/a/b.git/echo`, { method: 'POST', body });
  expect(await streamed.json()).toEqual({ bytes: 3_000_000, path: 'a/b' });
  expect((await fetch(`${site.url}/a/b.git/echo`, { method: 'POST' })).status).toBe(200);
  expect((await fetch(`${site.url}/small`, { method: 'POST', body })).status).toBe(413);
});

test.each([
  ['/a.git/deep/x', 'a', 'x'],
  ['/a/b/c.d.git/deep/x/y', 'a/b/c.d', 'x/y'],
  ['/a%2Fb.git/deep/x', 'a/b', 'x'],
  ['//a//b.git/deep/x?q=/z.git/deep/y', 'a/b', 'x'],
  ['/a.git/deep/b.git/deep/c', 'a.git/deep/b', 'c'],
  ['/caf%C3%A9/b%252F.git/deep/x', 'café/b%2F', 'x'],
])('many segments as one: %s', async (address, path, rest) => {
  const response = await fetch(`${site.url}${address}`);
  expect(response.status).toBe(200);
  const requested = address.replace(/\?.*/, '').replace(/\/+/g, '/');
  expect(await response.json()).toEqual({ path, rest, asked: requested });
});

test('such a path has its methods, and nothing else has', async () => {
  expect((await fetch(`${site.url}/a/b.git/deep/x`, { method: 'HEAD' })).status).toBe(200);
  const wrong = await fetch(`${site.url}/a/b.git/deep/x`, { method: 'PUT' });
  expect(wrong.status).toBe(405);
  expect(wrong.headers.get('allow')).toBe('GET, HEAD');
  expect((await fetch(`${site.url}/a/b.git/deep/x`, { method: 'OPTIONS' })).status).toBe(200);
  expect((await fetch(`${site.url}/a/b.git/deeper`)).status).toBe(404);
  expect((await fetch(`${site.url}/a/b.git`)).status).toBe(404);
});

test.each([
  ['GET', '/users/export?x=1', 200, 'export'],
  ['HEAD', '/users/export', 200, undefined],
  ['DELETE', '/users/export', 405, 'GET, HEAD'],
  ['GET', '/users/7', 200, 'user'],
  ['DELETE', '/users//7/', 200, 'deletion'],
  ['PUT', '/users/7', 405, 'GET, HEAD, DELETE'],
  ['PUT', '/users/7/keys', 200, 'any'],
  ['GET', '/users/7/keys', 405, 'PUT'],
])('an address has one path, whatever the method: %s %s', async (method, address, status, expected) => {
  const response = await fetch(`${site.url}${address}`, { method });
  expect(response.status).toBe(status);
  if (status === 405) expect(response.headers.get('allow')).toBe(expected);
  else if (method !== 'HEAD') expect(await response.json()).toEqual({ name: expected });
});

test('a client that hangs up is seen, and what it was sent ends', async () => {
  const request = httpRequest(`${site.url}/endless`).end();
  const [response] = await once(request, 'response');
  response.on('error', () => {});
  request.on('error', () => {});
  request.destroy();
  for (let tries = 0; tries < 200 && !(endless?.destroyed && hungUp > 0); tries += 1) await sleep(10);
  expect(endless?.destroyed).toBe(true);
  expect(hungUp).toBe(1);
});

test('while the server stops, probes are served, and nothing else', async () => {
  const statusOf = async (path: string) => (await fetch(site.url + path)).status;
  expect([await statusOf('/-/alive'), await statusOf('/-/page')]).toEqual([200, 200]);
  site.load.close();
  expect([await statusOf('/-/alive'), await statusOf('/-/page')]).toEqual([200, 503]);
});
