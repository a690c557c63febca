/**
 * Runs an endpoint: every API request takes these steps in this order. Authentication 401 → access
 * 404/403/301 → input 400 → handler; throttles, scopes and refusals of the instance come between.
 */
import { Readable } from 'node:stream';
import { hasArriving, telling } from '../../platform/arriving.ts';
import { now } from '../../platform/clock.ts';
import { translateDatabaseError, type UniqueIndexes } from '../../platform/db/errors.ts';
import { Failure, forbidden, notFound, unauthenticated } from '../../platform/failure.ts';
import { readBody } from '../../platform/http/bodies/body.ts';
import type { HttpRequest, HttpResponse } from '../../platform/http/messages.ts';
import { compileDecoder } from '../../platform/http/parameters/decode.ts';
import {
  emptyObject,
  mergeParameters,
  parseUrlEncoded,
  type RawObject,
} from '../../platform/http/parameters/raw-parameters.ts';
import { addressKey } from '../../platform/http/rate-limit.ts';
import { serializeInTurns } from '../../platform/http/serialize-in-turns.ts';
import type { Route } from '../../platform/http/server/server.ts';
import type { Page } from '../../platform/pagination/page.ts';
import { type KeysetRule, keysetLink, offsetHeaders } from '../../platform/pagination/pagination.ts';
import { Moved } from '../access/find.ts';
import type { Caller } from '../actor.ts';
import { requireScope } from '../identity/authenticate.ts';
import { presentedCredential, presentedPackageToken } from '../identity/credentials.ts';
import type { DeployToken } from '../identity/deploy-token-queries.ts';
import { tokenOfPass } from '../identity/passes.ts';
import { JOB_USER, type Visitor, visitorOf } from '../identity/token-visitor.ts';
import type { Services } from '../services.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';
import { withDeprecation } from './deprecations.ts';
import { type Context, contentTypesOf, type Endpoint, noContent, Reply } from './endpoint.ts';
import {
  endsMaintenance,
  keysetRuleOf,
  pageRequestOf,
  refuseHidden,
  refuseTier,
  runHandler,
} from './endpoint-rules.ts';
import { admit, throttle } from './gate.ts';
import { withHint } from './hints.ts';
import { movedResponse } from './moved.ts';

/** Whose tokens package programs have; not those of OAuth (spec: OAuth 2.0 provider, 9). */
const packageTokenKinds = ['personal', 'impersonation', 'project', 'group'] as const;

/** As programs that take passes call a job. */
const CI_USER = 'ci_user';

/** Whom an administrator acts for, and the chain of events that the request belongs to. */
function actingFor({ headers }: HttpRequest, query: RawObject) {
  const { sudo: header, 'x-gitlab-event-uuid': chain } = headers;
  return {
    sudo: typeof query.sudo === 'string' ? query.sudo : Array.isArray(header) ? header[0] : header,
    eventChain: typeof chain === 'string' ? chain : undefined,
  };
}

/** Most package programs send their credentials only when they are asked for them. */
function withChallenge(error: unknown): unknown {
  if (!(error instanceof Failure) || error.kind !== 'unauthenticated') return error;
  const headers = { 'www-authenticate': 'Basic realm="GitLab Packages Registry"', ...error.details.headers };
  return new Failure(error.kind, error.publicMessage, { ...error.details, headers });
}

/** The result of an endpoint: the status, and on success the value that its reply describes. */
export type EndpointResult = { status: number; value?: unknown; contentType?: string | undefined };
export type ReplyObserver = (endpoint: Endpoint, answered: EndpointResult) => void;

