/** The guarded client against servers on loopback. Names are resolved by the test, and never by the network. */
import type { ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { certificate, certificateKey } from '../../../test/support/sample-certificate.ts';
import { type Received, startWebServer, type WebServer } from '../../../test/support/web-server.ts';
import { createOutbound, OutboundFailure, type OutboundRequest } from './outbound.ts';

const started: WebServer[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

async function start(response: (request: Received, reply: ServerResponse) => void): Promise<WebServer> {
  const server = await startWebServer(response);
  started.push(server);
  return server;
}

const hello = () => start((_, reply) => void reply.end('hello'));
const redirecting = (to: (path: string) => string, status = 302) =>
  start(({ path }, reply) => void reply.writeHead(status, { location: to(path) }).end());

const strict = { allowLocal: false, allowlist: [], timeoutMilliseconds: 10_000, maximumBytes: 1_000 };
const onlyTo = (...servers: WebServer[]) => ({
  ...strict,
  allowlist: servers.map(({ port }) => `127.0.0.1:${port}`),
});

type Resolve = Parameters<typeof createOutbound>[1];
const fetchGuarded = (url: string, { resolve, ...request }: OutboundRequest & { resolve?: Resolve }) =>
  createOutbound({ http: '', https: '', none: '' }, resolve)(url, request);

/** Why the call came to nothing. */
async function failureOf(url: string, options: Parameters<typeof fetchGuarded>[1]): Promise<string> {
  try {
    const { status } = await fetchGuarded(url, options);
    return `status ${status}`;
  } catch (error) {
    if (error instanceof OutboundFailure) return error.reason;
    throw error;
  }
}

describe('addresses', () => {
  test.each([
    'http://127.0.0.1',
    'http://localhost',
    'http://2130706433',
    'http://0x7f000001',
    'http://0177.0.0.1',
    'http://127.1',
    'http://0',
    'http://[::1]',
    'http://[::]',
    'http://[::ffff:127.0.0.1]',
    'http://[::ffff:7f00:1]',
    'http://[64:ff9b::7f00:1]',
    'http://⑫⑦.0.0.1',
    'http://169.254.169.254',
    'http://[fd00:ec2::254]',
  ])('%s is not reached, in whatever way it is written', async (origin) => {
    const server = await hello();
    expect(await failureOf(`${origin}:${server.port}/latest/meta-data`, strict)).toBe('address');
    expect(server.received).toEqual([]);
  });

  test.each([
    'file:///etc/passwd',
    'ftp://service.example/',
    'gopher://service.example/',
    'data:text/plain,hello',
    'javascript:alert(1)',
    'http://',
    '//service.example',
    'service.example',
    '',
    'http://user:password@service.example/',
    'http://user@service.example/',
  ])('%s is no address to call', async (url) => {
    expect(await failureOf(url, { ...strict, allowLocal: true })).toBe('address');
  });

  test('those of the allowlist are reached, and all where this network is allowed', async () => {
    const server = await hello();
    expect((await fetchGuarded(server.url, onlyTo(server))).body.toString()).toBe('hello');
    expect(await failureOf(server.url, { ...strict, allowlist: ['127.0.0.1:1'] })).toBe('address');
    expect((await fetchGuarded(server.url, { ...strict, allowLocal: true })).status).toBe(200);
  });
});

describe('names', () => {
  const resolveTo =
    (...addresses: string[]) =>
    async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

  test.each([
    ['this machine', ['127.0.0.1']],
    ['this machine by IPv6', ['::1']],
    ['this machine mapped', ['::ffff:127.0.0.1']],
    ['a private network', ['10.1.2.3']],
    ["a cloud's metadata", ['169.254.169.254']],
    ['a public address and a private one', ['93.184.215.14', '127.0.0.1']],
    ['a private address and a public one', ['127.0.0.1', '93.184.215.14']],
    ['no address at all', ['nonsense']],
  ])('a name that stands for %s is not called', async (_, addresses) => {
    const server = await hello();
    const options = { ...strict, resolve: resolveTo(...addresses) };
    expect(await failureOf(`http://service.example:${server.port}`, options)).toBe('address');
    expect(server.received).toEqual([]);
  });

  test('what was judged is what is connected to: the name is asked for once', async () => {
    const server = await hello();
    let requested = 0;
    const resolve = async () => {
      requested += 1;
      return [{ address: requested === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }];
    };
    const options = { ...strict, allowlist: ['127.0.0.1'], resolve };
    const reply = await fetchGuarded(`http://service.example:${server.port}/path`, options);
    expect([reply.status, requested]).toEqual([200, 1]);
    expect(server.received).toMatchObject([{ headers: { host: `service.example:${server.port}` } }]);
    expect(await failureOf(`http://service.example:${server.port}/path`, options)).toBe('address');
  });

  test('a name of the allowlist may stand for a private address', async () => {
    const server = await hello();
    const options = { ...strict, allowlist: ['inside.example'], resolve: resolveTo('127.0.0.1') };
    expect(await failureOf(`http://inside.example:${server.port}`, options)).toBe('status 200');
    expect(await failureOf(`http://other.example:${server.port}`, options)).toBe('address');
  });

  test('a name that is not known, and one that nobody answers for', async () => {
    const unknown = () => Promise.reject(new Error('ENOTFOUND'));
    expect(await failureOf('http://service.example', { ...strict, resolve: unknown })).toBe('network');
    expect(await failureOf('http://service.example', { ...strict, resolve: resolveTo() })).toBe('network');
    const never = () => new Promise<never>(() => undefined);
    const options = { ...strict, timeoutMilliseconds: 50, resolve: never };
    expect(await failureOf('http://service.example', options)).toBe('timeout');
  });
});

describe('redirects', () => {
  test('are followed', async () => {
    const server = await start(({ path }, reply) => {
      if (path === '/end') reply.end('there');
      else reply.writeHead(302, { location: path === '/' ? '/next' : '/end' }).end();
    });
    expect((await fetchGuarded(server.url, onlyTo(server))).body.toString()).toBe('there');
  });

  test('say who gave the answer', async () => {
    const end = await hello();
    const within = await start(({ path }, reply) => {
      if (path === '/end') reply.end('there');
      else reply.writeHead(302, { location: path === '/out' ? end.url : '/end' }).end();
    });
    const originOf = async (path: string) =>
      (await fetchGuarded(`${within.url}${path}`, onlyTo(within, end))).origin;
    expect(await originOf('/')).toBe(within.url);
    expect(await originOf('/out')).toBe(end.url);
    const receive = async () => undefined;
    const received = await fetchGuarded(`${within.url}/out`, { ...onlyTo(within, end), receive });
    expect(received.origin).toBe(end.url);
  });

  test.each([301, 302, 303, 307, 308])('are judged again (%i)', async (status) => {
    const inside = await hello();
    const server = await redirecting(() => inside.url, status);
    expect(await failureOf(server.url, onlyTo(server))).toBe('address');
    expect(inside.received).toEqual([]);
  });

  test('to a name that stands for a private address are not followed', async () => {
    const inside = await hello();
    const server = await redirecting(() => `http://rebound.example:${inside.port}/`);
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    expect(await failureOf(server.url, { ...onlyTo(server), resolve })).toBe('address');
    expect(inside.received).toEqual([]);
  });

  test.each(['file:///etc/passwd', 'http://me:you@127.0.0.1/', 'http://'])(
    'to %s are not followed',
    async (location) => {
      const server = await redirecting(() => location);
      expect(await failureOf(server.url, onlyTo(server))).toBe('address');
    },
  );

  test('come to an end', async () => {
    const server = await redirecting((path) => `${path}x`);
    expect(await failureOf(server.url, onlyTo(server))).toBe('redirect');
    expect(server.received.map(({ path }) => path)).toEqual(['/', '/x', '/xx', '/xxx']);
  });

  test('take what was sent only where it was meant for', async () => {
    const other = await hello();
    const post = { method: 'POST', body: 'key=secret', headers: { authorization: 'Bearer secret' } } as const;
    const keeping = await redirecting(() => other.url, 307);
    expect(await failureOf(keeping.url, { ...onlyTo(keeping, other), ...post })).toBe('redirect');
    expect(other.received).toEqual([]);
    const turning = await redirecting(() => other.url, 303);
    expect(await failureOf(turning.url, { ...onlyTo(turning, other), ...post })).toBe('status 200');
    expect(other.received).toMatchObject([{ method: 'GET', body: '' }]);
    expect(other.received[0]?.headers).not.toHaveProperty('authorization');
    const within = await start(({ path }, reply) => {
      if (path === '/') reply.writeHead(308, { location: '/again' }).end();
      else reply.end();
    });
    expect(await failureOf(within.url, { ...onlyTo(within), ...post })).toBe('status 200');
    expect(within.received[1]).toMatchObject({ method: 'POST', body: 'key=secret', path: '/again' });
  });

  test('a status of redirects without an address is an answer', async () => {
    const server = await start((_, reply) => void reply.writeHead(302).end());
    expect(await failureOf(server.url, onlyTo(server))).toBe('status 302');
  });
});

describe('bounds', () => {
  test('an answer that is too long, whether it says so or not', async () => {
    const said = await start((_, reply) => void reply.end('x'.repeat(1_001)));
    expect(await failureOf(said.url, onlyTo(said))).toBe('size');
    const endless = await start((_, reply) => {
      const more = () => {
        while (!reply.destroyed && reply.write('x'.repeat(500)));
      };
      reply.on('drain', more);
      more();
    });
    expect(await failureOf(endless.url, onlyTo(endless))).toBe('size');
    const full = await start((_, reply) => void reply.end('x'.repeat(1_000)));
    expect(await failureOf(full.url, onlyTo(full))).toBe('status 200');
  });

  test.each<[string, (reply: ServerResponse) => void]>([
    ['that never comes', () => undefined],
    ['that stops after its headers', (reply) => void reply.writeHead(200).flushHeaders()],
    [
      'that drips',
      (reply) => {
        const drip = setInterval(() => reply.write('x'), 10);
        reply.on('close', () => clearInterval(drip));
      },
    ],
  ])('an answer %s', async (_, response) => {
    const server = await start((_request, reply) => response(reply));
    const options = { ...onlyTo(server), timeoutMilliseconds: 200 };
    expect(await failureOf(server.url, options)).toBe('timeout');
  });

  test('an answer that breaks off, and a server that is not there', async () => {
    const broken = await start((_, reply) => {
      reply.writeHead(200, { 'content-length': '100' });
      reply.write('half', () => reply.destroy());
    });
    expect(await failureOf(broken.url, onlyTo(broken))).toBe('network');
    const gone = await hello();
    await gone.stop();
    expect(await failureOf(gone.url, onlyTo(gone))).toBe('network');
  });

  test('an answer in another protocol', async () => {
    const server = await start((_, { socket }) => {
      socket?.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n');
    });
    expect(await failureOf(server.url, onlyTo(server))).toBe('network');
  });

  test('a call that is given up', async () => {
    const server = await start(() => undefined);
    const giving = new AbortController();
    setTimeout(() => giving.abort(), 20);
    expect(await failureOf(server.url, { ...onlyTo(server), signal: giving.signal })).toBe('network');
  });
});

test('a certificate that nobody vouches for is not believed', async () => {
  const server = await startWebServer(
    (_, reply) => void reply.end('secret'),
    (listener) => createSecureServer({ key: certificateKey, cert: certificate }, listener),
  );
  started.push(server);
  expect(await failureOf(`https://127.0.0.1:${server.port}`, onlyTo(server))).toBe('network');
  expect(server.received).toEqual([]);
});

describe('an answer that is received', () => {
  const receiving = (url: string, options: Parameters<typeof fetchGuarded>[1]) => {
    const received: string[] = [];
    const outcome = fetchGuarded(url, {
      ...options,
      receive: async (headers, pieces) => {
        received.push(`type ${headers['content-type']}`);
        for await (const piece of pieces) received.push(piece.toString());
      },
    }).then(
      ({ status, body }) => `status ${status}, ${body.length} bytes`,
      (error: unknown) => (error instanceof OutboundFailure ? error.reason : String(error)),
    );
    return { received, outcome };
  };

  test('comes in pieces, whose time is renewed with each', async () => {
    const server = await start((_, reply) => {
      reply.writeHead(200, { 'content-type': 'text/plain' });
      let sent = 0;
      const send = () => {
        reply.write(String(sent));
        sent += 1;
        if (sent === 8) reply.end();
        else setTimeout(send, 150);
      };
      send();
    });
    const call = receiving(server.url, { ...onlyTo(server), timeoutMilliseconds: 700 });
    expect(await call.outcome).toBe('status 200, 0 bytes');
    expect(call.received).toEqual(['type text/plain', ...'01234567']);
  });

  test('ends where it is silent for too long, or is too much', async () => {
    const silent = await start((_, reply) => void reply.writeHead(200, { 'content-type': 'x' }).write('a'));
    const call = receiving(silent.url, { ...onlyTo(silent), timeoutMilliseconds: 300 });
    expect(await call.outcome).toBe('timeout');
    expect(call.received).toEqual(['type x', 'a']);
    const large = await start((_, reply) => void reply.end('x'.repeat(1_001)));
    expect(await receiving(large.url, onlyTo(large)).outcome).toBe('size');
  });

  test('of another status has no body, however much there is', async () => {
    const server = await start((_, reply) => void reply.writeHead(404).end('x'.repeat(100_000)));
    const call = receiving(server.url, onlyTo(server));
    expect(await call.outcome).toBe('status 404, 0 bytes');
    expect(call.received).toEqual([]);
  });

  test('is asked for by HEAD without a body, also after a redirect', async () => {
    const server = await start(({ path }, reply) =>
      path === '/'
        ? void reply.writeHead(302, { location: '/there' }).end()
        : void reply.writeHead(200, { 'content-length': '5000' }).end(),
    );
    const reply = await fetchGuarded(server.url, {
      ...onlyTo(server),
      method: 'HEAD',
      headers: { accept: 'a/b' },
    });
    expect([reply.status, reply.headers['content-length'], reply.body.length]).toEqual([200, '5000', 0]);
    expect(server.received.map(({ method, headers }) => [method, headers.accept])).toEqual([
      ['HEAD', 'a/b'],
      ['HEAD', 'a/b'],
    ]);
  });
});

test('a body that is read while it is sent arrives whole', async () => {
  const server = await start(({ body }, reply) => void reply.end(body));
  const pieces = ['one ', 'two ', 'three ', 'four'].map((piece) => Buffer.from(piece));
  const body = () => Readable.from(pieces, { objectMode: false });
  const call = { ...onlyTo(server), method: 'POST', body, keepRedirects: true } as const;
  expect((await fetchGuarded(server.url, call)).body.toString()).toBe('one two three four');
});
