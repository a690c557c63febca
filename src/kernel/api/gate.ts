/**
 * The gate: the instance's own refusals, counted and decided alike for the API, pages, protocols, git and receivers.
 * Each kind of route says them in its own form.
 */
import { Failure } from '../../platform/failure.ts';
import type { HttpRequest, HttpResponse } from '../../platform/http/messages.ts';
import { rateLimitHeaders } from '../../platform/http/rate-limit.ts';
import type { Services } from '../services.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';

type Throttles = {
  [Name in keyof ApplicationSettings]: Name extends `${infer Throttle}_period_in_seconds` ? Throttle : never;
}[keyof ApplicationSettings] &
  `throttle_${string}`;

/** A throttle of the instance (facts: Rate limits), and the key of its counter. */
export type Throttle = { name: Throttles; key: string | number };

/** Undefined where the throttle is off. */
function ruleOf(settings: ApplicationSettings, name: Throttles) {
  const limit =
    name === 'throttle_incident_management_notification'
      ? settings.throttle_incident_management_notification_per_period
      : settings[`${name}_requests_per_period`];
  const periodSeconds = settings[`${name}_period_in_seconds`];
  return settings[`${name}_enabled`] && limit > 0 && periodSeconds > 0 ? { limit, periodSeconds } : undefined;
}

/** Whether the throttle is on: counting needs no key where it is off. */
export const isThrottled = (settings: ApplicationSettings, name: Throttles): boolean =>
  ruleOf(settings, name) !== undefined;

/** Counts the request against the throttle, whose headers every response has; false over the limit. */
export function passes(
  { limiter }: Pick<Services, 'limiter'>,
  request: HttpRequest,
  settings: ApplicationSettings,
  { name, key }: Throttle,
): boolean | Promise<boolean> {
  const rule = ruleOf(settings, name);
  if (!rule) return true;
  const count = (taken: Awaited<ReturnType<typeof limiter.take>>): boolean => {
    Object.assign(request.replyHeaders, rateLimitHeaders(taken, name, rule.periodSeconds));
    return taken.allowed;
  };
  const taking = limiter.take(`${name}:${key}`, rule);
  return taking instanceof Promise ? taking.then(count) : count(taking);
}

/** The words of a refusal by a throttle. */
export const throttledText = ({ rate_limiting_response_text: text }: ApplicationSettings): string =>
  text || 'Retry later';

/** The refusal of what is no API: plain text; undefined where all throttles let the request pass. */
export async function throttled(
  services: Services,
  request: HttpRequest,
  settings: ApplicationSettings,
  throttles: readonly Throttle[],
): Promise<HttpResponse | undefined> {
  for (const throttle of throttles) {
    if (await passes(services, request, settings, throttle)) continue;
    const headers = { 'content-type': 'text/plain; charset=utf-8' };
    return { status: 429, headers, body: `${throttledText(settings)}\n`, failure: 'too_many_requests' };
  }
  return undefined;
}

/** 503 for writes in maintenance mode, or while the disk is full. */
export function refuseWrites(
  { disk }: Pick<Services, 'disk'>,
  settings: ApplicationSettings,
  maintenance = '503 Service Unavailable: maintenance',
): void {
  if (settings.maintenance_mode)
    throw new Failure('unavailable', settings.maintenance_mode_message || maintenance);
  disk.refuseWrites();
}
