/** Rules for tokens: tables of cases. */
import { describe, expect, test } from 'vitest';
import { DEVELOPER, MAINTAINER, OWNER } from '../../kernel/policy/roles.ts';
import {
  decideExpiry,
  deployScopes,
  gatherProblems,
  isActive,
  levelProblem,
  nameProblems,
  newTokenLife,
  ownTokenLife,
  personalScopes,
  resourceScopes,
  rotatedTokenLife,
  scopeProblems,
  startOf,
  tokenOrder,
} from './rules.ts';

describe('scopes', () => {
  const unavailable = ['can only contain available scopes'];
  test.each([
    ['api', personalScopes(false), undefined],
    ['read_user', personalScopes(false), undefined],
    ['self_rotate', personalScopes(false), undefined],
    ['sudo', personalScopes(false), unavailable],
    ['admin_mode', personalScopes(false), unavailable],
    ['sudo', personalScopes(true), undefined],
    ['admin_mode', personalScopes(true), undefined],
    ['openid', personalScopes(true), unavailable],
    ['everything', personalScopes(true), unavailable],
    ['api', resourceScopes, undefined],
    ['self_rotate', resourceScopes, undefined],
    ['read_user', resourceScopes, unavailable],
    ['sudo', resourceScopes, unavailable],
    ['read_repository', deployScopes, undefined],
    ['read_package_registry', deployScopes, undefined],
    ['api', deployScopes, unavailable],
  ])('%s', (scope, available, problems) => {
    expect(scopeProblems([scope], available)).toEqual(problems);
  });

  test('one that is not available spoils the rest, and there must be one', () => {
    expect(scopeProblems(['api', 'sudo'], personalScopes(false))).toEqual(unavailable);
    expect(scopeProblems([], personalScopes(false))).toEqual(["can't be blank"]);
  });
});

describe('expiry', () => {
  const now = new Date('2026-03-10T15:00:00Z');
  const strict = {
    require_personal_access_token_expiry: true,
    max_personal_access_token_lifetime: null,
    service_access_tokens_expiration_enforced: true,
  };
  const lax = {
    require_personal_access_token_expiry: false,
    max_personal_access_token_lifetime: null,
    service_access_tokens_expiration_enforced: true,
  };
  const short = {
    require_personal_access_token_expiry: false,
    max_personal_access_token_lifetime: 3,
    service_access_tokens_expiration_enforced: true,
  };

  test.each([
    ['a year unasked', undefined, newTokenLife, strict, { day: '2027-03-10' }],
    ['a week unasked on rotation', undefined, rotatedTokenLife, strict, { day: '2026-03-17' }],
    ['the end of the day for one made by its user', undefined, ownTokenLife, strict, { day: '2026-03-11' }],
    ['never unasked where tokens need not expire', undefined, newTokenLife, lax, { day: null }],
    ['a week on rotation all the same', undefined, rotatedTokenLife, lax, { day: '2026-03-17' }],
    ['the configured lifetime where it is shorter', undefined, newTokenLife, short, { day: '2026-03-13' }],
    ['the configured lifetime on rotation', undefined, rotatedTokenLife, short, { day: '2026-03-13' }],
    ['never asked for, refused', null, newTokenLife, strict, { problems: ["can't be blank"] }],
    ['never asked for, refused by the lifetime', null, newTokenLife, short, { problems: ["can't be blank"] }],
    ['never asked for, granted', null, newTokenLife, lax, { day: null }],
    ['tomorrow', '2026-03-11', newTokenLife, strict, { day: '2026-03-11' }],
    ['today, which has started already', '2026-03-10', newTokenLife, strict, { day: '2026-03-10' }],
    ['yesterday', '2026-03-09', newTokenLife, short, { day: '2026-03-09' }],
    ['the last day', '2027-03-10', newTokenLife, strict, { day: '2027-03-10' }],
    ['a day too late', '2027-03-11', newTokenLife, strict, { problems: ['must be before 2027-03-11'] }],
    ['far away where tokens need not expire', '2099-01-01', newTokenLife, lax, { day: '2099-01-01' }],
    [
      'past the configured lifetime',
      '2026-03-14',
      newTokenLife,
      short,
      { problems: ['must be before 2026-03-14'] },
    ],
  ])('%s', (_, requested, unasked, settings, decided) => {
    for (const kind of ['personal', 'impersonation'] as const)
      expect(decideExpiry({ kind, asked: requested, unasked, now, settings })).toEqual(decided);
  });

  test.each([
    ['none where it is not enforced', undefined, false, { day: null }],
    ['never where it is not enforced', null, false, { day: null }],
    ['far away where it is not enforced', '2099-01-01', false, { day: '2099-01-01' }],
    ['as others where it is', null, true, { problems: ["can't be blank"] }],
  ] as const)('of a service account: %s', (_, requested, enforced, decided) => {
    const settings = { ...strict, service_access_tokens_expiration_enforced: enforced };
    const given = { kind: 'personal', asked: requested, unasked: newTokenLife, now, settings } as const;
    expect(decideExpiry({ ...given, ofService: true })).toEqual(decided);
    // Only theirs.
    expect(decideExpiry(given)).toEqual(decideExpiry({ ...given, settings: strict }));
  });

  test.each(['project', 'group'] as const)('of a %s token is at the earliest today', (kind) => {
    const decide = (requested: string) =>
      decideExpiry({ kind, asked: requested, unasked: newTokenLife, now, settings: strict });
    expect(decide('2026-03-10')).toEqual({ day: '2026-03-10' });
    expect(decide('2026-03-09')).toEqual({ problems: ["can't be in the past"] });
  });

  test.each([
    ['before its day', '2026-03-10T23:59:59.999Z', null, true],
    ['when its day starts', '2026-03-11T00:00:00.000Z', null, false],
    ['revoked before that', '2026-03-10T12:00:00.000Z', '2026-03-10T11:00:00.000Z', false],
  ])('a token until 2026-03-11 %s', (_, time, revoked, active) => {
    const token = {
      expires_at: startOf('2026-03-11'),
      revoked_at: revoked === null ? null : new Date(revoked),
    };
    expect(isActive(token, new Date(time))).toBe(active);
  });

  test('a token without a day goes on', () => {
    expect(isActive({ expires_at: startOf(null), revoked_at: null }, new Date('2999-01-01'))).toBe(true);
  });
});

test.each([
  [DEVELOPER, MAINTAINER, false],
  [MAINTAINER, MAINTAINER, false],
  [OWNER, MAINTAINER, true],
  [OWNER, OWNER, false],
] as const)('a token of level %i by a creator of role %i: refused %s', (level, creator, refused) => {
  expect(levelProblem(level, creator) !== undefined).toBe(refused);
});

test('a name is more than blanks', () => {
  expect(nameProblems('ci')).toBeUndefined();
  expect(nameProblems(' \t')).toEqual(["can't be blank"]);
});

test('problems are named by property, and none are none', () => {
  expect(gatherProblems({ name: ['a'], scopes: undefined, expires_at: ['b'] })).toEqual({
    name: ['a'],
    expires_at: ['b'],
  });
  expect(gatherProblems({ name: undefined })).toBeUndefined();
});

test.each([
  [undefined, { by: 'id', sort: 'asc' }],
  ['created_desc', { by: 'created', sort: 'desc' }],
  ['last_used_asc', { by: 'last_used', sort: 'asc' }],
  ['name_desc', { by: 'name', sort: 'desc' }],
] as const)('sort %s', (sort, order) => {
  expect(tokenOrder(sort)).toEqual(order);
});
