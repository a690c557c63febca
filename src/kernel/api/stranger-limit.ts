/**
 * Limits addresses that present unknown keys at public endpoints: over the limit in a minute, they are
 * refused before their request is read. All processes share the counters.
 */
import { monotonic } from '../../platform/clock.ts';
import { Failure } from '../../platform/failure.ts';
import { addressKey, type RateLimiter } from '../../platform/http/rate-limit.ts';

export type StrangerLimit = {
  /** Throws 429 for an address over the limit. */
  refuse(address: string): void;
  /** Counts a failure of the address. */
  count(address: string): Promise<void>;
};

const FAILURES = { limit: 300, periodSeconds: 60 };
/** Known addresses over the limit; beyond this the oldest is removed. */
const MAX_CLOSED = 10_000;

/** `name` separates the counters of different endpoints. */
export function createStrangerLimit(limiter: RateLimiter, name: string): StrangerLimit {
  /** Ends in monotonic milliseconds, by address. */
  const closed = new Map<string, number>();
  return {
    refuse(address) {
      const key = addressKey(address);
      const left = (closed.get(key) ?? 0) - monotonic();
      if (left <= 0) return void closed.delete(key);
      throw new Failure('too_many_requests', '429 Too Many Requests: too many wrong keys from this address', {
        headers: { 'retry-after': String(Math.ceil(left / 1_000)) },
      });
    },
    async count(address) {
      const key = addressKey(address);
      const taken = await limiter.take(`${name}:${key}`, FAILURES);
      if (taken.allowed) return;
      const [oldest] = closed.size >= MAX_CLOSED ? closed.keys() : [];
      if (oldest !== undefined) closed.delete(oldest);
      closed.set(key, monotonic() + taken.retryAfter * 1_000);
    },
  };
}
