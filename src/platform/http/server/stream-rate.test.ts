/** Clients that keep a stream open and hardly move it are ended; those that wait for the server are not. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { useRoutes } from '../../../../test/support/routes-server.ts';
import { json } from '../messages.ts';
import type { Route } from './server.ts';
import { addProgress, type Progress } from './stream-rate.ts';

const rule = { bytesPerSecond: 1_024, periodMs: 60_000 };
const HOUR = 3_600_000;

/** Seconds that a client lasts, by its bytes in each second, and whether the server waited for it. */
function secondsOf(bytesIn: (second: number) => number, isWaited: (second: number) => boolean): number {
  let progress: Progress | undefined = { bytes: 0, waitedMs: 0 };
  for (let second = 1; second * 1_000 <= HOUR; second += 1) {
    const waitedMs: number = isWaited(second) ? 1_000 : 0;
    progress = addProgress(progress, { bytes: bytesIn(second), waitedMs }, rule);
    if (!progress) return second;
  }
  return Number.POSITIVE_INFINITY;
}

const always = () => true;
test.each([
  ['nothing', 60, () => 0, always],
  ['a byte in half a minute', 60, (second: number) => (second % 30 === 0 ? 1 : 0), always],
  ['a little less than it must', 60, () => 1_023, always],
  ['just what it must', Number.POSITIVE_INFINITY, () => 1_024, always],
  [
    'much once a minute',
    Number.POSITIVE_INFINITY,
    (second: number) => (second % 60 === 0 ? 65_536 : 0),
    always,
  ],
  [
    'what the buffers take at first, then nothing',
    120,
    (second: number) => (second === 1 ? 4_000_000 : 0),
    always,
  ],
  ['nothing, the server having nothing for it', Number.POSITIVE_INFINITY, () => 0, () => false],
  ['nothing, waited for half of the time', 119, () => 0, (second: number) => second % 2 === 1],
])('%s: ended after %s seconds', (_, seconds, bytesIn, isWaited) => {
  expect(secondsOf(bytesIn, isWaited)).toBe(seconds);
});

test('the time of a look that came late is judged as a whole', () => {
  const late = { bytes: 600_000, waitedMs: 10 * 60_000 };
  expect(addProgress({ bytes: 0, waitedMs: 0 }, late, rule)).toBeUndefined();
  expect(addProgress({ bytes: 14_400, waitedMs: 0 }, late, rule)).toEqual({ bytes: 0, waitedMs: 0 });
});

const PERIOD_MS = 200;
const open = new Set<Readable>();
const routes: Route[] = [
  {
    kind: 'file',
    method: 'GET',
    path: '/endless',
    async handle() {
      const body = new Readable({
        read() {
          this.push(Buffer.alloc(65_536));
        },
      });
      open.add(body);
      body.once('close', () => open.delete(body));
      return { status: 200, headers: {}, body };
    },
  },
  {
    kind: 'file',
    method: 'GET',
    path: '/large',
    handle: async () => ({ status: 200, headers: {}, body: Buffer.alloc(32 * 1_048_576) }),
  },
  {
    kind: 'file',
    method: 'GET',
    path: '/slow-server',
    handle: async () => ({ status: 200, headers: {}, body: Readable.from(slowly(), { objectMode: false }) }),
  },
  {
    kind: 'ingest',
    method: 'POST',
    path: '/read',
    async handle({ bodyStream, query }) {
      if (query === 'late') await sleep(4 * PERIOD_MS);
      let bytes = 0;
      for await (const chunk of bodyStream) bytes += chunk.length;
      return json(200, { bytes });
    },
  },
];

async function* slowly(): AsyncGenerator<Buffer> {
  for (let times = 0; times < 3; times += 1) {
    await sleep(2 * PERIOD_MS);
    yield Buffer.from('x');
  }
}

const site = useRoutes(routes, { slowestClient: { bytesPerSecond: 1_024, periodMs: PERIOD_MS } });

/** Sends the text, and reads no response. */
function send(text: string): Socket {
  const socket = connect(site.port, '127.0.0.1').on('error', () => {});
  socket.pause();
  socket.write(text);
  return socket;
}

const connections = () =>
  new Promise<number>((resolve) => site.server.getConnections((_, count) => resolve(count)));

test.each(['endless', 'large'])('who does not read is ended: %s', async (path) => {
  const socket = send(`GET /${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
  await once(site.server, 'request');
  while ((await connections()) + open.size > 0) await sleep(20);
  socket.destroy();
});

test.each([
  ['a byte now and then', 'content-length: 1000'],
  ['in chunks', 'transfer-encoding: chunked'],
])('who sends next to nothing is ended: %s', async (_, header) => {
  const socket = send(`POST /read HTTP/1.1\r\nhost: x\r\n${header}\r\n\r\n`).resume();
  const drip = setInterval(
    () => socket.write(header.includes('chunked') ? '1\r\nx\r\n' : 'x'),
    PERIOD_MS / 2,
  );
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(drip);
});

test('who waits for the server is not', async () => {
  expect(await (await fetch(`${site.url}/slow-server`)).text()).toBe('xxx');
  const body = Buffer.alloc(30_000);
  const late = await fetch(`${site.url}/read?late`, { method: 'POST', body });
  expect(await late.json()).toEqual({ bytes: 30_000 });
});
