/** Approval rules as functions: their types, what they may not be, and the branches that they are for. */
import { describe, expect, test } from 'vitest';
import { isForBranch, namedApprovers, newRuleType, ruleProblems } from './rules.ts';

const base = { name: 'x', approvals_required: 1 };

test.each([
  [{}, 'any_approver'],
  [{ user_ids: [], group_ids: [], usernames: [] }, 'any_approver'],
  [{ user_ids: [0] }, 'any_approver'],
  [{ user_ids: [1] }, 'regular'],
  [{ users: [1] }, 'regular'],
  [{ usernames: ['ann'] }, 'regular'],
  [{ group_ids: [1] }, 'regular'],
  [{ groups: [1] }, 'regular'],
  [{ rule_type: 'regular' }, 'regular'],
  [{ rule_type: 'any_approver', user_ids: [1] }, 'any_approver'],
  [{ report_type: 'code_coverage' }, 'report_approver'],
] as const)('a new rule of %j is of type %s', (input, type) => {
  const lists = Object.fromEntries(
    Object.entries(input).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
  expect(newRuleType({ ...base, ...lists })).toBe(type);
});

test('what is not sent stays, and the newer name of a list wins', () => {
  expect(namedApprovers({})).toEqual({ userIds: undefined, usernames: undefined, groupIds: undefined });
  expect(namedApprovers({ user_ids: [1, 0], users: [2], groups: [3], usernames: [] })).toEqual({
    userIds: [1],
    usernames: [],
    groupIds: [3],
  });
});

describe('a rule', () => {
  const rule = { name: 'x', ruleType: 'regular', reportType: null, hasApprovers: false } as const;
  test.each([
    [rule, {}],
    [{ ...rule, hasApprovers: true }, {}],
    [{ ...rule, name: ' \n' }, { name: ["can't be blank"] }],
    [{ ...rule, ruleType: 'any_approver' } as const, {}],
    [
      { ...rule, ruleType: 'any_approver', hasApprovers: true } as const,
      { rule_type: ['any-approver rules have no users and no groups'] },
    ],
    [{ ...rule, ruleType: 'report_approver' } as const, { report_type: ["can't be blank"] }],
    [{ ...rule, ruleType: 'report_approver', reportType: 'code_coverage' } as const, {}],
    [{ ...rule, reportType: 'code_coverage' }, { report_type: ['is for rules of type report_approver'] }],
  ])('%j', (given, problems) => {
    expect(ruleProblems(given)).toEqual(problems);
  });
});

test.each([
  ['any branch', [], false, 'main', true],
  ['its branch', ['main'], false, 'main', true],
  ['another branch', ['main'], false, 'dev', false],
  ['a branch of its pattern', ['main', 'release/*'], false, 'release/1/2', true],
  ['a protected branch', [], true, 'release/1', true],
  ['an unprotected branch', [], true, 'dev', false],
  ['another protected branch than its own', ['main'], true, 'release/1', true],
])('a rule and %s', (_, patterns, appliesToAllProtected, branch, expected) => {
  expect(isForBranch({ patterns, appliesToAllProtected }, branch, ['main', 'release/*'])).toBe(expected);
});
