/** The HTTP server: routes to handlers, bodies, limits, common headers, one log line and one measurement per request. */
import { createHash, hash, randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { Readable } from 'node:stream';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import createRouter from 'find-my-way';
import { monotonic } from '../../clock.ts';
import { translateDatabaseError, type UniqueIndexes } from '../../db/errors.ts';
import { Failure } from '../../failure.ts';
import { type CallerContext, holdForRequest, runForCaller } from '../../fair-share.ts';
import type { Log } from '../../log.ts';
import { encodeInTurns, PIECE_LENGTH } from '../../turns.ts';
import { type HttpRequest, type HttpResponse, json, renderFailure, serverError } from '../messages.ts';
import type { OriginPolicy } from '../origin.ts';
import { failurePage, notFoundPage, serverErrorPage, wantsPage } from '../pages/error-page.ts';
import { pagePolicy } from '../pages/html.ts';
import { ANY_PATH, joinPathSegments, routerPath } from '../path-segments.ts';
import { addressKey, ofRefusingThrottle } from '../rate-limit.ts';
import { compress, isCompressible, preferredCoding } from './compression.ts';
import { IncomingRequest } from './incoming-request.ts';
import type { LoadGauge } from './overload.ts';
import { manners, type RouteKind } from './route-kinds.ts';
import { createRateWatch, type RateRule } from './stream-rate.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Route = {
  kind: RouteKind;
  method: Method;
  /**
   * With `:name` parameters, or `:name(pattern)`, from the root; `:name+` at its beginning matches any number
   * of segments. `/:path+` alone gets all GETs outside the API that no other route matches.
   */
  path: string;
  /** Bytes; Infinity where the route reads the body as a stream. By default that of its kind. */
  bodyLimit?: number;
  /** Pages of other origins may call it: with simple headers and Authorization, or with any. */
  crossOrigin?: 'simple' | 'any';
  /** A project may have this path: a GET then shows its page. */
  sharesPath?: boolean;
  handle(request: HttpRequest): Promise<HttpResponse>;
};

export type Observation = { method: string; route: string; status: number; seconds: number };

export type ServerOptions = {
  routes: readonly Route[];
  /** Bytes of the longest request line that does not get a 414. */
  maximumUrlLength: number;
  origins: OriginPolicy;
  load: LoadGauge;
  log: Log;
  observe(observation: Observation): void;
  /** Those that refuse values of clients. */
  unique?: UniqueIndexes;
  /** The minimum rate of clients; lower for tests. */
  slowestClient?: RateRule;
  /** A possible reason, for the client, why no route has the path. */
  hintOfPath?(path: string): string | undefined;
};

/** Node closes connections beyond this; well over the 1 MB of request line that must get its 414. */
export const MAX_HEADER_BYTES = 2 * 1_048_576;

const commonHeaders: Record<string, string> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  'referrer-policy': 'strict-origin-when-cross-origin',
  'content-security-policy': pagePolicy(),
  vary: 'Origin',
};

const exposedHeaders = [
  'ETag',
  'Link',
  'Location',
  'RateLimit-Limit',
  'RateLimit-Name',
  'RateLimit-Observed',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-ResetTime',
  'Retry-After',
  'X-Next-Page',
  'X-Page',
  'X-Per-Page',
  'X-Prev-Page',
  'X-Request-Id',
  'X-Total',
  'X-Total-Pages',
].join(', ');

const tooLong = () => new Failure('uri_too_long', '414 Request-URI Too Large');

/** `*`: these routes take no cookie across origins. */
const corsHeaders = (request: FastifyRequest): Record<string, string> => ({
  'access-control-allow-origin': '*',
  // Long, and only browsers on another origin read it.
  ...(request.headers.origin !== undefined && { 'access-control-expose-headers': exposedHeaders }),
});

/** What is known of a request by its route alone, or by its address. */
type RouteTraits = {
  /** The route's name in the log and the measurements. */
  route: string;
  kind: RouteKind | undefined;
  crossOrigin: Route['crossOrigin'];
  pages: boolean;
};

const routerOptions = {
  maxParamLength: 1_048_576,
  caseSensitive: true,
  // Public clients sometimes add a slash; an encoded one stays.
  ignoreTrailingSlash: true,
  ignoreDuplicateSlashes: true,
  // Queries are read by who needs them.
  querystringParser: () => ({}),
} as const;

