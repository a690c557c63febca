/**
 * An endpoint is one value: what it is called, who may call it, what it takes, what leaves, and what it does.
 * The order of answers is fixed here for all of them: 401 who → 404/403/301 may they → 400 shape → handler.
 */
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import type { Db } from '../platform/db/database.ts';
import type { Page, PageRequest } from '../platform/db/page.ts';
import { Failure, forbidden, notFound } from '../platform/failure.ts';
import type { Answer, HttpRequest } from '../platform/http/answer.ts';
import { readBody } from '../platform/http/body.ts';
import { compileDecoder } from '../platform/http/decode.ts';
import {
  choosePagination,
  type KeysetRule,
  keysetFields,
  keysetLink,
  offsetHeaders,
  type PageQuery,
  pageFields,
} from '../platform/http/pagination.ts';
import { addressKey, rateLimitHeaders } from '../platform/http/rate-limit.ts';
import { mergeParameters, parseUrlEncoded, type RawObject } from '../platform/http/raw-parameters.ts';
import { compileSerializer } from '../platform/http/serialize.ts';
import type { Method, Route } from '../platform/http/server.ts';
import type { Access, AccessQuestion } from './access/access.ts';
import { Moved } from './access/find.ts';
import type { Caller } from './identity/actor.ts';
import { requireScope } from './identity/authenticate.ts';
import { presentedCredential } from './identity/credentials.ts';
import { answerMoved } from './moved.ts';
import type { Services } from './services.ts';
import type { ApplicationSettings, SettingName } from './settings/definitions.ts';

/** What a handler is given. */
export type Context<Input, Subject, C extends Caller> = {
  db: Db;
  services: Services;
  settings: ApplicationSettings;
  actor: C;
  subject: Subject;
  input: Input;
  /** Only listings read it. */
  page: PageRequest;
  request: HttpRequest;
  /** Throws 412 when the client's If-Unmodified-Since is older than the object. Every DELETE calls it. */
  unmodified(updatedAt: Date): void;
};

/** An answer with another status, with headers, or without a record; `value` is what the reply schema describes. */
export class Reply<T> {
  readonly status: number;
  readonly value: T | undefined;
  readonly headers: Record<string, string>;
  constructor(status: number, value?: T, headers: Record<string, string> = {}) {
    this.status = status;
    this.value = value;
    this.headers = headers;
  }
}

/** For replies without a body. */
export const noContent = Type.Null({ description: 'No body.' });
/** For replies that are a file: the handler gives a Reply whose value is the bytes. */
export const bytes = Type.Unsafe<Buffer>({ type: 'string', format: 'binary' });
/** `{message: '202 Accepted'}`: scheduled (spec: General request rules, 5). */
export const Accepted = Type.Object({ message: Type.String() });
export const accepted = (): Reply<{ message: string }> => new Reply(202, { message: '202 Accepted' });

/** An application limit of one endpoint: so many calls a period by one caller; the number is a setting. */
export type CallLimit = {
  name: string;
  setting: SettingName;
  /** The setting for anonymous callers, where it is another. */
  anonymousSetting?: SettingName;
  periodSeconds: number;
};

type Common<P extends TProperties, Subject, C extends Caller> = {
  method: Method;
  /** Below /api/v4. */
  path: string;
  /** One sentence, for the documentation. */
  summary: string;
  access: Access<Subject, C>;
  /** Where the default (api, or read_api as well for reads) is not what the spec says. */
  scopes?: readonly string[];
  /** Path, query and body parameters by one name each; a path parameter wins. */
  input?: TObject<P>;
  tier?: 'premium' | 'ultimate';
  /** Absent from the hosted offering. */
  offering?: 'self_managed';
  /** The feature flag that must be on. */
  flag?: string;
  jobToken?: boolean;
  deprecated?: { use: string };
  limit?: CallLimit;
  bodyLimit?: number;
};

export type Endpoint = {
  method: Method;
  path: string;
  summary: string;
  access: Access<unknown, Caller>;
  scopes: readonly string[];
  input: TObject;
  reply: TSchema;
  status: number;
  page?: 'offset' | KeysetRule;
  tier?: 'premium' | 'ultimate';
  offering?: 'self_managed';
  flag?: string;
  jobToken: boolean;
  deprecated?: { use: string };
  limit?: CallLimit;
  bodyLimit?: number;
  handle(context: Context<unknown, unknown, Caller>): Promise<unknown>;
};

const defaultStatus: Record<Method, number> = { GET: 200, POST: 201, PUT: 200, PATCH: 200, DELETE: 204 };
const defaultScopes = (method: Method) => (method === 'GET' ? ['api', 'read_api'] : ['api']);

