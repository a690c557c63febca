/**
 * The gate: what the instance refuses, by one table for all kinds of routes. A route comes here when it knows its
 * caller, before it looks at scopes and body: first the throttles, then maintenance mode, then a full disk.
 */
import { Failure } from '../../platform/failure.ts';
import type { HttpRequest, HttpResponse } from '../../platform/http/messages.ts';
import { addressKey, rateLimitHeaders, type Taken } from '../../platform/http/rate-limit.ts';
import type { RouteKind } from '../../platform/http/server/route-kinds.ts';
import type { Needs } from '../services.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';

/** The throttles of the instance (facts: Rate limits). */
type ThrottleName = {
  [Name in keyof ApplicationSettings]: Name extends `${infer Throttle}_period_in_seconds` ? Throttle : never;
}[keyof ApplicationSettings] &
  `throttle_${string}`;

type Rule = {
  /** Counts requests by their account; without it they pass. */
  account?: ThrottleName;
  /** Counts requests without an account by their address; without it they pass. */
  address?: ThrottleName;
  /** What writes are told in maintenance mode, where its administrator says nothing; without it they go on. */
  maintenance?: string;
};

const MAINTENANCE = '503 Service Unavailable: maintenance';

/** A full disk refuses the writes of every kind. Routes that are static, or probes, have nothing to refuse. */
const rules: Record<GatedKind, Rule> = {
  api: {
    account: 'throttle_authenticated_api',
    address: 'throttle_unauthenticated_api',
    maintenance: MAINTENANCE,
  },
  // In maintenance, too, people sign in, and see to their accounts.
  page: { account: 'throttle_authenticated_web', address: 'throttle_unauthenticated_web' },
  file: { account: 'throttle_authenticated_web', address: 'throttle_unauthenticated_web' },
  // The body tells who the client is, so its address counts. Programs stay signed in as people do.
  protocol: { address: 'throttle_unauthenticated_web' },
  git: {
    address: 'throttle_unauthenticated_git_http',
    maintenance: 'The server is in maintenance: pushes are refused for now.',
  },
  // One pull of an account is many requests.
  registry: {
    address: 'throttle_unauthenticated_web',
    maintenance: 'The server is in maintenance: pushes are refused for now.',
  },
  // Senders have keys, and count by what the key is for.
  ingest: { maintenance: MAINTENANCE },
};

type GatedKind = Exclude<RouteKind, 'static' | 'probe'>;

/** A request at the gate. */
type Visit = {
  kind: GatedKind;
  /** Whom it counts for; undefined for nobody, whose address counts. */
  account?: number | string | undefined;
  /** False where it is counted later, if at all. */
  counted?: false;
  /** What is wrong with its credential: it counts as nobody's, and this is thrown if no throttle refuses it. */
  wrong?: unknown;
  writes: boolean;
  /** At a protected path its address counts too (facts: Rate limits). */
  protected?: boolean;
  /** Administrators end maintenance in maintenance. */
  endsMaintenance?: boolean;
};

type Refusal = HttpResponse | undefined;

/**
 * The refusal of a throttle, or undefined; throws 503 for writes in maintenance mode, or while the disk is full. A promise
 * only where the database must be asked: most requests are counted in memory.
 */
export function admit(
  services: Needs<'limiter' | 'disk'>,
  request: HttpRequest,
  settings: ApplicationSettings,
  visit: Visit,
): Refusal | Promise<Refusal> {
  const counting = visit.counted === false ? undefined : count(services, request, settings, visit);
  if (counting instanceof Promise)
    return counting.then((refusal) => refusal ?? judge(services, settings, visit));
  return counting ?? judge(services, settings, visit);
}

function count(
  services: Needs<'limiter'>,
  request: HttpRequest,
  settings: ApplicationSettings,
  { kind, account, protected: isProtected }: Visit,
): Refusal | Promise<Refusal> {
  const name = account === undefined ? rules[kind].address : rules[kind].account;
  const counting =
    name && throttle(services, request, settings, name, account ?? addressKey(request.address));
  if (!isProtected) return counting;
  return Promise.resolve(counting).then(
    (refusal) =>
      refusal ??
      throttle(services, request, settings, 'throttle_protected_paths', addressKey(request.address)),
  );
}

function judge(
  { disk }: Needs<'disk'>,
  settings: ApplicationSettings,
  { kind, wrong, writes, endsMaintenance }: Visit,
): undefined {
  if (wrong !== undefined) throw wrong;
  if (!writes) return;
  const { maintenance } = rules[kind];
  if (settings.maintenance_mode && maintenance !== undefined && !endsMaintenance)
    throw new Failure('unavailable', settings.maintenance_mode_message || maintenance);
  disk.refuseWrites();
}

/**
 * Counts the request against a throttle, whose headers its response has; the refusal beyond the limit. For what shows
 * only behind the gate: the project of a key, a password in a body.
 */
export function throttle(
  { limiter }: Needs<'limiter'>,
  request: HttpRequest,
  settings: ApplicationSettings,
  name: ThrottleName,
  key: string | number,
): Refusal | Promise<Refusal> {
  const rule = ruleOf(settings, name);
  if (!rule) return undefined;
  const refusal = (taken: Taken): Refusal => {
    Object.assign(request.replyHeaders, rateLimitHeaders(taken, name, rule.periodSeconds));
    if (taken.allowed) return undefined;
    const text = settings.rate_limiting_response_text || 'Retry later';
    const headers = { 'content-type': 'text/plain; charset=utf-8' };
    return { status: 429, headers, body: `${text}\n`, failure: 'too_many_requests' };
  };
  const taking = limiter.take(`${name}:${key}`, rule);
  return taking instanceof Promise ? taking.then(refusal) : refusal(taking);
}

/** Whether the throttle is on: counting needs no key where it is off. */
export const isThrottled = (settings: ApplicationSettings, name: ThrottleName): boolean =>
  ruleOf(settings, name) !== undefined;

/** Undefined where the throttle is off. */
function ruleOf(settings: ApplicationSettings, name: ThrottleName) {
  const limit =
    name === 'throttle_incident_management_notification'
      ? settings.throttle_incident_management_notification_per_period
      : settings[`${name}_requests_per_period`];
  const periodSeconds = settings[`${name}_period_in_seconds`];
  return settings[`${name}_enabled`] && limit > 0 && periodSeconds > 0 ? { limit, periodSeconds } : undefined;
}