/** What is declared at a path. */
type Declared = {
  methods: ReadonlyMap<Method, Route>;
  traits: RouteTraits;
  /** A project may have the path. */
  isShared: boolean;
};

type Found = { declared: Declared; params: Record<string, string> };

/**
 * Finds what is declared at an address, whatever the method: an address has one path, and `DELETE /users/export` is never
 * `DELETE /users/:id`.
 */
function pathFinder(routes: readonly Route[]): (url: string) => Found | undefined {
  const router = createRouter(routerOptions);
  for (const [path, methods] of byPath(routes)) {
    const own = [...methods.values()];
    const declared: Declared = {
      methods,
      traits: traitsAt(routerPath(path), own),
      isShared: own.some((route) => route.sharesPath),
    };
    router.on('GET', routerPath(path), () => {}, declared);
  }
  return (url) => {
    const found = router.find('GET', url);
    return found ? { declared: found.store, params: found.params as Record<string, string> } : undefined;
  };
}

/** HEAD exists for all GETs. */
const methodOf = (request: FastifyRequest): Method =>
  (request.method === 'HEAD' ? 'GET' : request.method) as Method;

/** The label of requests without a route. */
const NO_ROUTE = 'none';
/** Addresses without a route are refused like their neighbours. */
const belowApi: RouteTraits = { route: NO_ROUTE, kind: undefined, crossOrigin: 'any', pages: false };
const elsewhere: RouteTraits = { route: NO_ROUTE, kind: undefined, crossOrigin: undefined, pages: true };
const isBelowApi = (url: string): boolean => /^\/+api(\/|\?|$)/.test(url);

/** For addresses of any headers; OPTIONS has no route, so the address tells them. */
function preflight(request: FastifyRequest, { crossOrigin }: RouteTraits): HttpResponse | undefined {
  const requested = request.headers['access-control-request-method'];
  if (request.method !== 'OPTIONS' || !requested || crossOrigin !== 'any') return undefined;
  const headers = request.headers['access-control-request-headers'];
  return {
    status: 200,
    headers: {
      ...corsHeaders(request),
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
      'access-control-max-age': '7200',
      ...(headers === undefined ? {} : { 'access-control-allow-headers': headers }),
    },
    body: '',
  };
}

/** Headers that a page of another origin may send to a route for simple headers (spec: OAuth 2.0 provider, 10). */
const crossOriginHeaders = new Set([
  'accept',
  'accept-language',
  'authorization',
  'content-language',
  'content-type',
]);

/**
 * The preflight of such a route; where it names another header, the response has no permission, and the
 * browser refuses.
 */
function narrowPreflight(request: FastifyRequest, methods: readonly string[]): HttpResponse | undefined {
  if (!request.headers['access-control-request-method']) return undefined;
  const requested = request.headers['access-control-request-headers'] ?? '';
  const names = requested.split(',').map((name) => name.trim().toLowerCase());
  if (names.some((name) => name !== '' && !crossOriginHeaders.has(name))) return undefined;
  return {
    status: 200,
    headers: {
      ...corsHeaders(request),
      'access-control-allow-methods': [...methods, 'OPTIONS'].join(', '),
      'access-control-allow-headers': 'Authorization, Content-Type',
      'access-control-max-age': '7200',
    },
    body: '',
  };
}

/** Weak ETags of whole bodies, unless they have one already: an unchanged GET is answered with 304 (facts §10). */
function conditional(request: FastifyRequest, response: HttpResponse, sum?: string): HttpResponse {
  const safe = request.method === 'GET' || request.method === 'HEAD';
  if (!safe || response.status !== 200 || response.body instanceof Readable || response.body === undefined)
    return response;
  // A client that may not store it has nothing to compare.
  if (response.headers['cache-control'] === 'no-store') return response;
  const etag = response.headers.etag ?? `W/"${sum ?? hash('sha1', response.body, 'base64url')}"`;
  const headers: Record<string, string> = {
    'cache-control': 'max-age=0, private, must-revalidate',
    ...response.headers,
    etag,
  };
  const known = request.headers['if-none-match'];
  const same =
    known !== undefined &&
    (known === '*' || known.split(',').some((one) => one.trim().replace(/^(?!W\/)/, 'W/') === etag));
  if (!same) return { ...response, headers };
  const { 'content-type': _, ...rest } = headers;
  return { ...response, status: 304, headers: rest, body: '' };
}

