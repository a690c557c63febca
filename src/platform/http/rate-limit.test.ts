/** Rate limits (spec: Limits): exact for one process, never above the limit for several, and few leases. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { TEMPLATE } from '../../../test/support/postgres.ts';
import { connect } from '../db/database.ts';
import type { PoolSql } from '../db/driver/sql.ts';
import {
  addressKey,
  createRateLimiter,
  forgetWindows,
  type Lease,
  leaseFrom,
  type RateLimiter,
  rateLimitHeaders,
  type Taken,
} from './rate-limit.ts';

const MINUTE = Date.UTC(2026, 0, 2, 3, 4);

/** A store of windows in memory, with the real one's contract; counts its calls. */
function memoryLease() {
  const leased = new Map<string, number>();
  const wants: number[] = [];
  const lease: Lease = async (key, windowStart, want, limit) => {
    wants.push(want);
    const id = `${key} ${windowStart.toISOString()}`;
    const before = leased.get(id) ?? 0;
    const granted = Math.min(want, Math.max(0, limit - before));
    leased.set(id, before + granted);
    return { granted, leased: before + granted };
  };
  return { lease, wants };
}

function limiterAt(start: number, lease: Lease, maximumKeys?: number) {
  const failures: unknown[] = [];
  const clock = { time: start };
  const limiter = createRateLimiter({
    lease,
    now: () => new Date(clock.time),
    onFailure: (error) => failures.push(error),
    ...(maximumKeys !== undefined && { maximumKeys }),
  });
  return { limiter, clock, failures };
}

async function takeInTurn(limiter: RateLimiter, key: string, limit: number, times: number): Promise<Taken[]> {
  const taken: Taken[] = [];
  for (let time = 0; time < times; time++) taken.push(await limiter.take(key, { limit, periodSeconds: 60 }));
  return taken;
}

const takeAtOnce = (limiter: RateLimiter, key: string, limit: number, times: number): Promise<Taken[]> =>
  Promise.all(Array.from({ length: times }, () => limiter.take(key, { limit, periodSeconds: 60 })));

const allowedOf = (taken: readonly Taken[]): number => taken.filter(({ allowed }) => allowed).length;

describe('one process', () => {
  test.each([0, 1, 3, 50, 51, 130])('allows exactly %i, in turn or at once', async (limit) => {
    const inTurn = limiterAt(MINUTE, memoryLease().lease).limiter;
    const atOnce = limiterAt(MINUTE, memoryLease().lease).limiter;
    expect(allowedOf(await takeInTurn(inTurn, 'a', limit, limit + 5))).toBe(limit);
    expect(allowedOf(await takeAtOnce(atOnce, 'a', limit, limit + 5))).toBe(limit);
  });

  test('counts what was observed, refusals included', async () => {
    const { limiter } = limiterAt(MINUTE + 20_500, memoryLease().lease);
    const taken = await takeInTurn(limiter, 'a', 3, 5);
    expect(taken.map(({ observed, remaining }) => [observed, remaining])).toEqual([
      [1, 2],
      [2, 1],
      [3, 0],
      [4, 0],
      [5, 0],
    ]);
    expect(taken[0]).toMatchObject({ limit: 3, resetAt: new Date(MINUTE + 60_000), retryAfter: 40 });
  });

  test('leases a fiftieth at a time, and answers without a promise from what it holds', async () => {
    const { lease, wants } = memoryLease();
    const { limiter } = limiterAt(MINUTE, lease);
    expect(limiter.take('a', { limit: 1000, periodSeconds: 60 })).toBeInstanceOf(Promise);
    await takeInTurn(limiter, 'a', 1000, 1);
    expect(limiter.take('a', { limit: 1000, periodSeconds: 60 })).toMatchObject({ allowed: true });
    await takeInTurn(limiter, 'a', 1000, 1100);
    expect(wants).toEqual(Array(50).fill(20));
    expect(limiter.take('a', { limit: 1000, periodSeconds: 60 })).toMatchObject({ allowed: false });
  });

  test('requests that come together share leases', async () => {
    const { lease, wants } = memoryLease();
    const { limiter } = limiterAt(MINUTE, lease);
    await takeAtOnce(limiter, 'a', 1000, 500);
    expect(wants.length).toBeLessThanOrEqual(3);
  });

  test('keys do not touch each other', async () => {
    const { limiter } = limiterAt(MINUTE, memoryLease().lease);
    await takeInTurn(limiter, 'a', 2, 3);
    expect(allowedOf(await takeInTurn(limiter, 'b', 2, 3))).toBe(2);
  });

  test('windows are aligned to the period and begin anew', async () => {
    const { limiter, clock } = limiterAt(MINUTE + 59_999, memoryLease().lease);
    expect(allowedOf(await takeInTurn(limiter, 'a', 2, 3))).toBe(2);
    clock.time = MINUTE + 60_000;
    const taken = await takeInTurn(limiter, 'a', 2, 3);
    expect(allowedOf(taken)).toBe(2);
    expect(taken[0]?.resetAt).toEqual(new Date(MINUTE + 120_000));
  });

  test('a limit raised within the window is obeyed at once', async () => {
    const { limiter } = limiterAt(MINUTE, memoryLease().lease);
    await takeInTurn(limiter, 'a', 2, 3);
    expect(allowedOf(await takeInTurn(limiter, 'a', 5, 9))).toBe(3);
  });

  test('forgetting the oldest window for want of room allows no more than the limit', async () => {
    const { limiter } = limiterAt(MINUTE, memoryLease().lease, 2);
    const taken: Taken[] = [];
    for (let round = 0; round < 10; round++) {
      taken.push(...(await takeInTurn(limiter, 'a', 4, 1)));
      await takeInTurn(limiter, `b${round}`, 4, 1);
      await takeInTurn(limiter, `c${round}`, 4, 1);
    }
    expect(allowedOf(taken)).toBe(4);
  });
});

