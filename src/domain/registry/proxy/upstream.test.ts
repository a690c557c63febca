/** The dependency proxy before registries that are slow, limit, lie, redirect or end in the middle. */
import type { ServerResponse } from 'node:http';
import { get } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { blobFiles, isStored } from '../../../../test/support/blobs.ts';
import { bodyOf, type MadeGroup, makeGroup, makeMembers } from '../../../../test/support/factories.ts';
import {
  askToken,
  type Credentials,
  IMAGE_MANIFEST,
  imageOf,
  sha256Of,
} from '../../../../test/support/registry.ts';
import { until } from '../../../../test/support/waiting.ts';
import { type Received, startWebServer, type WebServer } from '../../../../test/support/web-server.ts';

const app = useApp();
let upstream: WebServer;
let elsewhere: WebServer;
let respond: (request: Received, reply: ServerResponse) => void;
/** What answers elsewhere. */
let asked: typeof respond;
let group: MadeGroup;
let guest: Credentials;
let prefix: string;

const setUp = async (body: Record<string, unknown>) =>
  bodyOf(await app.root('PUT /application/settings', { body }), 200);
const errorsOf = (text: string): string[] =>
  (JSON.parse(text) as { errors: { code: string }[] }).errors.map(({ code }) => code);
const manifest = JSON.stringify(imageOf(['layer']));
const sendManifest = (reply: ServerResponse, text = manifest, headers: Record<string, string> = {}) =>
  reply
    .writeHead(200, { 'content-type': IMAGE_MANIFEST, 'docker-content-digest': sha256Of(text), ...headers })
    .end(text);

