/** Connections to other servers, kept between requests as long as a name stands for the same addresses. */
import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';

export type ResolvedAddress = { address: string; family: number };

/** Proxies by the protocol of requests, and the hosts that are reached without; empty texts for none. */
export type Proxies = { http: string; https: string; none: string };

/** Sends a request to its origin, over a connection to one of the addresses or to a proxy. */
type Send = (
  addresses: readonly ResolvedAddress[],
  anyCertificate: boolean,
  request: Dispatcher.RequestOptions & { origin: string },
) => Promise<Dispatcher.ResponseData>;

/** Hosts whose connections are kept. */
const MAX_KEPT_HOSTS = 64;
/** Servers may ask for less. */
const MAX_IDLE_MS = 30_000;
/** The tunnel of a call that was given up is waited for as long as its connection would be. */
const TUNNEL_TIMEOUT_MS = 10_000;
/** A proxy's loopback is not this machine's. */
const NEVER_BY_PROXY = 'localhost,127.0.0.1,::1';

/** Nothing is resolved between the judgement of addresses and the connection to one of them. */
const lookupOf =
  (addresses: readonly ResolvedAddress[]): LookupFunction =>
  (_, options, callback) => {
    const [first] = addresses;
    if (!first) callback(new Error('the name could not be resolved'), '');
    else if (options.all) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };

/** A connection that ended without an answer: a server may close a kept one while a request is on its way. */
const isCut = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(String(error.code));

export function createConnections({ http, https, none }: Proxies): Send {
  /** The least recently used first. */
  const kept = new Map<string, Dispatcher>();
  let loading: Promise<typeof import('undici')> | undefined;

  return async (addresses, anyCertificate, request) => {
    // Whatever the environment says of certificates.
    const tls = { rejectUnauthorized: !anyCertificate, allowH2: false };
    // Not before it is needed: it takes 9 MiB.
    loading ??= import('undici');
    const { EnvHttpProxyAgent, Pool } = await loading;
    const key = [request.origin, anyCertificate, ...addresses.map(({ address }) => address).sort()].join(' ');
    const send = (): Promise<Dispatcher.ResponseData> => {
      const dispatcher =
        kept.get(key) ??
        new EnvHttpProxyAgent({
          httpProxy: http,
          httpsProxy: https,
          noProxy: `${NEVER_BY_PROXY},${none}`,
          connect: { ...tls, lookup: lookupOf(addresses) },
          requestTls: tls,
          proxyTls: { ...tls, rejectUnauthorized: true },
          clientFactory: (proxy, options) =>
            new Pool(proxy, { ...options, headersTimeout: TUNNEL_TIMEOUT_MS }),
          allowH2: false,
          keepAliveMaxTimeout: MAX_IDLE_MS,
        });
      kept.delete(key);
      kept.set(key, dispatcher);
      const [oldest = key] = kept.keys();
      if (kept.size > MAX_KEPT_HOSTS) {
        // What runs on its connections goes on.
        kept
          .get(oldest)
          ?.close()
          .catch(() => undefined);
        kept.delete(oldest);
      }
      return dispatcher.request(request);
    };
    try {
      return await send();
    } catch (error) {
      // Other methods could be carried out twice (RFC 9110, 9.2.2).
      const repeatable = ['GET', 'HEAD', 'PUT', 'DELETE'].includes(request.method);
      const isRead = typeof request.body === 'object' && request.body !== null && 'read' in request.body;
      if (!repeatable || isRead || !isCut(error)) throw error;
      return send();
    }
  };
}
