/** Fetches from and pushes to a plain git server on loopback, by the client for calls to other servers. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Fault, type GitServer, startGitServer } from '../../../../test/support/git-server.ts';
import { makeHistory } from '../../../../test/support/shaped-history.ts';
import { startWebServer } from '../../../../test/support/web-server.ts';
import { gitText } from '../../../platform/git/program/program.ts';
import { fetchFrom, pushTo } from '../../../platform/git/remotes/remotes.ts';
import { createRepository } from '../../../platform/git/write.ts';
import { createOutbound } from '../../../platform/outbound/outbound.ts';
import { type Bounds, openRemote, usualBounds } from './connection.ts';

const root = mkdtempSync(join(tmpdir(), 'ashlar-remotes-'));
const outbound = createOutbound({ http: '', https: '', none: '' });
const bounds: Bounds = { ...usualBounds, bytes: 10_000_000 };
let server: GitServer;
let fault: Fault | undefined;
let credentials: string | undefined;
let made = 0;

beforeAll(async () => {
  server = await startGitServer({ fault: () => fault, credentials: () => credentials });
});
beforeEach(() => {
  made++;
});
afterEach(() => {
  fault = undefined;
  credentials = undefined;
});
afterAll(async () => {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

const open = (
  service: 'upload-pack' | 'receive-pack',
  {
    given,
    allowLocal = true,
    ...changed
  }: Partial<Bounds> & { given?: { user: string; password: string }; allowLocal?: boolean } = {},
  url = `${server.url}/${made}.git`,
) =>
  openRemote({ url, credentials: given }, service, {
    outbound,
    rules: { allowLocal, allowlist: [] },
    bounds: { ...bounds, ...changed },
    signal: AbortSignal.timeout(30_000),
  });
const signal = () => AbortSignal.timeout(30_000);

/** A repository of the server's with two branches, and an empty one here. */
async function bothSides() {
  const there = await server.make(`${made}.git`);
  const ids = await makeHistory(there, [
    { name: 'main', files: { a: '1' } },
    { name: 'side', parents: ['main'], files: { b: '2' } },
  ]);
  const here = join(root, `${made}.git`);
  await createRepository(here, 'main');
  return { there, here, ids };
}

const refsOf = (folder: string) => gitText(['for-each-ref', '--format=%(refname) %(objectname)'], { folder });

test('fetches what a remote has, and then only what is new', async () => {
  const { there, here, ids } = await bothSides();
  const remote = await open('upload-pack');
  expect(remote.advertisement.head).toBe('refs/heads/main');
  expect(Object.fromEntries(remote.advertisement.refs)).toEqual({
    'refs/heads/main': ids.main,
    'refs/heads/side': ids.side,
  });
  await fetchFrom(here, [...remote.advertisement.refs.keys()], remote, signal());
  expect(await gitText(['cat-file', '-t', ids.side ?? ''], { folder: here })).toBe('commit\n');
  expect(await refsOf(here)).toBe('');
  await gitText(['update-ref', 'refs/heads/side', ids.side ?? ''], { folder: here });
  const more = await makeHistory(there, [
    { name: 'main', files: { a: '1' } },
    { name: 'side', parents: ['main'], files: { b: '2' } },
    { name: 'next', parents: ['side'], files: { c: '3' } },
  ]);
  const again = await open('upload-pack');
  await fetchFrom(here, ['refs/heads/next'], again, signal());
  expect(await gitText(['rev-list', '--count', more.next ?? ''], { folder: here })).toBe('3\n');
  // What is there already costs no request.
  const before = server.asked.length;
  await fetchFrom(here, ['refs/heads/side'], again, signal());
  expect(server.asked.length).toBe(before);
});

test('pushes new, changed and deleted refs, and tells which were refused', async () => {
  const { there, here } = await bothSides();
  const ids = await makeHistory(here, [
    { name: 'main', files: { z: '9' } },
    { name: 'new', parents: ['main'], files: { y: '8' } },
  ]);
  const remote = await open('receive-pack');
  const refused = await pushTo(
    here,
    [
      { ref: 'refs/heads/main', after: ids.main },
      { ref: 'refs/heads/new', after: ids.new },
      { ref: 'refs/heads/side', after: undefined },
    ],
    remote,
    signal(),
  );
  expect([...refused]).toEqual([]);
  expect(await refsOf(there)).toBe(await refsOf(here));
  await gitText(['config', 'receive.denyDeletes', 'true'], { folder: there });
  const next = await open('receive-pack');
  const some = await pushTo(
    here,
    [
      { ref: 'refs/heads/new', after: undefined },
      { ref: 'refs/heads/third', after: ids.new },
    ],
    next,
    signal(),
  );
  expect([...some]).toEqual([['refs/heads/new', 'deletion prohibited']]);
  expect(await refsOf(there)).toContain('refs/heads/third');
});

test('what is large goes in pieces', async () => {
  const there = await server.make(`${made}.git`);
  const here = join(root, `${made}.git`);
  await createRepository(here, 'main');
  const noise = randomBytes(2_000_000).toString('hex');
  const { main } = await makeHistory(here, [{ name: 'main', files: { large: noise } }]);
  const remote = await open('receive-pack');
  const refused = await pushTo(here, [{ ref: 'refs/heads/main', after: main }], remote, signal());
  expect([...refused]).toEqual([]);
  expect(await refsOf(there)).toBe(await refsOf(here));
  const back = join(root, `${made}-back.git`);
  await createRepository(back, 'main');
  await fetchFrom(back, ['refs/heads/main'], await open('upload-pack'), signal());
  expect(await gitText(['cat-file', '-s', `${main}:large`], { folder: back })).toBe(`${noise.length}\n`);
});

