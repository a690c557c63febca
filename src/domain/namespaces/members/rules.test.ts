/** Giving, changing and ending memberships, as tables (facts: Roles and visibility, Members API). */
import { describe, expect, it } from 'vitest';
import {
  additionProblem,
  grantProblem,
  holderProblem,
  inheritanceProblem,
  isMailAddress,
  removalProblem,
  updateProblem,
} from './rules.ts';

const today = '2026-06-15';
const topGroup = { isTopLevelGroup: true, role: 50 };
const maintained = { isTopLevelGroup: false, role: 40 };

describe('grantProblem', () => {
  it.each([
    ['a level up to the own', maintained, 40, null, 'free', undefined],
    ['a level above the own', maintained, 50, null, 'free', 'forbidden'],
    ['owner by an owner', topGroup, 50, null, 'free', undefined],
    ['minimal access to a top-level group', topGroup, 5, null, 'premium', undefined],
    ['minimal access on the free tier', topGroup, 5, null, 'free', 'invalid'],
    ['minimal access to anything else', maintained, 5, null, 'ultimate', 'invalid'],
    ['an expiry today', maintained, 30, '2026-06-15', 'free', undefined],
    ['an expiry yesterday', maintained, 30, '2026-06-14', 'free', 'invalid'],
  ] as const)('%s', (_, source, access_level, expires_at, tier, kind) => {
    expect(grantProblem(source, { access_level, expires_at }, { tier, today })?.kind).toBe(kind);
  });
});

const developer = { access_level: 30, group_name: 'above' };

describe('inheritanceProblem', () => {
  it.each([
    [20, developer, 'should be greater than or equal to Developer inherited membership from group above'],
    [30, developer, undefined],
    [40, developer, undefined],
    [10, null, undefined],
  ])('level %i', (level, inherited, text) => {
    expect(inheritanceProblem(level, inherited)?.text).toBe(text);
  });
});

describe('additionProblem', () => {
  it.each([
    ['a person', { id: 2, kind: 'human', access_level: 30 }, undefined],
    ['a bot', { id: 2, kind: 'project_bot', access_level: 30 }, 'invalid'],
    ['the ghost', { id: 2, kind: 'ghost', access_level: 30 }, 'invalid'],
    ['the owner of the personal project', { id: 1, kind: 'human', access_level: 30 }, 'taken'],
    ['less than is inherited', { id: 2, kind: 'human', access_level: 20 }, 'invalid'],
  ])('%s', (_, candidate, kind) => {
    expect(additionProblem({ holder: { id: 1 } }, { ...candidate, inherited: developer })?.kind).toBe(kind);
  });
});

describe('updateProblem', () => {
  const member = { user_kind: 'human', access_level: 30, role: 40 };
  const owner = { ...member, access_level: 50, role: 50 };
  it.each([
    ['a member below oneself', member, 20, null, false, undefined],
    ['a member above oneself', { ...member, access_level: 50 }, 30, null, false, 'forbidden'],
    ['a bot', { ...member, user_kind: 'project_bot' }, 20, null, false, 'forbidden'],
    ['one owner of several', owner, 30, null, false, undefined],
    ['the last owner, downwards', owner, 40, null, true, 'forbidden'],
    ['the last owner, for a time', owner, 50, '2027-01-01', true, 'forbidden'],
    ['the last owner, to what it is', owner, 50, null, true, undefined],
  ] as const)('%s', (_, standing, access_level, expires_at, lastOwner, kind) => {
    expect(updateProblem(standing, { access_level, expires_at }, lastOwner)?.kind).toBe(kind);
  });
});

describe('removalProblem', () => {
  const member = { user_kind: 'human', access_level: 30, role: 40 };
  it.each([
    ['a member below oneself', member, false, false, undefined],
    ['a member above oneself', { ...member, access_level: 50 }, false, false, 'forbidden'],
    ['oneself, with any role', { ...member, role: 10 }, true, false, undefined],
    ['a bot', { ...member, user_kind: 'group_bot' }, false, false, 'forbidden'],
    ['oneself as the last owner', { ...member, access_level: 50, role: 50 }, true, true, 'forbidden'],
  ])('%s', (_, standing, self, lastOwner, kind) => {
    expect(removalProblem(standing, self, lastOwner)?.kind).toBe(kind);
  });
});

it('the owner of a personal project is untouchable', () => {
  expect(holderProblem({ holder: { id: 1 } }, 1)?.kind).toBe('forbidden');
  expect(holderProblem({ holder: { id: 1 } }, 2)).toBeUndefined();
  expect(holderProblem({ holder: undefined }, 1)).toBeUndefined();
});

describe('isMailAddress', () => {
  it.each([
    ['ann@example.org', true],
    ['a.b+c@mail.example.org', true],
    ['ann@localhost', true],
    ['ann', false],
    ['@example.org', false],
    ['ann@', false],
    ['ann@example..org', false],
    ['ann bee@example.org', false],
    ['ann@example.org\r\nBcc: x@y.z', false],
    [`${'a'.repeat(65)}@example.org`, false],
  ])('%j: %s', (text, expected) => {
    expect(isMailAddress(text)).toBe(expected);
  });
});
