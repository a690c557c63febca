import { describe, expect, test } from 'vitest';
import {
  answerOf,
  BadFault,
  type Fault,
  type FaultRule,
  type FaultScope,
  isOfRoute,
  meet,
  parseFault,
  withoutTotals,
} from './rules.ts';

test.each<[FaultScope & Fault]>([
  [{ status: 500 }],
  [
    {
      method: 'GET',
      route: '/projects/:id',
      share: 0.5,
      count: 3,
      status: 503,
      body: { message: 'x' },
      headers: { a: 'b' },
    },
  ],
  [{ delay: 100, slow: 10 }],
  [{ delay: 100, cut: 'after' }],
  [{ rate_limit: { limit: 10, retry_after: 1 } }],
  [{ missing_totals: true, stale: true }],
])('%j is a rule', (rule) => {
  expect(parseFault(rule)).toEqual(rule);
});

test('methods have one case', () => {
  expect(parseFault({ method: 'get', status: 500 }).method).toBe('GET');
});

test.each<[unknown, string]>([
  [null, 'a rule is a JSON object'],
  [[], 'a rule is a JSON object'],
  [{}, 'a rule has at least one of delay, status, rate_limit, cut, slow, missing_totals, stale'],
  [{ route: '/x' }, 'a rule has at least one of delay, status, rate_limit, cut, slow, missing_totals, stale'],
  [
    { statuss: 500 },
    'a rule has no statuss: it has method, route, share, count, delay, status, body, headers, rate_limit, cut, slow, missing_totals, stale',
  ],
  [
    { constructor: 1, status: 500 },
    'a rule has no constructor: it has method, route, share, count, delay, status, body, headers, rate_limit, cut, slow, missing_totals, stale',
  ],
  [{ method: 'FETCH', status: 500 }, 'method is one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
  [{ route: 'projects', status: 500 }, 'route begins with a slash, as in "/projects/:id/issues"'],
  [{ share: 0, status: 500 }, 'share is a number above 0, to 1'],
  [{ share: '1', status: 500 }, 'share is a number above 0, to 1'],
  [{ count: 0, status: 500 }, 'count is a whole number from 1 to 1000000'],
  [{ status: 100 }, 'status is a whole number from 200 to 599'],
  [{ delay: -1 }, 'delay is a whole number from 0 to 600000'],
  [{ cut: 'now' }, 'cut is one of "before", "after", "during"'],
  [{ slow: 0 }, 'slow is a whole number from 1 to 1000000000'],
  [{ missing_totals: false }, 'missing_totals is one of true'],
  [{ status: 500, headers: { 'a b': 'x' } }, 'headers has names of headers with their texts'],
  [{ status: 500, headers: { a: 'x\r\nb: y' } }, 'headers has names of headers with their texts'],
  [{ rate_limit: { limit: 1 } }, 'rate_limit has a limit, and retry_after in seconds'],
  [{ body: 'x', delay: 1 }, 'body and headers are of an answer with a status'],
  [{ status: 500, cut: 'after' }, 'status and cut exclude each other'],
])('%j is none: %s', (value, problem) => {
  expect(() => parseFault(value)).toThrow(new BadFault(problem));
});

test.each<[string, string, boolean]>([
  ['/api/v4/projects/1/issues', '/projects/:id/issues', true],
  ['/api/v4/projects/a%2Fb/issues', '/projects/:id/issues', true],
  ['/api/v4/projects/1/issues', '/api/v4/projects/:id/issues', true],
  ['/api/v4/projects/1/issues/2', '/projects/:id/issues', false],
  ['/api/v4/projects/1/issues/2', '/projects/:id/*', true],
  ['/api/v4/projects/1', '/projects/:id/*', true],
  ['/api/v4/projects', '/projects/:id/*', false],
  ['/api/v4/projects/', '/projects/:id', false],
  ['/oauth/token', '/oauth/token', true],
  ['/oauth/token', '/*', true],
  ['/api/v4/version', '/*', true],
  ['/group/project.git/info/refs', '/group/project.git/*', true],
])('%s of %s: %j', (path, route, is) => {
  expect(isOfRoute(path, route)).toBe(is);
});

describe('a request', () => {
  const request = { method: 'GET', path: '/api/v4/projects' };
  const rules: FaultRule[] = [
    { id: 1, method: 'POST', status: 500 },
    { id: 2, route: '/projects', share: 0.5, status: 501 },
    { id: 3, route: '/projects', count: 2, status: 502 },
    { id: 4, status: 503 },
  ];
  test.each([
    [0.4, [2, 2, 2]],
    [0.5, [3, 3, 4]],
  ])('meets the first that is for it; with %d: %j', (drawn, ids) => {
    let left: readonly FaultRule[] = rules;
    const met = ids.map(() => {
      const found = meet(left, request, () => drawn);
      left = found.rules;
      return found.fault?.id;
    });
    expect(met).toEqual(ids);
    expect(left.map(({ id }) => id)).toEqual(drawn < 0.5 ? [1, 2, 3, 4] : [1, 2, 4]);
  });

  test('meets none of others', () => {
    expect(meet(rules.slice(0, 1), request, () => 0)).toEqual({ fault: undefined, rules: rules.slice(0, 1) });
  });
});

test.each<[Fault, ReturnType<typeof answerOf>]>([
  [{ delay: 1 }, undefined],
  [
    { status: 502 },
    { status: 502, headers: { 'content-type': 'application/json' }, body: '{"message":"502 Bad Gateway"}' },
  ],
  [
    { status: 500, body: { error: 'x' } },
    { status: 500, headers: { 'content-type': 'application/json' }, body: '{"error":"x"}' },
  ],
  [{ status: 204 }, { status: 204, headers: { 'content-type': 'application/json' }, body: '' }],
  [
    { status: 500, body: '<html>', headers: { 'content-type': 'text/html' } },
    { status: 500, headers: { 'content-type': 'text/html' }, body: '<html>' },
  ],
  [
    { rate_limit: { limit: 10, retry_after: 30 } },
    {
      status: 429,
      headers: {
        'content-type': 'text/plain; charset=utf-8',
        'ratelimit-name': 'throttle_authenticated_api',
        'ratelimit-limit': '10',
        'ratelimit-observed': '11',
        'ratelimit-remaining': '0',
        'ratelimit-reset': '1767225630',
        'ratelimit-resettime': 'Thu, 01 Jan 2026 00:00:30 GMT',
        'retry-after': '30',
      },
      body: 'Retry later\n',
    },
  ],
])('%j is answered by %j', (fault, answer) => {
  expect(answerOf(fault, new Date('2026-01-01T00:00:00Z'))).toEqual(answer);
});

test.each<[string, string, string | undefined]>([
  ['X-Total', '7', undefined],
  ['x-total-pages', '7', undefined],
  ['x-page', '1', '1'],
  [
    'link',
    '<a?page=2>; rel="next", <a?page=1>; rel="first", <a?page=9>; rel="last"',
    '<a?page=2>; rel="next", <a?page=1>; rel="first"',
  ],
  ['Link', '<a?page=1,2>; rel="last"', undefined],
])('of %s: %s there is left %j', (name, value, left) => {
  expect(withoutTotals(name, value)).toBe(left);
});