async function headersFor(name = 'team/image', credentials = guest): Promise<Record<string, string>> {
  const { token } = await askToken(
    app,
    credentials,
    [`repository:${prefix}/${name}:pull`],
    'dependency_proxy',
  );
  return { authorization: `Bearer ${token}` };
}
/** `METHOD path` of the image. */
async function pull(line: string): Promise<{ status: number; text: string; headers: Headers }> {
  const [method = 'GET', path = ''] = line.split(' ');
  const response = await fetch(`${app.url}/v2/${prefix}/team/image/${path}`, {
    method,
    headers: await headersFor(),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}
const outcome = async (line: string) => {
  const { status, text } = await pull(line);
  return [status, ...errorsOf(text)];
};

/** A client that reads as it comes: what has arrived, and how it ended. */
async function open(path: string) {
  const headers = await headersFor();
  let text = '';
  let ended: 'whole' | 'cut' | undefined;
  let status: number | undefined;
  const request = get(`${app.url}/v2/${prefix}/team/image/${path}`, { headers }, (response) => {
    status = response.statusCode;
    response.setEncoding('utf8');
    response.on('data', (piece: string) => {
      text += piece;
    });
    response.on('end', () => {
      ended = 'whole';
    });
    response.on('error', () => {
      ended = 'cut';
    });
  });
  request.on('error', () => {
    ended = 'cut';
  });
  return { text: () => text, ended: () => ended, status: () => status, leave: () => request.destroy() };
}

beforeAll(async () => {
  upstream = await startWebServer((request, reply) => respond(request, reply));
  elsewhere = await startWebServer((request, reply) => asked(request, reply));
});
afterAll(async () => {
  await upstream.stop();
  await elsewhere.stop();
});

beforeEach(async () => {
  group = await makeGroup(app);
  const { guest: user } = await makeMembers(app, `groups/${group.id}`, 'guest');
  guest = { username: user.username, password: user.token };
  prefix = `${group.full_path.toLowerCase()}/dependency_proxy/containers`;
  upstream.received.splice(0);
  elsewhere.received.splice(0);
  asked = ({ headers, path }, reply) => {
    if (path === '/once-more') reply.writeHead(302, { location: 'http://10.0.0.1/' }).end();
    else reply.end(headers.authorization === undefined ? 'layer' : 'a secret was told');
  };
  await setUp({
    dependency_proxy_enabled: true,
    dependency_proxy_upstream_url: `${upstream.url}/`,
    outbound_local_requests_allowlist: ['127.0.0.1'],
  });
});

test('this network is reached where the rules for outgoing calls allow it', async () => {
  respond = (_, reply) => void sendManifest(reply);
  await setUp({ outbound_local_requests_allowlist: [] });
  expect(await outcome('GET manifests/v1')).toEqual([503, 'UNAVAILABLE']);
  expect(await outcome(`GET blobs/${sha256Of('layer')}`)).toEqual([503, 'UNAVAILABLE']);
  expect(upstream.received).toEqual([]);
  await setUp({ outbound_local_requests_allowlist: ['127.0.0.1'] });
  expect((await pull('GET manifests/v1')).text).toBe(manifest);
  expect(upstream.received.map(({ path }) => path)).toEqual(['/v2/team/image/manifests/v1']);
  for (const url of ['file:///etc/passwd', 'http://me:pass@x.example', 'https://x.example/?a=1', '']) {
    const body = { dependency_proxy_upstream_url: url };
    expect((await app.root('PUT /application/settings', { body })).status).toBe(400);
  }
});

test('a token is got by what the 401 says, with the credentials of the group, which go nowhere else', async () => {
  respond = ({ headers, path }, reply) => {
    if (path.startsWith('/token')) return void reply.end('{"token":"for-pulls"}');
    if (headers.authorization !== 'Bearer for-pulls')
      return void reply
        .writeHead(401, { 'www-authenticate': `Bearer realm="${upstream.url}/token",service="s&x"` })
        .end();
    return void reply.writeHead(307, { location: `${elsewhere.url}/layer` }).end();
  };
  const path = `PUT /groups/${group.id}/dependency_proxy/settings`;
  bodyOf(await app.root(path, { body: { identity: 'me', secret: 'a:b' } }), 200);
  expect((await pull(`GET blobs/${sha256Of('layer')}`)).text).toBe('layer');
  const token = upstream.received.find((request) => request.path.startsWith('/token'));
  expect(token?.path).toBe('/token?service=s%26x&scope=repository%3Ateam%2Fimage%3Apull');
  expect(token?.headers.authorization).toBe(`Basic ${btoa('me:a:b')}`);
  expect(elsewhere.received.map(({ path: at, headers }) => [at, headers.authorization])).toEqual([
    ['/layer', undefined],
  ]);
  // One token is enough to ask for a tag and, where it is another manifest, to pull it.
  respond = ({ headers, path: at }, reply) =>
    void (at.startsWith('/token')
      ? reply.end('{"access_token":"for-pulls"}')
      : headers.authorization === 'Bearer for-pulls'
        ? sendManifest(reply, JSON.stringify({ schemaVersion: 2, at: upstream.received.length }))
        : reply.writeHead(401, { 'www-authenticate': `Bearer realm="${upstream.url}/token"` }).end());
  expect((await pull('GET manifests/moves')).status).toBe(200);
  upstream.received.splice(0);
  expect((await pull('GET manifests/moves')).status).toBe(200);
  expect(upstream.received.map(({ method, path: at }) => `${method} ${at.split('?')[0]}`)).toEqual([
    'HEAD /v2/team/image/manifests/moves',
    'GET /token',
    'HEAD /v2/team/image/manifests/moves',
    'GET /v2/team/image/manifests/moves',
  ]);
  // Tokens that are none.
  respond = ({ path: at }, reply) =>
    void (at.startsWith('/token')
      ? reply.end('{"token":"a\\r\\nb"}')
      : reply.writeHead(401, { 'www-authenticate': `Bearer realm="${upstream.url}/token"` }).end());
  expect(await outcome('GET manifests/v1')).toEqual([503, 'UNAVAILABLE']);
  respond = (_, reply) => void reply.writeHead(401, { 'www-authenticate': 'Bearer realm="file:///x"' }).end();
  expect(await outcome('GET manifests/v1')).toEqual([503, 'UNAVAILABLE']);
  respond = (_, reply) => void reply.writeHead(401).end();
  expect(await outcome('GET manifests/v1')).toEqual([404, 'MANIFEST_UNKNOWN']);
  respond = ({ headers }, reply) =>
    void (headers.authorization === `Basic ${btoa('me:a:b')}`
      ? sendManifest(reply)
      : reply.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end());
  expect((await pull('GET manifests/v1')).text).toBe(manifest);
});

test.each([
  ['Bearer', () => `Bearer realm="${elsewhere.url}/token"`],
  ['Basic', () => 'Basic realm="x"'],
])('a host that a redirect names learns no credentials by a %s challenge', async (_, challenge) => {
  const path = `PUT /groups/${group.id}/dependency_proxy/settings`;
  bodyOf(await app.root(path, { body: { identity: 'me', secret: 'secret' } }), 200);
  asked = ({ path: at }, reply) => {
    if (at === '/token') reply.end('{"token":"for-pulls"}');
    else reply.writeHead(401, { 'www-authenticate': challenge() }).end();
  };
  respond = (__, reply) => void reply.writeHead(307, { location: `${elsewhere.url}/layer` }).end();
  expect(await outcome('GET manifests/v1')).toEqual([404, 'MANIFEST_UNKNOWN']);
  for (const method of ['GET', 'HEAD'])
    expect((await pull(`${method} blobs/${sha256Of('layer')}`)).status).toBe(404);
  const told = [...elsewhere.received, ...upstream.received];
  expect(told.map(({ path: at, headers }) => [at.split('/').at(-1), headers.authorization])).toEqual([
    ...Array.from({ length: 3 }, () => ['layer', undefined]),
    ['v1', undefined],
    ...Array.from({ length: 2 }, () => [sha256Of('layer'), undefined]),
  ]);
});

test.each([
  ['this network', 'http://10.0.0.1/x'],
  ["a cloud's metadata", 'http://169.254.169.254/latest/meta-data'],
  ['a file', 'file:///etc/passwd'],
  ['a place that leads there', '/once-more'],
])('a redirect to %s is not followed', async (_, location) => {
  const to = location.startsWith('/') ? `${elsewhere.url}${location}` : location;
  respond = (__, reply) => void reply.writeHead(307, { location: to }).end();
  for (const line of ['GET manifests/v1', `GET blobs/${sha256Of('layer')}`])
    expect(await outcome(line)).toEqual([503, 'UNAVAILABLE']);
});

test('who is limited, or finds nobody, gets what is kept; who has nothing kept learns why', async () => {
  respond = (_, reply) => void sendManifest(reply);
  expect((await pull('GET manifests/kept')).status).toBe(200);
  for (const status of [429, 500, 503]) {
    respond = (_, reply) => void reply.writeHead(status).end('no');
    expect((await pull('GET manifests/kept')).text).toBe(manifest);
    expect(await outcome('GET manifests/other')).toEqual(
      status === 429 ? [429, 'TOOMANYREQUESTS'] : [503, 'UNAVAILABLE'],
    );
    expect(await outcome(`GET blobs/${sha256Of('layer')}`)).toEqual(
      status === 429 ? [429, 'TOOMANYREQUESTS'] : [503, 'UNAVAILABLE'],
    );
  }
  // Asking is free, pulling is limited: another manifest is there, and cannot be had.
  respond = ({ method }, reply) =>
    void (method === 'HEAD'
      ? reply.writeHead(200, { 'content-type': IMAGE_MANIFEST, 'docker-content-digest': sha256Of('x') }).end()
      : reply.writeHead(429).end());
  expect((await pull('GET manifests/kept')).text).toBe(manifest);
  respond = (_, reply) => void reply.destroy();
  expect((await pull('GET manifests/kept')).text).toBe(manifest);
  upstream.received.splice(0);
  expect((await pull(`GET manifests/${sha256Of(manifest)}`)).text).toBe(manifest);
  expect(upstream.received).toEqual([]);
});

test('an image of one segment is that of the registry behind', async () => {
  respond = ({ path }, reply) =>
    void (path === '/v2/alpine/manifests/3' ? sendManifest(reply) : reply.writeHead(404).end());
  const response = await fetch(`${app.url}/v2/${prefix}/alpine/manifests/3`, {
    headers: await headersFor('alpine'),
  });
  expect([response.status, await response.text()]).toEqual([200, manifest]);
});

test('a manifest is one that it says to be', async () => {
  const cases: [string, (reply: ServerResponse) => unknown][] = [
    ['another digest', (reply) => sendManifest(reply, manifest, { 'docker-content-digest': sha256Of('x') })],
    ['a page', (reply) => sendManifest(reply, manifest, { 'content-type': 'text/html' })],
    ['5 MB', (reply) => sendManifest(reply, ' '.repeat(5_000_000))],
    [
      'cut off',
      (reply) =>
        reply
          .writeHead(200, { 'content-type': IMAGE_MANIFEST, 'content-length': '99999' })
          .write(manifest, () => reply.destroy()),
    ],
  ];
  for (const [what, send] of cases) {
    respond = (_, reply) => void send(reply);
    expect([what, ...(await outcome('GET manifests/v1'))]).toEqual([what, 503, 'UNAVAILABLE']);
  }
  respond = (_, reply) => void sendManifest(reply);
  expect(await outcome(`GET manifests/${sha256Of('x')}`)).toEqual([503, 'UNAVAILABLE']);
  const large = JSON.stringify({ schemaVersion: 2, layers: [], pad: 'x'.repeat(4_000_000) });
  respond = (_, reply) => void sendManifest(reply, large);
  expect((await pull('GET manifests/large')).text).toBe(large);
});

test('one download serves all who ask meanwhile, each from its first byte on', async () => {
  const layer = 'abcdefghij'.repeat(10_000);
  const half = layer.length / 2;
  let sending: ServerResponse | undefined;
  respond = (_, reply) => {
    sending = reply;
    reply.writeHead(200, { 'content-length': String(layer.length) });
    reply.write(layer.slice(0, half));
  };
  const path = `blobs/${sha256Of(layer)}`;
  const clients = await Promise.all(Array.from({ length: 5 }, () => open(path)));
  await until(() => clients.every(({ text }) => text().length === half - 1), 'no half arrives');
  const late = await open(path);
  await until(() => late.text().length === half - 1, 'the late one gets no half');
  expect(isStored(app, layer)).toBe(false);
  clients[0]?.leave();
  sending?.end(layer.slice(half));
  const rest = [...clients.slice(1), late];
  await until(() => rest.every(({ ended }) => ended() === 'whole'), 'they do not end');
  for (const { text } of rest) expect(text()).toBe(layer);
  expect(upstream.received).toHaveLength(1);
  expect(isStored(app, layer)).toBe(true);
});

test.each([
  ['is cut off', (reply: ServerResponse) => void reply.destroy()],
  ['is not what it was called', (reply: ServerResponse) => void reply.end('y'.repeat(50_000))],
])('a blob that %s is cut for its clients, and nothing of it is kept', async (_, end) => {
  const layer = 'x'.repeat(100_000);
  const before = blobFiles(app);
  let sending: ServerResponse | undefined;
  respond = (__, reply) => {
    sending = reply;
    reply.writeHead(200, { 'content-length': String(layer.length) });
    reply.write(layer.slice(0, 50_000));
  };
  const clients = [await open(`blobs/${sha256Of(layer)}`), await open(`blobs/${sha256Of(layer)}`)];
  await until(() => clients.every(({ text }) => text().length > 0), 'nothing arrives');
  if (sending) end(sending);
  await until(() => clients.every(({ ended }) => ended() === 'cut'), 'they do not end');
  for (const { text, status } of clients) {
    expect(status()).toBe(200);
    expect(text().length).toBeLessThan(layer.length);
  }
  await until(() => blobFiles(app).length === before.length, 'something is kept');
  respond = (__, reply) => void reply.end(layer);
  expect((await pull(`GET blobs/${sha256Of(layer)}`)).text).toBe(layer);
});

test('a download that all clients have left ends, and what waits for it comes again', async () => {
  const layer = 'z'.repeat(100_000);
  let closed = false;
  respond = (_, reply) => {
    reply.once('close', () => {
      closed = true;
    });
    reply.writeHead(200, { 'content-length': String(layer.length) });
    reply.write(layer.slice(0, 50_000));
  };
  const before = blobFiles(app);
  const client = await open(`blobs/${sha256Of(layer)}`);
  await until(() => client.text().length > 0, 'nothing arrives');
  client.leave();
  await until(() => closed, 'it is still downloaded');
  await until(() => blobFiles(app).length === before.length, 'its draft stays');
  // And who leaves before the first byte.
  closed = false;
  respond = (_, reply) =>
    void reply.once('close', () => {
      closed = true;
    });
  const early = await open(`blobs/${sha256Of(layer)}`);
  await until(() => upstream.received.length === 2, 'it is not asked for');
  early.leave();
  await until(() => closed, 'it is still asked for');
  respond = (_, reply) => void reply.end(layer);
  expect((await pull(`GET blobs/${sha256Of(layer)}`)).text).toBe(layer);
});

test('a registry that sends a byte now and then is not waited for', async () => {
  let sending: ServerResponse | undefined;
  respond = (_, reply) => {
    sending = reply;
    reply.writeHead(200, { 'content-length': '100000' });
    reply.write('xx');
  };
  const before = blobFiles(app);
  const client = await open(`blobs/${sha256Of('trickling')}`);
  await until(() => client.text() === 'x', 'nothing arrives');
  const present = performance.now.bind(performance);
  const moved = vi.spyOn(performance, 'now').mockImplementation(() => present() + 61_000);
  try {
    sending?.write('x');
    await until(() => client.ended() === 'cut', 'it is still downloaded');
  } finally {
    moved.mockRestore();
  }
  await until(() => sending?.destroyed === true, 'the connection stays');
  await until(() => blobFiles(app).length === before.length, 'its draft stays');
});

test('one caller takes few places, whatever the registry behind does, and another goes on', async () => {
  const replies: ServerResponse[] = [];
  const trickling = setInterval(() => {
    for (const reply of replies) reply.write('x');
  }, 500);
  respond = (_, reply) => void replies.push(reply);
  const all = await Promise.all(
    Array.from({ length: 12 }, (_, at) => open(`blobs/${sha256Of(`slow ${at}`)}`)),
  );
  await until(() => replies.length === 8, 'the places are not taken');
  const { maintainer } = await makeMembers(app, `groups/${group.id}`, 'maintainer');
  const other = { username: maintainer.username, password: maintainer.token };
  respond = (_, reply) => void reply.end('fast');
  const response = await fetch(`${app.url}/v2/${prefix}/team/image/blobs/${sha256Of('fast')}`, {
    headers: await headersFor('team/image', other),
  });
  expect(await response.text()).toBe('fast');
  expect(replies).toHaveLength(8);
  clearInterval(trickling);
  for (const { leave } of all) leave();
  for (const reply of replies) reply.destroy();
});

test('who asks for what another waits for, behind much of his own, does not wait with him', async () => {
  const slow: ServerResponse[] = [];
  respond = (_, reply) => void slow.push(reply);
  const queue = await Promise.all(Array.from({ length: 6 }, (_, at) => open(`manifests/slow-${at}`)));
  await until(() => slow.length === 6, 'the places are not taken');
  respond = (_, reply) => void sendManifest(reply);
  // The same, of which one waits for a place, and of which the first of another asks at once.
  const waiting = await Promise.all(Array.from({ length: 3 }, () => open('manifests/v1')));
  const { maintainer } = await makeMembers(app, `groups/${group.id}`, 'maintainer');
  const other = { username: maintainer.username, password: maintainer.token };
  const response = await fetch(`${app.url}/v2/${prefix}/team/image/manifests/v1`, {
    headers: await headersFor('team/image', other),
  });
  expect([response.status, await response.text()]).toEqual([200, manifest]);
  expect(waiting.map(({ ended }) => ended())).toEqual([undefined, undefined, undefined]);
  for (const reply of slow) sendManifest(reply);
  const all = [...queue, ...waiting];
  await until(() => all.every(({ ended }) => ended() === 'whole'), 'they do not end');
  expect(all.map(({ status }) => status())).toEqual(Array.from({ length: 9 }, () => 200));
});

test('who asks for a blob for which another waits, behind much of his own, does not wait with him', async () => {
  const slow: ServerResponse[] = [];
  respond = (_, reply) => void slow.push(reply);
  const blob = (at: number) => open(`blobs/${sha256Of(`slow ${at}`)}`);
  const queue = await Promise.all(Array.from({ length: 8 }, (_, at) => blob(at)));
  await until(() => slow.length === 8, 'the places are not taken');
  respond = (_, reply) => void reply.end('fast');
  const waiting = await Promise.all(Array.from({ length: 3 }, () => open(`blobs/${sha256Of('fast')}`)));
  // One more, whose clients all leave, and one whose download only the first caller wants.
  const left = await open(`blobs/${sha256Of('left')}`);
  const alone = await open(`blobs/${sha256Of('alone')}`);
  left.leave();
  const { maintainer } = await makeMembers(app, `groups/${group.id}`, 'maintainer');
  const other = { username: maintainer.username, password: maintainer.token };
  const response = await fetch(`${app.url}/v2/${prefix}/team/image/blobs/${sha256Of('fast')}`, {
    headers: await headersFor('team/image', other),
  });
  expect(await response.text()).toBe('fast');
  // It is one download for all.
  await until(() => waiting.every(({ ended }) => ended() === 'whole'), 'they wait still');
  expect(upstream.received.filter(({ path }) => path.endsWith(sha256Of('fast')))).toHaveLength(1);
  expect([
    alone.ended(),
    upstream.received.filter(({ path }) => path.endsWith(sha256Of('alone'))).length,
  ]).toEqual([undefined, 0]);
  respond = (_, reply) => void reply.end('alone');
  for (const [at, reply] of slow.entries()) reply.end(`slow ${at}`);
  await until(() => alone.ended() === 'whole', 'it gets no place');
  await until(() => queue.every(({ ended }) => ended() !== undefined), 'they do not end');
  expect(upstream.received.filter(({ path }) => path.endsWith(sha256Of('left')))).toHaveLength(0);
});

test('clients that ask for the same at once are one question to the registry behind', async () => {
  const replies: ServerResponse[] = [];
  respond = (_, reply) => void replies.push(reply);
  const { maintainer } = await makeMembers(app, `groups/${group.id}`, 'maintainer');
  const other = { username: maintainer.username, password: maintainer.token };
  const ask = async (credentials: Credentials) =>
    fetch(`${app.url}/v2/${prefix}/team/image/manifests/v1`, {
      headers: await headersFor('team/image', credentials),
    });
  const first = ask(guest);
  await until(() => replies.length === 1, 'nothing is asked');
  const more = [ask(guest), ask(other), ask(other)];
  // What is asked after them has come.
  const after = open('manifests/v2');
  await until(() => replies.length === 2, 'nothing more is asked');
  respond = (_, reply) => void sendManifest(reply);
  for (const reply of replies) sendManifest(reply);
  for (const response of await Promise.all([first, ...more])) expect(await response.text()).toBe(manifest);
  await until(async () => (await after).ended() === 'whole', 'the later one does not end');
  const pulled = upstream.received.filter(({ method, path }) => method === 'GET' && path.endsWith('/v1'));
  expect(pulled).toHaveLength(1);
});

test('a blob that is larger than any is refused before a byte of it comes', async () => {
  respond = (_, reply) => {
    reply.writeHead(200, { 'content-length': String(6 * 1_073_741_824) });
    reply.flushHeaders();
  };
  expect(await outcome(`GET blobs/${sha256Of('huge')}`)).toEqual([413, 'SIZE_INVALID']);
  // What is no blob has no body that is read.
  respond = (_, reply) => {
    reply.writeHead(404, { 'content-length': String(6 * 1_073_741_824) });
    reply.write('x'.repeat(100_000));
  };
  expect(await outcome(`GET blobs/${sha256Of('huge')}`)).toEqual([404, 'BLOB_UNKNOWN']);
});
