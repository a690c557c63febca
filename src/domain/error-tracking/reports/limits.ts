/** Limits of the collector: size of reports and rate of events. */
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { monotonic } from '../../../platform/clock.ts';
import { Failure } from '../../../platform/failure.ts';
import type { RateLimiter } from '../../../platform/http/rate-limit.ts';

/** Bytes of a report, packed or not: events come with attachments, which are not kept. */
export const MAX_REPORT_BYTES = 20 * 1_048_576;

export const tooLarge = (): Failure =>
  refusal('payload_too_large', '413 Request Entity Too Large', 'too large');

/** A failure with its reason in the header where Sentry clients look for it. */
export const refusal = (
  kind: Failure['kind'],
  text: string,
  reason: string,
  headers: Record<string, string> = {},
): Failure => new Failure(kind, text, { headers: { 'x-sentry-error': reason, ...headers } });

/** A refusal that is not of the collector alone, with its kind for a reason. */
export function withReason(failure: Failure): Failure {
  const { kind, publicMessage, details } = failure;
  const headers = { 'x-sentry-error': kind.replaceAll('_', ' '), ...details.headers };
  return new Failure(kind, publicMessage, { ...details, headers });
}

const tooMany = (seconds: number): Failure =>
  refusal('too_many_requests', '429 Too Many Requests', 'too many events', {
    'retry-after': String(seconds),
    'x-sentry-rate-limits': `${seconds}:error:project`,
  });

export type EventLimit = {
  /** Throws 429 where the project is known to be over its limit, before anything is read. */
  refuse(projectId: number): void;
  /** Counts events of the project; 429 when they are too many. */
  take(projectId: number, events: number, settings: ApplicationSettings): Promise<void>;
};

const MINUTE_SECONDS = 60;
/** Projects that are remembered as over their limit; the oldest is dropped beyond it. */
const MAX_PROJECTS = 10_000;

/** Events of a project in a minute, over all processes. */
export function createEventLimit(limiter: RateLimiter): EventLimit {
  /** The end of a project's limit, in monotonic milliseconds. */
  const closed = new Map<number, number>();

  function close(projectId: number, seconds: number): void {
    const [oldest] = closed.size >= MAX_PROJECTS ? closed.keys() : [];
    if (oldest !== undefined) closed.delete(oldest);
    closed.set(projectId, monotonic() + seconds * 1_000);
  }

  return {
    refuse(projectId) {
      const left = (closed.get(projectId) ?? 0) - monotonic();
      if (left > 0) throw tooMany(Math.ceil(left / 1_000));
      closed.delete(projectId);
    },
    async take(projectId, events, settings) {
      const limit = settings.error_tracking_events_per_minute;
      if (limit === 0) return;
      for (let count = 0; count < events; count++) {
        const taken = await limiter.take(`error_events:${projectId}`, {
          limit,
          periodSeconds: MINUTE_SECONDS,
        });
        if (taken.allowed) continue;
        close(projectId, taken.retryAfter);
        throw tooMany(taken.retryAfter);
      }
    },
  };
}
