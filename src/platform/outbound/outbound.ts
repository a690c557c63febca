/**
 * The one client for calls to other services. Whoever sets an address must not reach this network with it, so each
 * address is judged before each request, also of a redirect and of a connection that was kept: the name is resolved,
 * and the request goes to the addresses that were found, or to a proxy.
 */
import { lookup as resolveName } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { mayReach, type OutboundRules } from './addresses.ts';
import { createConnections, type Proxies, type ResolvedAddress } from './connections.ts';

export type { OutboundRules } from './addresses.ts';

export type OutboundRequest = OutboundRules & {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers?: Record<string, string>;
  /** What is read while it is sent is asked for anew at a redirect. */
  body?: string | Buffer | (() => Readable);
  /**
   * For all of it: names, connections, redirects and the last byte of the answer. Where that is received, or the body is
   * read, for each piece of it.
   */
  timeoutMilliseconds: number;
  /** Of the answer's body. */
  maximumBytes: number;
  /** Takes the body of an answer of status 200 as it arrives; no answer has one then. The call ends when this does. */
  receive?: (headers: Headers, pieces: AsyncIterable<Buffer>) => Promise<void>;
  /** What is more is not read, and no failure. */
  cutAnswer?: true;
  /** A redirect is the answer. */
  keepRedirects?: true;
  /** Certificates are taken as they are. */
  anyCertificate?: boolean;
  /** Gives the call up early. */
  signal?: AbortSignal;
};

type Resolve = (hostname: string) => Promise<ResolvedAddress[]>;
type Headers = Record<string, string | string[] | undefined>;
export type OutboundReply = {
  status: number;
  headers: Headers;
  body: Buffer;
  /** Of the server that gave it, which a redirect may have named. */
  origin: string;
};

/**
 * The answer of another service, whatever its status; redirects are followed, at most three, unless they are kept. Fails with an
 * OutboundFailure: for addresses of this network that the rules do not allow, for certificates that do not verify, and
 * for what takes too long or is too much.
 */
export type Outbound = (url: string, request: OutboundRequest) => Promise<OutboundReply>;

type OutboundReason = 'address' | 'redirect' | 'size' | 'timeout' | 'network';

/** A call that came to nothing. The text names no address, so that nobody learns of this network by asking. */
export class OutboundFailure extends Error {
  readonly reason: OutboundReason;
  constructor(reason: OutboundReason, text: string, cause?: unknown) {
    super(text, { cause });
    this.reason = reason;
  }
}

const MAX_REDIRECTS = 3;
/** Of an answer that is not the one to be received. */
const NO_BODY = { maximumBytes: 0, cutAnswer: true } as const;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** What goes over the wire in one exchange; a redirect makes another. */
type Exchange = Required<Pick<OutboundRequest, 'method' | 'headers'>> & {
  url: URL;
  body: OutboundRequest['body'];
};

function webAddress(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    throw new OutboundFailure('address', 'not an http or https address');
  }
  if (url.username || url.password) throw new OutboundFailure('address', 'the address has credentials in it');
  return url;
}

/** Fails as soon as the signal says so: the client heeds it only once there is a connection. */
const until = <T>(signal: AbortSignal, work: Promise<T>): Promise<T> =>
  Promise.race([
    work,
    new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
  ]);

/** What a redirect leads to. What was meant for one host is not told to another. */
function follow(from: Exchange, status: number, location: string): Exchange {
  const url = webAddress(location, from.url);
  if (from.url.protocol === 'https:' && url.protocol === 'http:') {
    throw new OutboundFailure('redirect', 'a redirect from https to http');
  }
  const again = status >= 307 || from.method === 'GET' || from.method === 'HEAD';
  const elsewhere = url.origin !== from.url.origin;
  if (again && elsewhere && from.body !== undefined) {
    throw new OutboundFailure('redirect', 'a redirect that would take the content to another host');
  }
  const headers = elsewhere || !again ? {} : from.headers;
  return { url, method: again ? from.method : 'GET', headers, body: again ? from.body : undefined };
}

async function readBody(
  body: AsyncIterable<Buffer>,
  { maximumBytes, cutAnswer }: Pick<OutboundRequest, 'maximumBytes' | 'cutAnswer'>,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    chunks.push(chunk);
    if (size > maximumBytes) {
      if (cutAnswer) return Buffer.concat(chunks).subarray(0, maximumBytes);
      throw new OutboundFailure('size', `the answer is over ${maximumBytes} bytes`);
    }
  }
  return Buffer.concat(chunks);
}