const isLong = (body: unknown): body is string | Buffer =>
  (typeof body === 'string' || Buffer.isBuffer(body)) && body.length > PIECE_LENGTH;

/** Bytes: a shorter response fits the system's buffers, however slow its client is. */
const SHORT_RESPONSE_BYTES = 65_536;

/**
 * The response in the client's preferred coding, if it may be compressed; caches learn that there are others.
 */
async function encoded(
  { headers: { 'accept-encoding': accepted } }: FastifyRequest,
  response: HttpResponse,
  compressible: boolean,
): Promise<HttpResponse> {
  if (!compressible) return response;
  const { vary = commonHeaders.vary } = response.headers;
  const headers = { ...response.headers, vary: `${vary}, Accept-Encoding` };
  const { body } = response;
  const coding = preferredCoding(accepted?.toString());
  // A 304 has no body.
  if (coding === undefined || !body || body instanceof Readable) return { ...response, headers };
  const compressed = await compress(body, coding);
  if (compressed === undefined) return { ...response, headers };
  return { ...response, headers: { ...headers, 'content-encoding': coding }, body: compressed };
}

/** Fastify's own refusals, in the API's words. */
function fromFramework(error: { statusCode?: number; code?: string }): Failure | undefined {
  if (error.statusCode === 414) return tooLong();
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return new Failure('bad_request', '400 Bad request');
  }
  return undefined;
}

