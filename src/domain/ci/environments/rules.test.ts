import { describe, expect, test } from 'vitest';
import {
  addressProblems,
  filterProblem,
  isInScope,
  nameProblems,
  slugOfName,
  statusProblems,
} from './rules.ts';

test.each([
  ['production', 'production'],
  ['review/023f1bce01229c686a73', 'review-023f1bce01-[a-z0-9]{6}'],
  ['Prod', 'prod-[a-z0-9]{6}'],
  ['1-quarry', 'env-1-quarry-[a-z0-9]{6}'],
  ['a--b', 'a-b-[a-z0-9]{6}'],
  ['///', 'env-[a-z0-9]{6}'],
  ['granite-', 'granite-[a-z0-9]{6}'],
  ['a'.repeat(24), 'a{24}'],
  ['a'.repeat(25), 'a{17}-[a-z0-9]{6}'],
])('the slug of %s', (name, slug) => {
  expect(slugOfName(name)).toMatch(new RegExp(`^${slug}$`));
  expect(slugOfName(name).length).toBeLessThanOrEqual(24);
});

test('names that differ have slugs that differ', () =>
  expect(slugOfName('review/a b')).not.toBe(slugOfName('review/a/b')));

test.each([
  ['review/$CI_COMMIT_REF_SLUG', true],
  ['a b.c{d}-e_f', true],
  ['', false],
  [' ', false],
  ['/a', false],
  ['a/', false],
  ['a\nb', false],
  ['a:b', false],
  ['a'.repeat(256), false],
])('whether an environment may be called %j', (name, may) =>
  expect(Object.keys(nameProblems(name)).length === 0).toBe(may),
);

test.each([
  ['https://example.com/a', true],
  ['example.com', true],
  ['/relative', true],
  ['', true],
  [null, true],
  ['javascript:alert(1)', false],
  [' JAVA\tSCRIPT:alert(1)', false],
  ['data:text/html,a', false],
  ['https://', false],
])('whether an environment may be at %j', (url, may) =>
  expect(Object.keys(addressProblems(url)).length === 0).toBe(may),
);

describe('a deployment', () => {
  test.each([
    ['created', 'running', true],
    ['blocked', 'running', true],
    ['running', 'running', false],
    ['success', 'running', false],
    ['running', 'success', true],
    ['failed', 'success', true],
    ['success', 'success', false],
    ['success', 'failed', true],
    ['canceled', 'canceled', false],
  ] as const)('goes from %s to %s: %s', (from, to, may) =>
    expect(Object.keys(statusProblems(from, to)).length === 0).toBe(may),
  );

  const time = '2026-01-01T00:00:00Z';
  test.each([
    [{}, undefined],
    [{ updated_after: time }, '`updated_at` filter requires `updated_at` sort'],
    [{ updated_after: time, order_by: 'updated_at' }, undefined],
    [{ finished_before: time }, '`finished_at` filter requires `finished_at` sort'],
    [
      { finished_before: time, order_by: 'finished_at' },
      '`finished_at` filter must be combined with `success` status filter',
    ],
    [{ finished_before: time, order_by: 'finished_at', status: 'success' }, undefined],
    [
      { finished_before: time, updated_after: time },
      '`updated_at` filter and `finished_at` filter can not be specified',
    ],
  ])('is listed by %j', (filter, problem) => expect(filterProblem(filter)).toBe(problem));
});

test.each([
  ['review/a', '*', true],
  [undefined, '*', true],
  [undefined, 'review/*', false],
  ['review/a', 'review/*', true],
  ['review/a', 'review', false],
  ['production', 'prod*', true],
])('a job of %s has variables of %s: %s', (name, scope, has) => expect(isInScope(name, scope)).toBe(has));
