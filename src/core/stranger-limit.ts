/**
 * Addresses that present keys nothing was made for, at doors that anybody may call: after so many in a minute they are
 * refused before anything of theirs is read. All processes count together.
 */
import { monotonic } from '../platform/clock.ts';
import { Failure } from '../platform/failure.ts';
import { addressKey, type RateLimiter } from '../platform/http/rate-limit.ts';

export type StrangerLimit = {
  /** Throws 429 where the address is known to have failed too often. */
  refuse(address: string): void;
  /** Counts a failure of the address. */
  count(address: string): Promise<void>;
};

const FAILURES = { limit: 300, periodSeconds: 60 };
/** Addresses that are known to be over it; the oldest is forgotten beyond this. */
const MAX_CLOSED = 10_000;

/** `name` tells the counts of different doors apart. */
export function createStrangerLimit(limiter: RateLimiter, name: string): StrangerLimit {
  /** Until when, in monotonic milliseconds. */
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