/** One endpoint with one record, or none, for an answer. */
export function endpoint<P extends TProperties, R extends TSchema, Subject, C extends Caller>(
  spec: Common<P, Subject, C> & {
    reply: R;
    /** Where it is not the method's own (spec: General request rules, 5). */
    status?: number;
    handle(context: Context<Static<TObject<P>>, Subject, C>): Promise<Static<R> | Reply<Static<R>>>;
  },
): Endpoint {
  const { input, scopes, status, jobToken, ...rest } = spec;
  return {
    ...rest,
    input: input ?? Type.Object({}),
    scopes: scopes ?? defaultScopes(spec.method),
    status: status ?? defaultStatus[spec.method],
    jobToken: jobToken ?? false,
    // The types were checked above; from here on endpoints of all shapes are in one list.
  } as unknown as Endpoint;
}

/** A list: the handler gives a page of records, and the headers follow from it (spec: Pagination). */
export function listing<P extends TProperties, R extends TSchema, Subject, C extends Caller>(
  spec: Common<P, Subject, C> & {
    item: R;
    page: 'offset' | KeysetRule;
    handle(context: Context<Static<TObject<P>>, Subject, C>): Promise<Page<Static<R>>>;
  },
): Endpoint {
  const { item, ...rest } = spec;
  // Asking for keyset pages where there are none is refused, not overlooked (spec: Pagination).
  const { pagination } = keysetFields;
  const fields = spec.page === 'offset' ? { ...pageFields, pagination } : { ...pageFields, ...keysetFields };
  return endpoint({
    ...rest,
    input: Type.Object({ ...fields, ...spec.input?.properties }),
    reply: Type.Array(item),
    // A Page is turned into its items and headers by runEndpoint().
    handle: spec.handle as never,
  });
}

/** What the server answers with while an endpoint is hidden by offering or flag: as if there were none. */
const hidden = () => new Failure('not_found', '404 Not Found', { error: '404 Not Found' });

const tierOrder = { free: 0, premium: 1, ultimate: 2 } as const;

export type ReplyObserver = (endpoint: Endpoint, value: unknown) => void;

/** Makes the route that runs an endpoint. Validators and serialisers are compiled at first use. */
export function toRoute(
  services: Services,
  spec: Endpoint,
  flags: (name: string) => Promise<boolean>,
  observe?: ReplyObserver,
): Route {
  const { database, limiter, config } = services;
  const safeMethod = spec.method === 'GET';
  const keyset = typeof spec.page === 'object' ? spec.page : undefined;
  let decode: ((raw: RawObject) => unknown) | undefined;
  let serialize: ((value: unknown) => string) | undefined;

  async function identify(
    request: HttpRequest,
    query: RawObject,
    settings: ApplicationSettings,
  ): Promise<Caller> {
    const header = request.headers.sudo;
    const sudo = typeof query.sudo === 'string' ? query.sudo : Array.isArray(header) ? header[0] : header;
    const csrf = request.headers['x-csrf-token'];
    return services.authenticator.authenticate(
      {
        credential: presentedCredential(request.headers, query),
        jobToken: spec.jobToken,
        safeMethod: request.method === 'GET' || request.method === 'HEAD',
        csrfToken: typeof csrf === 'string' ? csrf : undefined,
        sudo,
      },
      settings,
    );
  }

  /** Counts the request against the instance's throttle for this kind of caller; every answer says so. */
  async function throttle(
    request: HttpRequest,
    caller: Caller,
    settings: ApplicationSettings,
  ): Promise<void> {
    const name = caller ? 'throttle_authenticated_api' : 'throttle_unauthenticated_api';
    const limit = settings[`${name}_requests_per_period`];
    const periodSeconds = settings[`${name}_period_in_seconds`];
    if (!settings[`${name}_enabled`] || limit === 0 || periodSeconds === 0) return;
    const key = caller
      ? `${name}:${caller.sudoBy?.id ?? caller.id}`
      : `${name}:${addressKey(request.address)}`;
    const taking = limiter.take(key, { limit, periodSeconds });
    const taken = taking instanceof Promise ? await taking : taking;
    Object.assign(request.replyHeaders, rateLimitHeaders(taken, name, periodSeconds));
    if (!taken.allowed) throw new Throttled(settings.rate_limiting_response_text || 'Retry later');
  }

  async function limitCalls(
    request: HttpRequest,
    caller: Caller,
    settings: ApplicationSettings,
  ): Promise<void> {
    if (!spec.limit) return;
    const { name, periodSeconds, setting, anonymousSetting } = spec.limit;
    const limit = settings[caller ? setting : (anonymousSetting ?? setting)];
    if (typeof limit !== 'number' || limit === 0) return;
    const key = `${name}:${caller ? caller.id : addressKey(request.address)}`;
    const taking = limiter.take(key, { limit, periodSeconds });
    const taken = taking instanceof Promise ? await taking : taking;
    if (taken.allowed) return;
    const error = 'This endpoint has been requested too many times. Try again later.';
    throw new Failure('too_many_requests', { error } as never, {
      headers: { 'retry-after': String(Math.min(60, periodSeconds)) },
    });
  }

  function present(value: unknown, context: Context<unknown, unknown, Caller>): Answer {
    const given = value instanceof Reply ? value : undefined;
    const status = given?.status ?? spec.status;
    let content = given ? given.value : value;
    const headers = { ...given?.headers };
    if (spec.page && !given) {
      const page = value as Page<unknown>;
      Object.assign(headers, pageHeaders(page, context, keyset, config));
      content = page.items;
    }
    if (spec.reply === bytes && Buffer.isBuffer(content)) return { status, headers, body: content };
    if (spec.reply === noContent || content === undefined) return { status, headers, body: '' };
    observe?.(spec, content);
    serialize ??= compileSerializer(spec.reply);
    return { status, headers: { 'content-type': 'application/json', ...headers }, body: serialize(content) };
  }

  async function handle(request: HttpRequest): Promise<Answer> {
    if (spec.offering === 'self_managed' && config.offering === 'hosted') throw hidden();
    if (spec.flag && !(await flags(spec.flag))) throw hidden();
    const reading = services.settings.read();
    const settings = reading instanceof Promise ? await reading : reading;
    const query = parseUrlEncoded(request.query);
    let caller: Caller;
    try {
      caller = await identify(request, query, settings);
    } catch (error) {
      // A wrong credential is nobody's call, and counts as one.
      await throttle(request, undefined, settings);
      throw error;
    }
    await throttle(request, caller, settings);
    if (
      settings.maintenance_mode &&
      !safeMethod &&
      !(caller?.admin && spec.path.startsWith('/application/'))
    ) {
      throw new Failure(
        'unavailable',
        settings.maintenance_mode_message || '503 Service Unavailable: maintenance',
      );
    }
    if (!safeMethod) services.disk.refuseWrites();
    requireScope(caller, spec.scopes);
    await limitCalls(request, caller, settings);
    // The database would choke on it, and nothing is named so.
    if (Object.values(request.params).some((value) => value.includes('\0'))) throw notFound();
    const question: AccessQuestion = { sql: database.points, caller, params: request.params };
    const { subject, actor } = await spec.access.find(question);
    if (spec.tier && tierOrder[config.tier] < tierOrder[spec.tier]) throw forbidden();
    decode ??= compileDecoder(spec.input) as (raw: RawObject) => unknown;
    const input = decode(mergeParameters(query, await readBody(request), request.params));
    const page: PageRequest = spec.page
      ? {
          ...choosePagination(keyset, input as PageQuery, caller !== undefined, config.maximumOffset),
          countLimit: config.paginationCountLimit,
        }
      : { kind: 'offset', page: 1, perPage: 1, offset: 0, countLimit: 0 };
    const context = {
      db: database.db,
      services,
      settings,
      actor,
      subject,
      input,
      page,
      request,
      unmodified: unmodifiedSince(request),
    };
    const value = await spec.handle(context);
    if (!safeMethod) services.wake();
    const answer = present(value, context);
    return { ...answer, ...(caller && { actor: caller.username }) };
  }

  return {
    method: spec.method,
    path: `/api/v4${spec.path}`,
    ...(spec.bodyLimit !== undefined && { bodyLimit: spec.bodyLimit }),
    handle: (request) => handle(request).catch((error: unknown) => answerUnhandled(request, error)),
  };
}

