/**
 * Rate limits over fixed windows aligned to their period (spec: Limits). All processes share them: each leases a
 * fiftieth of a limit at a time from the database and spends it from memory, so that no request costs a write.
 */
import { isIP } from 'node:net';
import type { Sql } from '../db/driver/sql.ts';

export type RateLimit = { limit: number; periodSeconds: number };

export type Taken = {
  allowed: boolean;
  limit: number;
  /** Known requests of this window, this one and refused ones included. */
  observed: number;
  remaining: number;
  /** The window's end. */
  resetAt: Date;
  /** Whole seconds until then, at least 1. */
  retryAfter: number;
};

/**
 * Leases up to `want` of a window's `limit` for this process. `leased` is the total of all processes after
 * that, at most `limit`.
 */
export type Lease = (
  key: string,
  windowStart: Date,
  want: number,
  limit: number,
) => Promise<{ granted: number; leased: number }>;

export type RateLimiter = {
  /** Counts one request. Returns a promise only when the database must be asked. */
  take(key: string, limit: RateLimit): Taken | Promise<Taken>;
};

type Window = {
  startsAt: number;
  endsAt: Date;
  /** Leased by this process and not spent yet. */
  held: number;
  /** Leased by all processes, as far as is known here. */
  leased: number;
  refused: number;
  /** The pending lease, and the number of requests that wait for one. */
  leasing: Promise<void> | undefined;
  waiting: number;
};

const LEASES_PER_WINDOW = 50;
const SWEEP_INTERVAL_MS = 60_000;

/**
 * A limiter for this process. When a lease fails it counts by itself, and calls `onFailure` once until a
 * lease succeeds again: a limit that is too generous for a while harms less than refusing all requests.
 */
export function createRateLimiter(dependencies: {
  lease: Lease;
  now: () => Date;
  onFailure: (error: unknown) => void;
  /** Windows in memory; beyond it the oldest is dropped with its lease. */
  maximumKeys?: number;
}): RateLimiter {
  const { lease, now, onFailure, maximumKeys = 50_000 } = dependencies;
  const windows = new Map<string, Window>();
  let sweptAt = 0;
  let failing = false;

  function take(key: string, rate: RateLimit): Taken | Promise<Taken> {
    const time = now().getTime();
    const window = currentWindow(key, time, rate.periodSeconds * 1000);
    if (window.held > 0 || window.leased >= rate.limit) return takenFrom(window, rate.limit, time);
    return waitAndTake(key, window, rate.limit, time);
  }

  function currentWindow(key: string, time: number, period: number): Window {
    const startsAt = Math.floor(time / period) * period;
    const endsAt = startsAt + period;
    const known = windows.get(key);
    if (known?.startsAt === startsAt && known.endsAt.getTime() === endsAt) return known;

    windows.delete(key);
    makeRoom(time);
    const window: Window = {
      startsAt,
      endsAt: new Date(endsAt),
      held: 0,
      leased: 0,
      refused: 0,
      leasing: undefined,
      waiting: 0,
    };
    windows.set(key, window);
    return window;
  }

  /** Sweeps at most once a minute, so that a flood of new addresses does not walk the map each time. */
  function makeRoom(time: number): void {
    if (Math.abs(time - sweptAt) >= SWEEP_INTERVAL_MS) {
      sweptAt = time;
      for (const [key, window] of windows) if (window.endsAt.getTime() <= time) windows.delete(key);
    }
    const [oldest] = windows.size >= maximumKeys ? windows.keys() : [];
    if (oldest !== undefined) windows.delete(oldest);
  }

  async function waitAndTake(key: string, window: Window, limit: number, time: number): Promise<Taken> {
    window.waiting += 1;
    while (window.held === 0 && window.leased < limit) {
      window.leasing ??= refill(key, window, limit);
      await window.leasing;
    }
    window.waiting -= 1;
    return takenFrom(window, limit, time);
  }

  async function refill(key: string, window: Window, limit: number): Promise<void> {
    const want = Math.min(limit, Math.max(Math.ceil(limit / LEASES_PER_WINDOW), window.waiting));
    try {
      const { granted, leased } = await lease(key, new Date(window.startsAt), want, limit);
      window.held += granted;
      window.leased = granted === 0 ? limit : leased;
      failing = false;
    } catch (error) {
      if (!failing) onFailure(error);
      failing = true;
      const granted = Math.min(want, limit - window.leased);
      window.held += granted;
      window.leased += granted;
    } finally {
      window.leasing = undefined;
    }
  }

  return { take };
}

