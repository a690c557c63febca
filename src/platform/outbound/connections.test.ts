/** Kept connections and proxies, against servers on loopback. Names are resolved by the test. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, createServer as createSocketServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { rootCertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { certificate, certificateKey } from '../../../test/support/sample-certificate.ts';
import { type Received, startWebServer, type WebServer } from '../../../test/support/web-server.ts';
import { createOutbound, OutboundFailure, type OutboundRequest } from './outbound.ts';

const ending: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(ending.splice(0).map((end) => end()));
});

type Listener = (request: IncomingMessage, reply: ServerResponse) => void;
type Counting = WebServer & { connections: () => number };

/** A server that counts its connections. */
async function start(
  response: (request: Received, reply: ServerResponse) => void,
  make: (listener: Listener) => Server = createServer,
): Promise<Counting> {
  let connections = 0;
  const server = await startWebServer(response, (listener) =>
    make(listener).on('connection', () => {
      connections += 1;
    }),
  );
  ending.push(server.stop);
  return { ...server, connections: () => connections };
}

const hello = () => start((_, reply) => void reply.end('hello'));

/** A server of which the test writes every byte; `act` gets each request's first bytes, and their number. */
async function startRaw(
  act: (socket: Socket, request: string, count: number) => void,
): Promise<{ port: number; requests: string[]; connections: () => number }> {
  const requests: string[] = [];
  let connections = 0;
  const server = createSocketServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    socket.on('data', (data) => act(socket, data.toString(), requests.push(data.toString())));
    ending.push(() => void socket.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  ending.push(() => void server.close());
  return { port: (server.address() as AddressInfo).port, requests, connections: () => connections };
}

/** Whoever has this certificate is believed, until the test ends. */
function trust(one: string): void {
  setDefaultCACertificates([one]);
  ending.push(() => setDefaultCACertificates([...rootCertificates]));
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const strict = { allowLocal: false, allowlist: [], timeoutMilliseconds: 10_000, maximumBytes: 1_000 };
const open = { ...strict, allowLocal: true };
const to =
  (...addresses: string[]) =>
  async () =>
    addresses.map((address) => ({ address, family: 4 }));
const direct = (resolve = to('127.0.0.1')) => createOutbound({ http: '', https: '', none: '' }, resolve);

/** The answer's body, or why there is none; what comes next finds the connection at rest. */
async function outcome(
  outbound: ReturnType<typeof createOutbound>,
  url: string,
  request: OutboundRequest,
): Promise<string> {
  try {
    return (await outbound(url, request)).body.toString();
  } catch (error) {
    if (error instanceof OutboundFailure) return error.reason;
    throw error;
  } finally {
    await sleep(20);
  }
}

describe('a kept connection', () => {
  test('takes the next request to the same host, also one with content', async () => {
    const server = await hello();
    const outbound = direct();
    expect(await outcome(outbound, server.url, open)).toBe('hello');
    expect(await outcome(outbound, `${server.url}/again`, open)).toBe('hello');
    expect(await outcome(outbound, server.url, { ...open, method: 'POST', body: 'x' })).toBe('hello');
    expect(server.received.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['GET', '/', ''],
      ['GET', '/again', ''],
      ['POST', '/', 'x'],
    ]);
    expect(server.connections()).toBe(1);
  });

  test('is kept by https too, and is of no use to a name that the certificate has not', async () => {
    const server = await start(
      (_, reply) => void reply.end('secret'),
      (listener) => createSecureServer({ key: certificateKey, cert: certificate }, listener),
    );
    trust(certificate);
    const outbound = direct();
    const call = (name: string) => outcome(outbound, `https://${name}:${server.port}/`, open);
    expect([await call('127.0.0.1'), await call('127.0.0.1')]).toEqual(['secret', 'secret']);
    expect([await call('service.example'), await call('service.example')]).toEqual(['secret', 'secret']);
    expect(server.connections()).toBe(2);
    expect([await call('other.example'), await call('other.example')]).toEqual(['network', 'network']);
    expect(server.received).toHaveLength(4);
  });

  test('is not waited for: requests at the same time have connections of their own', async () => {
    const waiting: ServerResponse[] = [];
    const server = await start((_, reply) => {
      if (waiting.push(reply) === 3) for (const each of waiting) each.end('together');
    });
    const outbound = direct();
    const outcomes = await Promise.all([1, 2, 3].map(() => outcome(outbound, server.url, open)));
    expect(outcomes).toEqual(['together', 'together', 'together']);
  });

  test('is of no use to a name that stands for something else by now', async () => {
    const server = await hello();
    let address = '127.0.0.1';
    const outbound = direct(async () => [{ address, family: 4 }]);
    const url = `http://service.example:${server.port}/`;
    const rules = { ...strict, allowlist: ['127.0.0.1'] };
    expect(await outcome(outbound, url, rules)).toBe('hello');
    address = '127.0.0.2';
    expect(await outcome(outbound, url, rules)).toBe('address');
    // Nothing listens there: the connection to the old address is not taken for it.
    expect(await outcome(outbound, url, open)).toBe('network');
    address = '169.254.169.254';
    expect(await outcome(outbound, url, rules)).toBe('address');
    expect(server.received).toHaveLength(1);
  });

  test('is of no use to a call by other rules, nor to a redirect', async () => {
    const inside = await hello();
    const url = `http://inside.example:${inside.port}/`;
    const outside = await start((_, reply) => void reply.writeHead(307, { location: url }).end());
    const outbound = direct();
    expect(await outcome(outbound, url, open)).toBe('hello');
    expect(await outcome(outbound, url, strict)).toBe('address');
    const onlyOutside = { ...strict, allowlist: [`127.0.0.1:${outside.port}`] };
    expect(await outcome(outbound, outside.url, onlyOutside)).toBe('address');
    expect(inside.received).toHaveLength(1);
  });

  test('is of no use to another name for the same address', async () => {
    const server = await hello();
    const outbound = direct();
    const rules = { ...strict, allowlist: ['inside.example'] };
    expect(await outcome(outbound, `http://inside.example:${server.port}/`, rules)).toBe('hello');
    expect(await outcome(outbound, `http://other.example:${server.port}/`, rules)).toBe('address');
    expect(await outcome(outbound, `http://other.example:${server.port}/`, open)).toBe('hello');
    expect(server.received.map(({ headers }) => headers.host)).toEqual([
      `inside.example:${server.port}`,
      `other.example:${server.port}`,
    ]);
    expect(server.connections()).toBe(2);
  });

  test('is kept for few hosts, and those beyond are served too', async () => {
    const waiting: ServerResponse[] = [];
    const server = await start((_, reply) => {
      if (waiting.push(reply) >= 100) for (const each of waiting) each.end('hello');
    });
    const outbound = direct();
    const names = Array.from({ length: 100 }, (_, index) => `http://host-${index}.example:${server.port}/`);
    const call = (name: string) => outcome(outbound, name, open);
    expect(new Set(await Promise.all(names.map(call)))).toEqual(new Set(['hello']));
    await call(names[0] ?? '');
    expect(server.connections()).toBe(101);
    await call(names[99] ?? '');
    expect(server.connections()).toBe(101);
  });

  test('a server that is not at the first address is found at the second', async () => {
    const server = await hello();
    const outbound = direct(to('127.0.0.2', '127.0.0.1'));
    expect(await outcome(outbound, `http://service.example:${server.port}/`, open)).toBe('hello');
  });

  test('gives nobody an answer that was sent too early', async () => {
    const server = await startRaw((socket, _, count) => {
      const mine = OK.replace(/ok$/, String(count).padStart(2, '0'));
      socket.write(count === 1 ? `${mine}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil` : mine);
    });
    const outbound = direct();
    const url = `http://127.0.0.1:${server.port}/`;
    expect(await outcome(outbound, url, open)).toBe('01');
    expect(await outcome(outbound, url, open)).toBe('02');
    expect(server.connections()).toBe(2);
  });

  test('is given up after an answer that is too long or too late', async () => {
    const server = await start(({ path }, reply) => {
      if (path === '/long') reply.end('x'.repeat(5_000_000));
      else if (path === '/late') reply.writeHead(200).flushHeaders();
      else reply.end('hello');
    });
    const outbound = direct();
    for (const [path, reason] of [
      ['/long', 'size'],
      ['/late', 'timeout'],
    ]) {
      expect(await outcome(outbound, server.url, open)).toBe('hello');
      expect(await outcome(outbound, `${server.url}${path}`, { ...open, timeoutMilliseconds: 300 })).toBe(
        reason,
      );
      expect(await outcome(outbound, server.url, open)).toBe('hello');
    }
    expect(server.connections()).toBe(3);
  });
});

describe('a connection that ends', () => {
  test('while it rests, is not noticed', async () => {
    const server = await startRaw((socket) => {
      socket.write(OK);
      setTimeout(() => socket.end(), 5);
    });
    const outbound = direct();
    const url = `http://127.0.0.1:${server.port}/`;
    expect(await outcome(outbound, url, open)).toBe('ok');
    expect(await outcome(outbound, url, { ...open, method: 'POST', body: 'x' })).toBe('ok');
    expect(await outcome(outbound, url, open)).toBe('ok');
    expect(server.connections()).toBe(3);
  });

  test.each(['end', 'resetAndDestroy'] as const)(
    'as the next request comes (%s): that is repeated, once, unless it may have been carried out',
    async (cut) => {
      const server = await startRaw((socket, request, count) => {
        if (count === 1 || request.startsWith('GET /fine')) socket.write(OK);
        else socket[cut]();
      });
      const outbound = direct();
      const url = `http://127.0.0.1:${server.port}`;
      const ends = () => server.requests.splice(0).map((request) => request.split(' ', 2).join(' '));
      await outcome(outbound, `${url}/first`, open);
      expect(await outcome(outbound, `${url}/cut`, open)).toBe('network');
      expect(ends()).toEqual(['GET /first', 'GET /cut', 'GET /cut']);
      await outcome(outbound, `${url}/fine`, open);
      expect(await outcome(outbound, `${url}/cut`, { ...open, method: 'POST', body: 'x' })).toBe('network');
      expect(ends()).toEqual(['GET /fine', 'POST /cut']);
    },
  );

  test('a repeated request comes by a new connection, not by another one that was kept', async () => {
    const used = new Set<Socket>();
    const server = await startRaw((socket) => {
      if (used.has(socket)) socket.resetAndDestroy();
      else socket.write(OK);
      used.add(socket);
    });
    const outbound = direct();
    const call = () => outcome(outbound, `http://127.0.0.1:${server.port}/`, open);
    expect(await Promise.all([call(), call()])).toEqual(['ok', 'ok']);
    expect(await call()).toBe('ok');
    expect([server.requests.length, server.connections()]).toEqual([4, 3]);
  });

  test('in the middle of an answer, is a failure', async () => {
    const server = await startRaw((socket, _, count) => {
      if (count === 1) socket.write(OK);
      else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
    });
    const outbound = direct();
    const url = `http://127.0.0.1:${server.port}/`;
    expect(await outcome(outbound, url, open)).toBe('ok');
    expect(await outcome(outbound, url, open)).toBe('network');
    expect(server.requests).toHaveLength(2);
  });
});

describe('a proxy', () => {
  type Proxy = { url: string; requests: string[]; authorization: (string | undefined)[] };

  /** Leads everything to one port of this machine. */
  async function startProxy(port: number): Promise<Proxy> {
    const requests: string[] = [];
    const authorization: (string | undefined)[] = [];
    const server: Server = createServer((request, reply) => {
      requests.push(`${request.method} ${request.url}`);
      authorization.push(request.headers['proxy-authorization']);
      reply.end('from the proxy');
    });
    server.on('connect', (request, socket) => {
      requests.push(`CONNECT ${request.url}`);
      authorization.push(request.headers['proxy-authorization']);
      const onward = connect(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
      onward.on('error', () => socket.destroy()).pipe(socket);
      socket.on('error', () => onward.destroy()).pipe(onward);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    ending.push(() => {
      server.close();
      server.closeAllConnections();
    });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, authorization };
  }

  const PUBLIC = '93.184.215.14';
  const unknown = () => Promise.reject(new Error('ENOTFOUND'));

  test('takes requests by http, with its own password', async () => {
    const proxy = await startProxy(1);
    const http = proxy.url.replace('//', '//me:p%40ss@');
    const outbound = createOutbound({ http, https: '', none: '' }, to(PUBLIC));
    expect(await outcome(outbound, 'http://service.example/path?a=b', strict)).toBe('from the proxy');
    expect(proxy.requests).toEqual(['GET http://service.example/path?a=b']);
    expect(proxy.authorization).toEqual([`Basic ${btoa('me:p@ss')}`]);
  });

  test('is a tunnel for requests by https, whose certificates are verified', async () => {
    const server = await start(
      (_, reply) => void reply.end('secret'),
      (listener) => createSecureServer({ key: certificateKey, cert: certificate }, listener),
    );
    const proxy = await startProxy(server.port);
    const https = proxy.url.replace('//', '//me:pass@');
    const outbound = createOutbound({ http: '', https, none: '' }, to(PUBLIC));
    expect(await outcome(outbound, 'https://service.example/', strict)).toBe('network');
    expect(server.received).toEqual([]);
    trust(certificate);
    expect(await outcome(outbound, 'https://other.example/', strict)).toBe('network');
    expect(server.received).toEqual([]);
    proxy.requests.splice(0);
    expect(await outcome(outbound, 'https://service.example/', strict)).toBe('secret');
    expect(await outcome(outbound, 'https://service.example/again', strict)).toBe('secret');
    expect(proxy.requests).toEqual(['CONNECT service.example:443']);
    expect(new Set(proxy.authorization)).toEqual(new Set([`Basic ${btoa('me:pass')}`]));
    expect(server.received.map(({ headers }) => headers)).toEqual(
      Array.from({ length: 2 }, () => ({ host: 'service.example', connection: 'keep-alive' })),
    );
  });

  test.each([
    ['a local address', 'http://127.0.0.1/', to(PUBLIC)],
    ['a private one', 'https://10.0.0.1/', to(PUBLIC)],
    ['a name for one', 'http://service.example/', to('10.0.0.1')],
    ['a name for one among others', 'https://service.example/', to(PUBLIC, '169.254.169.254')],
  ])('is not asked for %s', async (_, url, resolve) => {
    const proxy = await startProxy(1);
    const outbound = createOutbound({ http: proxy.url, https: proxy.url, none: '' }, resolve);
    expect(await outcome(outbound, url, strict)).toBe('address');
    expect(proxy.requests).toEqual([]);
  });

  test('is not asked for what it redirects to on this network', async () => {
    const requests: string[] = [];
    const server = await start(({ path }, reply) => {
      requests.push(path);
      reply.writeHead(302, { location: 'http://10.0.0.1/' }).end();
    });
    const outbound = createOutbound({ http: server.url, https: '', none: '' }, to(PUBLIC));
    expect(await outcome(outbound, 'http://service.example/', strict)).toBe('address');
    expect(requests).toEqual(['http://service.example/']);
  });

  test('may know names that are not known here', async () => {
    const proxy = await startProxy(1);
    const outbound = createOutbound({ http: proxy.url, https: '', none: 'direct.example' }, unknown);
    expect(await outcome(outbound, 'http://service.example/', strict)).toBe('from the proxy');
    expect(await outcome(outbound, 'http://direct.example/', strict)).toBe('network');
    expect(proxy.requests).toEqual(['GET http://service.example/']);
  });

  test.each([
    ['service.example', 'service.example'],
    ['service.example', 'deep.service.example'],
    ['.service.example', 'deep.service.example'],
    ['other.example, SERVICE.example', 'service.example'],
    ['service.example:PORT', 'service.example'],
    ['*', 'service.example'],
    ['', 'localhost'],
    ['', '127.0.0.1'],
  ])('is not used where NO_PROXY has %j, for %s', async (none, host) => {
    const server = await hello();
    const proxy = await startProxy(1);
    const proxies = { http: proxy.url, https: '', none: none.replace('PORT', String(server.port)) };
    const outbound = createOutbound(proxies, to('127.0.0.1'));
    expect(await outcome(outbound, `http://${host}:${server.port}/`, open)).toBe('hello');
    expect(proxy.requests).toEqual([]);
  });

  test.each([
    ['service.example', 'other-service.example'],
    ['service.example', 'service.example.attacker.example'],
    ['service.example:1', 'service.example'],
  ])('is used where NO_PROXY has %j, for %s', async (none, host) => {
    const proxy = await startProxy(1);
    const outbound = createOutbound({ http: proxy.url, https: '', none }, to(PUBLIC));
    expect(await outcome(outbound, `http://${host}/`, strict)).toBe('from the proxy');
  });

  test('what is called without it goes to the address that was judged', async () => {
    const server = await hello();
    const proxy = await startProxy(1);
    let requested = 0;
    const outbound = createOutbound({ http: proxy.url, https: '', none: 'service.example' }, async () => {
      requested += 1;
      return [{ address: requested === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }];
    });
    const rules = { ...strict, allowlist: ['127.0.0.1'] };
    const url = `http://service.example:${server.port}/`;
    expect(await outcome(outbound, url, rules)).toBe('hello');
    expect(await outcome(outbound, url, rules)).toBe('address');
    expect(requested).toBe(2);
  });

  test.each(['http', 'https'])(
    'that does not answer, or is not there, ends in time (%s)',
    async (protocol) => {
      const silent = await startRaw(() => undefined);
      const url = `${protocol}://service.example/`;
      const by = (port: number) => {
        const proxy = `http://127.0.0.1:${port}`;
        return createOutbound({ http: proxy, https: proxy, none: '' }, to(PUBLIC));
      };
      const begun = performance.now();
      expect(await outcome(by(silent.port), url, { ...strict, timeoutMilliseconds: 300 })).toBe('timeout');
      expect(performance.now() - begun).toBeLessThan(5_000);
      expect(await outcome(by(1), url, strict)).toBe('network');
      const refusing = await startRaw((socket) => {
        socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n');
      });
      expect(await outcome(by(refusing.port), url, strict)).toBe('network');
    },
  );
});