/** Builds the server, which does not listen yet. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { log } = options;
  const rates = createRateWatch(options.slowestClient);
  const join = joinPathSegments(options.routes.map((route) => route.path));
  const app = fastify({
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    // While closing, the load gauge answers 503.
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: (raw) => {
      const given = raw.headers['x-request-id'];
      return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
    },
    exposeHeadRoutes: false,
    rewriteUrl: (raw) => join(raw.url ?? '/'),
    routerOptions,
    clientErrorHandler: (error, socket) => {
      const overflow = (error as NodeJS.ErrnoException).code === 'HPE_HEADER_OVERFLOW';
      const line = overflow ? '414 URI Too Long' : '400 Bad Request';
      const body = JSON.stringify({ message: overflow ? '414 Request-URI Too Large' : '400 Bad request' });
      if (socket.writable) {
        socket.end(
          `HTTP/1.1 ${line}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
        );
      } else socket.destroy();
    },
    frameworkErrors: (error, request, reply) => {
      void send(
        request,
        reply,
        renderFailure(fromFramework(error) ?? new Failure('bad_request', '400 Bad request')),
      );
    },
  });
  // A GET may carry its query as a body, because query strings can be too long (spec: General request rules,
  // 2).
  app.addHttpMethod('GET', { hasBody: true, overrideExisting: true });
  app.addHttpMethod('HEAD', { hasBody: true, overrideExisting: true });
  // No body is read before caller and access are checked.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));

  app.addHook('onClose', async () => rates.stop());

  const rest = options.routes.find(({ path }) => path === ANY_PATH);
  const restTraits = rest && traitsAt(routerPath(rest.path), [rest]);
  const find = pathFinder(options.routes.filter((route) => route !== rest));

  type Beginning = { at: number; traits: RouteTraits; found: Found | undefined; route: Route | undefined };

  function begin(request: FastifyRequest): Beginning {
    const found = find(request.url);
    const route = found?.declared.methods.get(methodOf(request));
    const traits = route && found ? found.declared.traits : isBelowApi(request.url) ? belowApi : elsewhere;
    return { at: monotonic(), traits, found, route };
  }

  /** When and where requests began. */
  const begun = new WeakMap<FastifyRequest, Beginning>();

  /** Requests that the framework refuses have not begun. */
  const beginningOf = (request: FastifyRequest) => begun.get(request) ?? begin(request);

  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    response: HttpResponse,
    other?: RouteTraits,
  ): Promise<FastifyReply> {
    const beginning = beginningOf(request);
    const { route, kind, crossOrigin } = other ?? beginning.traits;
    const compressible = isCompressible(request, response);
    const hash = isLong(response.body) ? createHash('sha1') : undefined;
    const whole =
      hash && isLong(response.body)
        ? { ...response, body: await encodeInTurns(response.body, hash) }
        : response;
    const final = await encoded(
      request,
      conditional(request, whole, hash?.digest('base64url')),
      compressible,
    );
    const milliseconds = monotonic() - beginning.at;
    reply.code(final.status);
    reply.headers(commonHeaders);
    if (crossOrigin === 'any') reply.headers(corsHeaders(request));
    if (options.load.closing()) reply.header('connection', 'close');
    reply.headers({
      ...final.headers,
      'x-request-id': request.id,
      'x-runtime': (milliseconds / 1_000).toFixed(6),
    });
    options.observe({ method: request.method, route, status: final.status, seconds: milliseconds / 1_000 });
    log.info('request', {
      request_id: request.id,
      method: request.method,
      route,
      kind,
      // A 404's path is logged because its route is the same for all; metrics cannot have each path.
      path: final.status === 404 && openRoutes.has(route) ? pathOf(request) : undefined,
      status: final.status,
      ms: Math.round(milliseconds * 10) / 10,
      actor: final.actor,
      failure: final.failure,
    });
    const { body = '' } = final;
    if (body instanceof Readable || body.length > SHORT_RESPONSE_BYTES) rates.watchAnswer(reply.raw);
    const withoutBody = request.method === 'HEAD' && !(body instanceof Readable);
    if (withoutBody) reply.header('content-length', Buffer.byteLength(body));
    // A serialiser of our own keeps the framework from changing the content type, which public clients
    // compare whole.
    return reply.serializer((text: string) => text).send(withoutBody ? '' : body);
  }

  /**
   * Any thrown value as a response; an unexpected one is logged whole, and the client gets one fixed
   * sentence.
   */
  function failed(
    request: FastifyRequest,
    thrown: unknown,
    { route, pages }: RouteTraits = beginningOf(request).traits,
  ): HttpResponse {
    const error = translateDatabaseError(thrown, options.unique);
    const isPage = pages && wantsPage(request.headers.accept);
    if (error instanceof Failure) {
      if (error.kind === 'unavailable' && error.details.cause)
        log.error('unavailable', error.details.cause, { request_id: request.id });
      return isPage ? failurePage(error) : renderFailure(error);
    }
    log.error('fault', error, { request_id: request.id, route });
    return isPage ? serverErrorPage(request.id) : serverError(request.id);
  }

  app.addHook('onRequest', (request, reply, done) => {
    const beginning = begin(request);
    const { traits } = beginning;
    begun.set(request, beginning);
    // Registered here: a client may disconnect before the response, and `close` is emitted once.
    reply.raw.once('close', () => options.load.leave());
    const shed = options.load.enter(traits.kind === 'probe');
    if (shed) {
      void send(request, reply, renderFailure(shed));
      return;
    }
    if (Buffer.byteLength(request.raw.url ?? '') > options.maximumUrlLength) {
      void send(request, reply, renderFailure(tooLong()));
      return;
    }
    const response = preflight(request, traits);
    if (response) {
      void send(request, reply, response);
      return;
    }
    done();
  });

  app.setErrorHandler((error: { statusCode?: number; code?: string }, request, reply) => {
    const known = error instanceof Failure ? undefined : fromFramework(error);
    return send(request, reply, known ? renderFailure(known) : failed(request, error));
  });

  /** Runs a route; with `traits` where the address has none. */
  async function run(
    route: Route,
    request: FastifyRequest,
    reply: FastifyReply,
    params: Record<string, string>,
    traits?: RouteTraits,
  ): Promise<FastifyReply> {
    if (hasBody(request)) rates.watchBody(request.raw);
    const bodyLimit = route.bodyLimit ?? manners[route.kind].bodyLimit;
    const asked = new IncomingRequest(request, reply.raw, options.origins, bodyLimit, params);
    const caller: CallerContext = { name: addressKey(asked.address) };
    reply.raw.once('close', () => caller.memory?.release());
    let response: HttpResponse;
    try {
      response = await runForCaller(caller, () => handleAndHold(route, asked));
    } catch (error) {
      response = failed(request, error, traits);
    } finally {
      asked.end();
    }
    const { replyHeaders } = asked;
    const around = response.status === 429 ? ofRefusingThrottle(replyHeaders) : replyHeaders;
    const { crossOrigin } = traits ?? beginningOf(request).traits;
    const cors = crossOrigin === 'simple' ? corsHeaders(request) : {};
    return send(
      request,
      reply,
      { ...response, headers: { ...cors, ...around, ...response.headers } },
      traits,
    );
  }

  /** The response to a method that the path does not have. */
  function withoutMethod(request: FastifyRequest, { methods: declared }: Declared): HttpResponse {
    const routes = [...declared.values()];
    const methods = routes.flatMap(({ method }) => withHead(method));
    if (request.method !== 'OPTIONS')
      return json(
        405,
        { message: '405 Method Not Allowed', error: '405 Not Allowed' },
        { allow: methods.join(', ') },
      );
    const told: HttpResponse = {
      status: 200,
      headers: { allow: `${methods.join(', ')}, OPTIONS` },
      body: '',
    };
    if (!routes.some(({ crossOrigin }) => crossOrigin === 'simple')) return told;
    return (
      narrowPreflight(
        request,
        routes.map(({ method }) => method),
      ) ?? told
    );
  }

  function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { found, route, traits } = beginningOf(request);
    if (found && route) return run(route, request, reply, found.params);
    const path = rest && readablePath(request);
    if (found && (path === undefined || !found.declared.isShared))
      return send(request, reply, withoutMethod(request, found.declared), found.declared.traits);
    if (rest && path !== undefined) return run(rest, request, reply, { path }, restTraits);
    return send(
      request,
      reply,
      traits.pages && wantsPage(request.headers.accept)
        ? notFoundPage()
        : json(404, {
            message: '404 Not Found',
            error: '404 Not Found',
            error_description: options.hintOfPath?.(request.originalUrl),
          }),
    );
  }

  app.all('*', answer);
  // Of methods that it does not know.
  app.setNotFoundHandler(answer);
  return app;
}

