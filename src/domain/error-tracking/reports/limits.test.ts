/** The limit on a project's events in the collector. */
import { expect, test } from 'vitest';
import { defaultSettings } from '../../../kernel/settings/definitions.ts';
import { createRateLimiter } from '../../../platform/http/rate-limit.ts';
import { createEventLimit } from './limits.ts';

/** A limiter without other processes. */
function ownLimiter() {
  const leased = new Map<string, number>();
  return createRateLimiter({
    now: () => new Date(15_000),
    onFailure: (error) => {
      throw error;
    },
    lease: async (key, _start, want, limit) => {
      const before = leased.get(key) ?? 0;
      const granted = Math.min(want, limit - before);
      leased.set(key, before + granted);
      return { granted, leased: before + granted };
    },
  });
}

test('a project that is over its limit is refused before anything is read, and no other is', async () => {
  const limit = createEventLimit(ownLimiter());
  const settings = { ...defaultSettings, error_tracking_events_per_minute: 4 };
  await limit.take(1, 3, settings);
  limit.refuse(1);
  const failure = await limit.take(1, 2, settings).catch((error: unknown) => error);
  expect(failure).toMatchObject({
    status: 429,
    details: { headers: { 'x-sentry-rate-limits': '45:error:project', 'retry-after': '45' } },
  });
  expect(() => limit.refuse(1)).toThrow('429 Too Many Requests');
  limit.refuse(2);
  await limit.take(2, 4, settings);
});

test('without a limit there is none', async () => {
  const limit = createEventLimit(ownLimiter());
  await limit.take(1, 10_000, defaultSettings);
  expect(() => limit.refuse(1)).not.toThrow();
});
