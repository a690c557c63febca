/**
 * The one client for calls to other services. Whoever sets an address must not reach this network with it, so each
 * address is judged when it is connected to: after the name is resolved, and again for each redirect.
 */
import { lookup as resolveName } from 'node:dns/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { mayReach, type OutboundRules } from './addresses.ts';

export type { OutboundRules } from './addresses.ts';

type ResolvedAddress = { address: string; family: number };
type Resolve = (hostname: string) => Promise<ResolvedAddress[]>;

export type OutboundRequest = OutboundRules & {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** For all of it: names, connections, redirects and the last byte of the answer. */
  timeoutMilliseconds: number;
  /** Of the answer's body. */
  maximumBytes: number;
  /** Gives the call up early. */
  signal?: AbortSignal;
  /** The system's own resolver unless given. */
  resolve?: Resolve;
};

type OutboundReply = { status: number; headers: IncomingHttpHeaders; body: Buffer };

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
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** What goes over the wire in one exchange; a redirect makes another. */
type Exchange = Required<Pick<OutboundRequest, 'method' | 'headers'>> & {
  url: URL;
  body: string | Buffer | undefined;
};

function webAddress(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    throw new OutboundFailure('address', 'not an http or https address');
  }
  if (url.username || url.password) throw new OutboundFailure('address', 'the address has credentials in it');
  return url;
}

const localAddress = () => new OutboundFailure('address', 'the address is of a network that is not allowed');

/** Resolves the name and judges what it stands for: one address that is not allowed is enough. */
function guardedLookup(port: number, rules: OutboundRules, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (!first) callback(new OutboundFailure('network', 'the name has no address'), '');
        else if (!addresses.every(({ address }) => mayReach({ hostname, address, port }, rules)))
          callback(localAddress(), '');
        else if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: unknown) =>
        callback(new OutboundFailure('network', 'the name could not be resolved', error), ''),
    );
  };
}

/** One exchange, up to the answer's headers. */
function send(exchange: Exchange, options: OutboundRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const { url, method, headers, body } = exchange;
  const secure = url.protocol === 'https:';
  const port = Number(url.port || (secure ? 443 : 80));
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  // Node asks no resolver for what is an address already.
  if (isIP(literal) !== 0 && !mayReach({ hostname: literal, address: literal, port }, options)) {
    throw localAddress();
  }
  const resolve = options.resolve ?? ((hostname: string) => resolveName(hostname, { all: true }));
  const { promise, resolve: answered, reject } = Promise.withResolvers<IncomingMessage>();
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  (secure ? requestHttps : requestHttp)(url, {
    method,
    headers: { ...headers, ...length },
    // A connection kept from another call was judged by other rules.
    agent: false,
    lookup: guardedLookup(port, options, resolve),
    rejectUnauthorized: true,
    signal,
  })
    .on('response', answered)
    // Without this nobody would hear of the connection's end, nor of the time that is over.
    .on('upgrade', (_, socket) => {
      socket.destroy();
      reject(new Error('the answer is in another protocol'));
    })
    .on('error', reject)
    .end(body);
  return promise;
}

/** What a redirect leads to. What was meant for one host is not told to another. */
function follow(from: Exchange, status: number, location: string): Exchange {
  const url = webAddress(location, from.url);
  if (from.url.protocol === 'https:' && url.protocol === 'http:') {
    throw new OutboundFailure('redirect', 'a redirect from https to http');
  }
  const again = status >= 307 || from.method === 'GET';
  const elsewhere = url.origin !== from.url.origin;
  if (again && elsewhere && from.body !== undefined) {
    throw new OutboundFailure('redirect', 'a redirect that would take the content to another host');
  }
  const headers = elsewhere || !again ? {} : from.headers;
  return { url, method: again ? from.method : 'GET', headers, body: again ? from.body : undefined };
}

async function readBody(response: IncomingMessage, maximumBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maximumBytes) throw new OutboundFailure('size', `the answer is over ${maximumBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * The answer of another service, whatever its status; redirects are followed, at most three. Fails with an
 * OutboundFailure: for addresses of this network that the rules do not allow, for certificates that do not verify, and
 * for what takes too long or is too much.
 */
export async function fetchGuarded(url: string, options: OutboundRequest): Promise<OutboundReply> {
  const timeout = AbortSignal.timeout(options.timeoutMilliseconds);
  const signal = options.signal ? AbortSignal.any([timeout, options.signal]) : timeout;
  const { method = 'GET', headers = {}, body } = options;
  try {
    let exchange: Exchange = { url: webAddress(url), method, headers, body };
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await send(exchange, options, signal);
      const status = response.statusCode ?? 0;
      const { location } = response.headers;
      if (location === undefined || !REDIRECTS.includes(status)) {
        return { status, headers: response.headers, body: await readBody(response, options.maximumBytes) };
      }
      response.destroy();
      exchange = follow(exchange, status, location);
    }
    throw new OutboundFailure('redirect', `more than ${MAX_REDIRECTS} redirects`);
  } catch (error) {
    if (timeout.aborted) throw new OutboundFailure('timeout', 'no answer in time', error);
    throw error instanceof OutboundFailure
      ? error
      : new OutboundFailure('network', 'the connection failed', error);
  }
}