/** The route of an endpoint. Validators and serialisers are compiled at first use. */
export function toRoute(
  services: Services,
  spec: Endpoint,
  flags: (name: string) => Promise<boolean>,
  unique: UniqueIndexes,
  observe?: ReplyObserver,
): Route {
  const { database, limiter, config } = services;
  const safeMethod = spec.method === 'GET';
  const keyset = keysetRuleOf(spec);
  const rest = spec.takesRest ? /\w+$/.exec(spec.path)?.[0] : undefined;
  let decode: ((raw: RawObject) => unknown) | undefined;

  async function identify(
    request: HttpRequest,
    query: RawObject,
    settings: ApplicationSettings,
  ): Promise<Caller> {
    const presented = presentedCredential(request.headers, query);
    const { 'x-csrf-token': csrf } = request.headers;
    return services.authenticator.authenticate(
      {
        credential: spec.ownCredential && presented.form === 'job_token' ? { form: 'none' } : presented,
        jobToken: spec.jobToken,
        rotatesToken: spec.rotatesToken ?? false,
        safeMethod: request.method === 'GET' || request.method === 'HEAD',
        csrfToken: typeof csrf === 'string' ? csrf : undefined,
        ...actingFor(request, query),
      },
      settings,
    );
  }

  /** Of a program that has no other credential than those of package formats, or none. */
  async function identifyPackageProgram(
    request: HttpRequest,
    query: RawObject,
    settings: ApplicationSettings,
  ): Promise<Visitor> {
    const presented = presentedPackageToken(request.headers);
    if (!presented) return { caller: await identify(request, query, settings) };
    // As git has it, with a name it is a job's only by that of CI jobs.
    const jobUsers = [undefined, JOB_USER, ...(spec.takesPass ? [CI_USER] : [])];
    const mayBeJob = spec.jobToken && jobUsers.includes(presented.username);
    const kinds = mayBeJob ? ([...packageTokenKinds, 'job'] as const) : packageTokenKinds;
    const behindPass = spec.takesPass && tokenOfPass(services.secretKey, presented.token, now());
    const token = behindPass || presented.token;
    const visitor = await visitorOf(
      services,
      settings,
      { ...presented, token },
      kinds,
      actingFor(request, query),
    );
    if (!visitor) throw unauthenticated();
    return visitor;
  }

  async function limitCalls(
    request: HttpRequest,
    caller: Caller,
    settings: ApplicationSettings,
  ): Promise<void> {
    if (!spec.limit || (spec.limit.exceptAdmins && caller?.admin)) return;
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

  /** HEAD may have headers of its own. */
  function observed(request: HttpRequest, answered: EndpointResult): void {
    if (request.method !== 'HEAD') observe?.(spec, answered);
  }

  async function present(value: unknown, context: Context<unknown, unknown, Caller>): Promise<HttpResponse> {
    const given = value instanceof Reply ? value : undefined;
    const status = given?.status ?? spec.status;
    let content = given ? given.value : value;
    const headers = { ...given?.headers };
    if (spec.page && !given) {
      const page = value as Page<unknown>;
      Object.assign(headers, pageHeaders(page, context, keyset, config));
      content = page.items;
    }
    if (contentTypesOf(spec.reply) && (Buffer.isBuffer(content) || content instanceof Readable)) {
      observed(context.request, { status, contentType: headers['content-type'] });
      return { status, headers, body: content };
    }
    if (spec.reply === noContent || content === undefined) {
      observed(context.request, { status });
      return { status, headers, body: '' };
    }
    if (observe && hasArriving(content)) {
      content = telling(content, (whole) => observed(context.request, { status, value: whole }));
    } else observed(context.request, { status, value: content });
    const body = await serializeInTurns(spec.reply, content);
    // The response has started: all that remains is to truncate it.
    if (body instanceof Readable)
      body.on('error', (error) =>
        services.log.error('an answer ended early', error, { request_id: context.request.id }),
      );
    return { status, headers: { 'content-type': 'application/json', ...headers }, body };
  }

  async function handle(request: HttpRequest): Promise<HttpResponse> {
    // Most endpoints are never hidden, and skip the wait.
    if (spec.offering || spec.flag) await refuseHidden(spec, config, flags);
    const reading = services.settings.read();
    const settings = reading instanceof Promise ? await reading : reading;
    const query = parseUrlEncoded(request.query);
    try {
      return await answer(request, query, settings);
    } catch (error) {
      throw withHint(request, query, spec.packageScope ? withChallenge(error) : error);
    }
  }

  async function answer(
    request: HttpRequest,
    query: RawObject,
    settings: ApplicationSettings,
  ): Promise<HttpResponse> {
    let caller: Caller;
    let deployToken: DeployToken | undefined;
    let wrong: unknown;
    try {
      if (spec.packageScope)
        ({ caller, deployToken } = await identifyPackageProgram(request, query, settings));
      else caller = await identify(request, query, settings);
    } catch (error) {
      wrong = error;
    }
    const isOwn = spec.ownCredential === true && caller === undefined && wrong === undefined;
    const admitting = admit(services, request, settings, {
      kind: 'api',
      account: deployToken ? `deploy_token:${deployToken.id}` : (caller?.sudoBy?.id ?? caller?.id),
      wrong,
      writes: !safeMethod,
      ...(isOwn && { counted: false }),
      endsMaintenance: endsMaintenance(spec, caller),
    });
    const refused = admitting instanceof Promise ? await admitting : admitting;
    if (refused) return refused;
    const answering = answerCaller(request, query, settings, { caller, deployToken });
    return isOwn ? answering.catch((error) => countFailed(request, settings, error)) : answering;
  }

  /** Many runners may be at one address, and ask all day: that throttle is for those whose tokens are not good. */
  async function countFailed(
    request: HttpRequest,
    settings: ApplicationSettings,
    error: unknown,
  ): Promise<HttpResponse> {
    const name = 'throttle_unauthenticated_api';
    const refusal = await throttle(services, request, settings, name, addressKey(request.address));
    if (refusal) return refusal;
    throw error;
  }

  async function answerCaller(
    request: HttpRequest,
    query: RawObject,
    settings: ApplicationSettings,
    { caller, deployToken }: { caller: Caller; deployToken: DeployToken | undefined },
  ): Promise<HttpResponse> {
    requireScope(caller, spec.scopes);
    if (deployToken && !deployToken.scopes.some((scope) => scope === spec.packageScope)) throw forbidden();
    await limitCalls(request, caller, settings);
    // PostgreSQL takes no NUL, and no name has one.
    if (Object.values(request.params).some((value) => value.includes('\0'))) throw notFound();
    const params =
      rest === undefined ? request.params : { ...request.params, [rest]: request.params['*'] ?? '' };
    const question = { sql: database.points, services, settings, caller, deployToken, params };
    const { subject, actor } = await spec.access.find(question);
    refuseTier(spec, config);
    decode ??= compileDecoder(spec.input) as (raw: RawObject) => unknown;
    const body = spec.stream ? emptyObject() : await readBody(request);
    const input = decode(mergeParameters(query, body, params));
    const page = pageRequestOf(spec, input, caller, config);
    const context = {
      db: database.db,
      services,
      settings,
      actor,
      deployToken,
      subject,
      input,
      page,
      request,
      unmodified: unmodifiedSince(request),
    };
    const value = await runHandler(spec, context);
    if (!safeMethod && !spec.wakesItself) services.wake();
    const presented = await present(value, context);
    if (spec.deprecated) presented.headers = withDeprecation(presented.headers, request.origin);
    return { ...presented, ...(caller && { actor: caller.username }) };
  }

  const bodyLimit = spec.stream ? Number.POSITIVE_INFINITY : spec.bodyLimit;
  return {
    kind: 'api',
    method: spec.method,
    path: `/api/v4${rest === undefined ? spec.path : spec.path.replace(/:\w+$/, '*')}`,
    crossOrigin: 'any',
    ...(bodyLimit !== undefined && { bodyLimit }),
    handle: (request) =>
      handle(request).catch((thrown: unknown) => {
        const error = translateDatabaseError(thrown, unique);
        if (error instanceof Failure) observed(request, { status: error.status });
        if (error instanceof Moved) return movedResponse(request, error.projectId);
        throw error;
      }),
  };
}

function pageHeaders(
  page: Page<unknown>,
  context: Context<unknown, unknown, Caller>,
  rule: KeysetRule | undefined,
  config: Services['config'],
): Record<string, string> {
  const { request, page: requested } = context;
  const address = { origin: request.origin, path: request.path, query: request.query };
  if (requested.kind === 'keyset') {
    const link = rule && keysetLink(address, rule, requested, page.last);
    return link === undefined ? {} : { link };
  }
  return offsetHeaders({
    address,
    page: requested.page,
    perPage: requested.perPage,
    total: page.total,
    hasNext: page.more,
    omitTotals: config.offering === 'hosted',
  });
}

/** Compares with If-Unmodified-Since, in whole seconds; an unreadable header is ignored (facts §10). */
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