/** The pieces of a body, of at most so many bytes; `renew` is called at each. */
async function* piecesOf(
  body: AsyncIterable<Buffer>,
  { maximumBytes }: Pick<OutboundRequest, 'maximumBytes'>,
  renew: () => void,
): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const piece of body) {
    renew();
    size += piece.length;
    if (size > maximumBytes) throw new OutboundFailure('size', `the answer is over ${maximumBytes} bytes`);
    yield piece;
    renew();
  }
}

/** The body as it is sent; `renew` is called at each piece that is read. */
function sentBody(body: Exchange['body'], renew: () => void): string | Buffer | Readable | null {
  if (typeof body !== 'function') return body ?? null;
  async function* pieces(from: Readable): AsyncGenerator<Buffer> {
    for await (const piece of from) {
      renew();
      yield piece;
    }
  }
  return Readable.from(pieces(body()), { objectMode: false });
}

/** The time that a call has; it is renewed where its answer arrives in pieces. */
function startTime(milliseconds: number): { signal: AbortSignal; renew(): void; end(): void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), milliseconds);
  return {
    signal: controller.signal,
    renew: () => void timer.refresh(),
    end: () => clearTimeout(timer),
  };
}

/** The client; `resolve` is the system's own resolver unless given. */
export function createOutbound(
  proxies: Proxies,
  resolve: Resolve = (hostname) => resolveName(hostname, { all: true }),
): Outbound {
  const send = createConnections(proxies);
  const proxied = proxies.http !== '' || proxies.https !== '';

  /** The addresses of a host; none where the name is not known here, and may be known to a proxy. */
  async function addressesOf(host: string): Promise<ResolvedAddress[]> {
    const family = isIP(host);
    if (family !== 0) return [{ address: host, family }];
    try {
      return await resolve(host);
    } catch (error) {
      if (proxied) return [];
      throw new OutboundFailure('network', 'the name could not be resolved', error);
    }
  }

  /** Those of the URL's host, judged: one address that is not allowed is enough. */
  async function judge({ hostname, port, protocol }: URL, rules: OutboundRules): Promise<ResolvedAddress[]> {
    const host = hostname.replace(/^\[|\]$/g, '');
    const addresses = await addressesOf(host);
    const target = { hostname: host, port: Number(port || (protocol === 'https:' ? 443 : 80)) };
    if (addresses.every(({ address }) => mayReach({ ...target, address }, rules))) return addresses;
    throw new OutboundFailure('address', 'the address is of a network that is not allowed');
  }

  async function fetch(
    exchange: Exchange,
    options: OutboundRequest,
    { signal, renew }: { signal: AbortSignal; renew: () => void },
    redirects = 0,
  ): Promise<OutboundReply> {
    const { url, method } = exchange;
    const addresses = await judge(url, options);
    signal.throwIfAborted();
    const {
      statusCode: status,
      headers,
      body,
    } = await send(addresses, options.anyCertificate ?? false, {
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method,
      headers: exchange.headers,
      body: sentBody(exchange.body, renew),
      signal,
    });
    // The first, where a server says several.
    const [location] = [headers.location ?? []].flat();
    if (location === undefined || options.keepRedirects || !REDIRECTS.includes(status)) {
      const { receive } = options;
      if (!receive || status !== 200)
        return {
          status,
          headers,
          origin: url.origin,
          body: await readBody(body, receive ? NO_BODY : options),
        };
      renew();
      await receive(headers, piecesOf(body, options, renew));
      return { status, headers, origin: url.origin, body: Buffer.alloc(0) };
    }
    body.on('error', () => undefined).destroy();
    if (redirects === MAX_REDIRECTS) {
      throw new OutboundFailure('redirect', `more than ${MAX_REDIRECTS} redirects`);
    }
    return fetch(follow(exchange, status, location), options, { signal, renew }, redirects + 1);
  }

  return async (url, options) => {
    const { signal: timeout, renew, end } = startTime(options.timeoutMilliseconds);
    const signal = options.signal ? AbortSignal.any([timeout, options.signal]) : timeout;
    const { method = 'GET', headers = {}, body } = options;
    try {
      const exchange = { url: webAddress(url), method, headers, body };
      return await until(signal, fetch(exchange, options, { signal, renew }));
    } catch (error) {
      if (timeout.aborted) throw new OutboundFailure('timeout', 'no answer in time', error);
      throw error instanceof OutboundFailure
        ? error
        : new OutboundFailure('network', 'the connection failed', error);
    } finally {
      end();
    }
  };
}