/** Runs the route; a long response counts as the request's memory until the client has read it. */
async function handleAndHold(route: Route, request: HttpRequest): Promise<HttpResponse> {
  const response = await route.handle(request);
  const { body } = response;
  if (typeof body === 'string' || Buffer.isBuffer(body)) holdForRequest(body.length);
  return response;
}

/** The traits of the routes of a path, which are of one kind. */
function traitsAt(route: string, routes: readonly Route[]): RouteTraits {
  const [kind, ...others] = new Set(routes.map((each) => each.kind));
  if (kind === undefined || others.length > 0) throw new Error(`routes of several kinds at ${route}`);
  const crossOrigin = routes.find((each) => each.crossOrigin)?.crossOrigin;
  return { route, kind, crossOrigin, pages: manners[kind].pages };
}

const openRoutes: ReadonlySet<string> = new Set([NO_ROUTE, routerPath(ANY_PATH)]);
/** Characters of an address in a log line. */
const MAX_PATH_LENGTH = 256;

/** Without the query, which may have credentials. */
const pathOf = ({ originalUrl }: FastifyRequest): string =>
  originalUrl.replace(/\?.*$/s, '').slice(0, MAX_PATH_LENGTH);

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** The decoded path of a GET or HEAD outside the API, without slashes around it. */
function readablePath({ method, originalUrl }: FastifyRequest): string | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  const path = originalUrl
    .replace(/\?.*$/s, '')
    .replace(/^https?:\/\/[^/]*/i, '')
    .replace(/\/{2,}/g, '/')
    .replace(/^\/|\/$/g, '');
  if (path === '' || isBelowApi(`/${path}`)) return undefined;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

const withHead = (method: Method): string[] => (method === 'GET' ? ['GET', 'HEAD'] : [method]);

function byPath(routes: readonly Route[]): Map<string, Map<Method, Route>> {
  const paths = new Map<string, Map<Method, Route>>();
  for (const route of routes) {
    const methods = paths.get(route.path) ?? new Map<Method, Route>();
    if (methods.has(route.method)) throw new Error(`two endpoints at ${route.method} ${route.path}`);
    paths.set(route.path, methods.set(route.method, route));
  }
  return paths;
}

/** The port of a listening server. */
export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen');
  return address.port;
}