test('an empty repository has nothing', async () => {
  await server.make(`${made}.git`);
  expect((await open('upload-pack')).advertisement.refs.size).toBe(0);
  expect((await open('receive-pack')).advertisement.refs.size).toBe(0);
});

test('names and passwords go as a header, and are needed', async () => {
  await bothSides();
  credentials = 'ada:s3cret/ü';
  await expect(open('upload-pack')).rejects.toThrow('refused the access');
  const remote = await open('upload-pack', { given: { user: 'ada', password: 's3cret/ü' } });
  expect(remote.advertisement.refs.size).toBe(2);
});

test.each<[string, Partial<Bounds> & { allowLocal?: boolean }, string, Fault | undefined]>([
  ['an address of this network', { allowLocal: false }, 'is blocked', undefined],
  ['too many refs', { refs: 1 }, 'more than 1 branches and tags', undefined],
  [
    'a redirect',
    {},
    'leads elsewhere',
    (_, reply) => {
      reply.writeHead(302, { location: 'http://elsewhere.invalid/' }).end();
      return true;
    },
  ],
  [
    'a page of the web',
    {},
    'not one of a git server',
    (_, reply) => {
      reply.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
      return true;
    },
  ],
  [
    'a connection that is cut',
    {},
    'could not be reached',
    (request) => {
      request.socket.destroy();
      return true;
    },
  ],
  ['silence', { silenceMs: 300 }, 'could not be reached', () => true],
])('%s is no remote', async (_, changed, words, broken) => {
  await bothSides();
  fault = broken;
  await expect(open('upload-pack', changed)).rejects.toThrow(words);
});

/** Answers requests for objects in its own way. */
const answering =
  (answer: Fault): Fault =>
  (request, reply) =>
    request.method === 'POST' && answer(request, reply);
const result = { 'content-type': 'application/x-git-upload-pack-result' };

test.each<[string, Partial<Bounds>, string, Fault | undefined]>([
  ['more than is allowed', { bytes: 100 }, 'larger than is allowed', undefined],
  [
    'an answer that ends in the midst',
    {},
    'could not be reached',
    answering((_, reply) => {
      reply.writeHead(200, result).write('0008NAK\nPACK');
      setTimeout(() => reply.destroy(), 50);
      return true;
    }),
  ],
  [
    'an answer with nothing in it',
    { silenceMs: 500 },
    'ends too early',
    answering((_, reply) => {
      reply.writeHead(200, result).end();
      return true;
    }),
  ],
  [
    'a pack of nonsense',
    {},
    'bad pack header',
    answering((_, reply) => {
      reply.writeHead(200, result).end('0008NAK\n0010\x01nonsense!!!0000');
      return true;
    }),
  ],
  [
    'a trickle',
    { slowest: { bytesPerSecond: 1_000, afterMs: 200 } },
    'too slow',
    answering((_, reply) => {
      reply.writeHead(200, result).write('0008NAK\n');
      const trickle = setInterval(() => reply.write('0005\x02'), 50);
      reply.once('close', () => clearInterval(trickle));
      return true;
    }),
  ],
  [
    'a failure of the server',
    {},
    'answered with 503',
    answering((_, reply) => {
      reply.writeHead(503).end();
      return true;
    }),
  ],
])('%s ends a fetch', async (_, changed, words, broken) => {
  const { here, ids } = await bothSides();
  fault = broken;
  const remote = await open('upload-pack', changed);
  await expect(fetchFrom(here, ['refs/heads/side'], remote, signal())).rejects.toThrow(words);
  fault = undefined;
  // What was left does no harm.
  const again = await open('upload-pack');
  await fetchFrom(here, ['refs/heads/side'], again, signal());
  expect(await gitText(['cat-file', '-t', ids.side ?? ''], { folder: here })).toBe('commit\n');
});

test('a server leads to its own other address once, and to no other server', async () => {
  const { here, ids } = await bothSides();
  const elsewhere = await startWebServer((_, reply) => reply.end());
  let to = (path: string) => path.replace('/alias', `/${made}.git`);
  fault = (request, reply) => {
    if (!request.url?.startsWith('/alias')) return false;
    reply.writeHead(301, { location: to(request.url) }).end();
    return true;
  };
  const given = { user: 'ada', password: 's3cret' };
  credentials = 'ada:s3cret';
  const remote = await open('upload-pack', { given }, `${server.url}/alias`);
  await fetchFrom(here, ['refs/heads/side'], remote, signal());
  expect(await gitText(['cat-file', '-t', ids.side ?? ''], { folder: here })).toBe('commit\n');
  for (const other of [
    (path: string) => `${elsewhere.url}${path}`,
    (path: string) => path,
    (path: string) => `/${made}.git${path.replace('/alias', '').replace('upload', 'receive')}`,
    () => `//ada@127.0.0.1:${server.port}/${made}.git/info/refs?service=git-upload-pack`,
  ]) {
    to = other;
    await expect(open('upload-pack', { given }, `${server.url}/alias`)).rejects.toThrow('leads elsewhere');
  }
  expect(elsewhere.received).toEqual([]);
  await elsewhere.stop();
});

test('a redirect of a request takes nothing elsewhere', async () => {
  const { here } = await bothSides();
  const elsewhere = await startWebServer((__, reply) => reply.end());
  const remote = await open('upload-pack');
  fault = answering((_, reply) => {
    reply.writeHead(307, { location: elsewhere.url }).end();
    return true;
  });
  await expect(fetchFrom(here, ['refs/heads/side'], remote, signal())).rejects.toThrow('leads elsewhere');
  expect(elsewhere.received).toEqual([]);
  await elsewhere.stop();
});