/** Spends one of the leased requests, or refuses. */
function takenFrom(window: Window, limit: number, time: number): Taken {
  const allowed = window.held > 0;
  if (allowed) window.held -= 1;
  else window.refused += 1;
  const observed = window.leased - window.held + window.refused;
  return {
    allowed,
    limit,
    observed,
    remaining: Math.max(0, limit - observed),
    resetAt: window.endsAt,
    retryAfter: Math.max(1, Math.ceil((window.endsAt.getTime() - time) / 1000)),
  };
}

/**
 * Leases from the table `rate_limit_windows`, in one statement. The row may exceed the limit by the last
 * `want`: that is how the statement computes the rest without a read; a full window is not updated again.
 */
export const leaseFrom =
  (sql: Sql): Lease =>
  async (key, windowStart, want, limit) => {
    const [row] = await sql<{ leased: number | string }[]>`
      insert into rate_limit_windows as held (key, window_start, leased)
      values (${key}, ${windowStart}, ${want})
      on conflict (key, window_start) do update
        set leased = held.leased + excluded.leased
        where held.leased < ${limit}
      returning leased`;
    if (!row) return { granted: 0, leased: limit };
    const leased = Number(row.leased);
    return { granted: Math.min(want, limit - (leased - want)), leased: Math.min(leased, limit) };
  };

/** Deletes the windows that started before this time; returns their number. For a periodic job. */
export async function forgetWindows(sql: Sql, before: Date): Promise<number> {
  const [gone] = await sql<{ count: number }[]>`
    with gone as (delete from rate_limit_windows where window_start < ${before} returning 1)
    select count(*) as count from gone`;
  return gone?.count ?? 0;
}

/** Headers of a throttled request (spec: Limits), with two more when it was refused. */
export function rateLimitHeaders(taken: Taken, name: string, periodSeconds: number): Record<string, string> {
  const headers = {
    'ratelimit-name': name,
    'ratelimit-limit': String(Math.ceil((taken.limit * 60) / periodSeconds)),
    'ratelimit-observed': String(taken.observed),
    'ratelimit-remaining': String(taken.remaining),
    'ratelimit-reset': String(Math.floor(taken.resetAt.getTime() / 1000)),
  };
  if (taken.allowed) return headers;
  return {
    ...headers,
    'ratelimit-resettime': taken.resetAt.toUTCString(),
    'retry-after': String(taken.retryAfter),
  };
}

/**
 * Headers of a refusal, without those of a throttle that let the request pass: the client would wait until
 * the end of the wrong period.
 */
export function ofRefusingThrottle(headers: Record<string, string>): Record<string, string> {
  if ('ratelimit-resettime' in headers) return headers;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('ratelimit-')));
}

/**
 * The key of an address: itself, or for IPv6 its /64, which one customer has. An IPv4-mapped address counts
 * as the IPv4 one; text that is no address stays as it is.
 */
export function addressKey(address: string): string {
  const zoneless = address.replace(/%.*$/, '');
  if (isIP(zoneless) !== 6) return zoneless;
  const [head = '', tail = ''] = new URL(`http://[${zoneless}]`).hostname.slice(1, -1).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array(8 - left.length - right.length).fill('0'), ...right];
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') {
    const bytes = Buffer.from(
      groups
        .slice(6)
        .map((group) => group.padStart(4, '0'))
        .join(''),
      'hex',
    );
    return bytes.join('.');
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}