/** 429 in plain text, as the throttles in front of the API answer (facts §9). */
class Throttled extends Error {}

function answerUnhandled(request: HttpRequest, error: unknown): Answer {
  if (error instanceof Moved) return answerMoved(request, error.projectId);
  if (!(error instanceof Throttled)) throw error;
  const headers = { 'content-type': 'text/plain; charset=utf-8' };
  return { status: 429, headers, body: `${error.message}\n`, failure: 'too_many_requests' };
}

function pageHeaders(
  page: Page<unknown>,
  context: Context<unknown, unknown, Caller>,
  rule: KeysetRule | undefined,
  config: Services['config'],
): Record<string, string> {
  const { request, page: asked } = context;
  const address = { origin: request.origin, path: request.path, query: request.query };
  if (asked.kind === 'keyset') {
    const link = rule && keysetLink(address, rule, asked, page.last);
    return link === undefined ? {} : { link };
  }
  return offsetHeaders({
    address,
    page: asked.page,
    perPage: asked.perPage,
    total: page.total,
    hasNext: page.more,
    omitTotals: config.offering === 'hosted',
  });
}

/** Compares with If-Unmodified-Since, in whole seconds; a header that cannot be read is ignored (facts §10). */
function unmodifiedSince(request: HttpRequest): (updatedAt: Date) => void {
  return (updatedAt) => {
    const header = request.headers['if-unmodified-since'];
    const since = typeof header === 'string' ? Date.parse(header) : Number.NaN;
    if (Number.isNaN(since)) return;
    if (Math.floor(updatedAt.getTime() / 1_000) * 1_000 > since) {
      throw new Failure('precondition_failed', '412 Precondition Failed');
    }
  };
}

/** The record that an id named, or 404. */
export function found<T>(value: T | undefined, resource?: string): T {
  if (value === undefined) throw notFound(resource);
  return value;
}