describe('a failing store', () => {
  test('is told of once per outage, while this process counts by itself', async () => {
    const store = memoryLease();
    const broken = new Error('no connection');
    let works = false;
    const { limiter, failures } = limiterAt(MINUTE, (...requested) =>
      works ? store.lease(...requested) : Promise.reject(broken),
    );
    expect(allowedOf(await takeInTurn(limiter, 'a', 5, 9))).toBe(5);
    expect(failures).toEqual([broken]);
    works = true;
    expect(allowedOf(await takeInTurn(limiter, 'b', 5, 9))).toBe(5);
    works = false;
    expect(allowedOf(await takeAtOnce(limiter, 'c', 5, 9))).toBe(5);
    expect(failures).toEqual([broken, broken]);
  });
});

describe('headers', () => {
  const taken: Taken = {
    allowed: true,
    limit: 36_000,
    observed: 5,
    remaining: 35_995,
    resetAt: new Date(MINUTE + 60_000),
    retryAfter: 40,
  };
  const always = {
    'ratelimit-name': 'throttle_authenticated_api',
    'ratelimit-limit': '600',
    'ratelimit-observed': '5',
    'ratelimit-remaining': '35995',
    'ratelimit-reset': String((MINUTE + 60_000) / 1000),
  };

  test('of an allowed request', () => {
    expect(rateLimitHeaders(taken, 'throttle_authenticated_api', 3600)).toEqual(always);
  });

  test('of a refused one say when to come back', () => {
    expect(rateLimitHeaders({ ...taken, allowed: false }, 'throttle_authenticated_api', 3600)).toEqual({
      ...always,
      'ratelimit-resettime': 'Fri, 02 Jan 2026 03:05:00 GMT',
      'retry-after': '40',
    });
  });

  test.each([
    [10, 60, '10'],
    [800, 15, '3200'],
    [100, 3600, '2'],
  ])('%i in %i seconds are %s a minute, rounded up', (limit, period, expected) => {
    expect(rateLimitHeaders({ ...taken, limit }, 'x', period)['ratelimit-limit']).toBe(expected);
  });
});

test.each([
  ['10.0.0.1', '10.0.0.1'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['::FFFF:a00:1', '10.0.0.1'],
  ['::1', '0:0:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['unknown', 'unknown'],
])('the address %s counts as %s', (address, expected) => {
  expect(addressKey(address)).toBe(expected);
});

describe('several processes on one database', () => {
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  const pools: PoolSql[] = [];

  function open(name: string): PoolSql {
    const pool = connect(
      { ...inject('postgres'), database: name },
      { max: 2, statementTimeout: 0, name: 'tests' },
    );
    pools.push(pool);
    return pool;
  }

  function processes(count: number): RateLimiter[] {
    return Array.from({ length: count }, () => limiterAt(MINUTE, leaseFrom(open(database))).limiter);
  }

  beforeAll(async () => {
    await open('postgres').unsafe(`create database ${database} template ${TEMPLATE}`);
  });

  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.end()));
  });

  test.each([1, 10, 130, 1000])('one alone allows exactly %i', async (limit) => {
    const [limiter] = processes(1);
    if (!limiter) throw new Error('one process expected');
    expect(allowedOf(await takeInTurn(limiter, `alone ${limit}`, limit, limit + 5))).toBe(limit);
  });

  test.each([1, 10, 130, 1000])('three that all want more together allow exactly %i', async (limit) => {
    const taken = processes(3).map((limiter) => takeAtOnce(limiter, `rush ${limit}`, limit, limit));
    expect(allowedOf((await Promise.all(taken)).flat())).toBe(limit);
  });

  test('what one holds and never spends is at most a fiftieth', async () => {
    const [idle, busy] = processes(2);
    if (!idle || !busy) throw new Error('two processes expected');
    await takeInTurn(idle, 'held', 1000, 1);
    const allowed = 1 + allowedOf(await takeInTurn(busy, 'held', 1000, 1000));
    expect(allowed).toBeLessThanOrEqual(1000);
    expect(allowed).toBeGreaterThanOrEqual(980);
  });

  test('a window that is full is not written to again', async () => {
    const sql = open(database);
    const lease = leaseFrom(sql);
    const start = new Date(MINUTE);
    expect(await lease('full', start, 3, 4)).toEqual({ granted: 3, leased: 3 });
    expect(await lease('full', start, 3, 4)).toEqual({ granted: 1, leased: 4 });
    const before = await sql`select xmin::text, leased from rate_limit_windows where key = 'full'`;
    expect(await lease('full', start, 3, 4)).toEqual({ granted: 0, leased: 4 });
    expect([...(await sql`select xmin::text, leased from rate_limit_windows where key = 'full'`)]).toEqual([
      ...before,
    ]);
    expect(await lease('full', new Date(MINUTE + 60_000), 3, 4)).toEqual({ granted: 3, leased: 3 });
  });

  test('past windows are deleted', async () => {
    const sql = open(database);
    await leaseFrom(sql)('past', new Date(MINUTE - 120_000), 1, 4);
    await leaseFrom(sql)('past', new Date(MINUTE), 1, 4);
    expect(await forgetWindows(sql, new Date(MINUTE - 60_000))).toBe(1);
    const left = await sql`select window_start from rate_limit_windows where key = 'past'`;
    expect([...left]).toEqual([{ window_start: new Date(MINUTE) }]);
  });
});
