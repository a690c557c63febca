/** Rules of approvals: when they are met, and who may approve. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Approvable, type ApprovalRule, approvalState, mayApprove } from './approval-state.ts';

const [AUTHOR, COMMITTER, ANN, BEN, STRANGER, GONE] = [1, 2, 3, 4, 5, 6];

const approvable = (
  approvedBy: number[] = [],
  settings: Partial<Approvable['settings']> = {},
): Approvable => ({
  authorId: AUTHOR,
  committerIds: new Set([AUTHOR, COMMITTER]),
  approvedBy,
  anyApproverIds: new Set([AUTHOR, COMMITTER, ANN, BEN, STRANGER]),
  settings: { allow_author_approval: false, allow_committer_approval: true, ...settings },
});
const open = { allow_author_approval: true };
const closed = { allow_committer_approval: false };

const rule = (ruleType: ApprovalRule['ruleType'], approvalsRequired: number, ...approverIds: number[]) => ({
  ruleType,
  approvalsRequired,
  approverIds,
});

describe('a rule', () => {
  test.each([
    // rule, the merge request, who counts, how many are missing
    ['without need', rule('any_approver', 0), approvable(), [], 0],
    ['of anybody', rule('any_approver', 2), approvable([ANN]), [ANN], 1],
    ['of anybody, met', rule('any_approver', 2), approvable([ANN, STRANGER]), [ANN, STRANGER], 0],
    ['of anybody, more than met', rule('any_approver', 1), approvable([ANN, BEN]), [ANN, BEN], 0],
    ['of anybody, once there', rule('any_approver', 2), approvable([GONE, ANN]), [ANN], 1],
    ['of more than there are', rule('any_approver', 100), approvable([ANN]), [ANN], 99],
    ['of anybody but the author', rule('any_approver', 1), approvable([AUTHOR]), [], 1],
    ['of the author too', rule('any_approver', 1), approvable([AUTHOR], open), [AUTHOR], 0],
    ['of committers', rule('any_approver', 1), approvable([COMMITTER]), [COMMITTER], 0],
    ['of no committers', rule('any_approver', 1), approvable([COMMITTER], closed), [], 1],
    [
      'of the author, who committed',
      rule('any_approver', 1),
      approvable([AUTHOR], { ...open, ...closed }),
      [],
      1,
    ],
    ['of two', rule('regular', 2, ANN, BEN), approvable([BEN, STRANGER]), [BEN], 1],
    ['of two, met', rule('regular', 2, ANN, BEN), approvable([BEN, ANN]), [BEN, ANN], 0],
    ['of one twice', rule('regular', 2, ANN, ANN), approvable([]), [], 1],
    ['of fewer than needed', rule('regular', 3, ANN, BEN), approvable([]), [], 2],
    ['of fewer than needed, all given', rule('regular', 3, ANN, BEN), approvable([ANN, BEN]), [ANN, BEN], 0],
    ['of nobody', rule('regular', 1), approvable([]), [], 0],
    ['of the author alone', rule('regular', 1, AUTHOR), approvable([]), [], 0],
    ['of the author alone, who may', rule('regular', 1, AUTHOR), approvable([], open), [], 1],
    ['of a committer alone, who may not', rule('regular', 1, COMMITTER), approvable([], closed), [], 1],
    ['of the author, who committed, alone', rule('regular', 1, AUTHOR), approvable([], closed), [], 0],
    ['of more than the others are', rule('regular', 3, COMMITTER, ANN), approvable([ANN], closed), [ANN], 1],
    ['of owners', rule('code_owner', 1, ANN), approvable([BEN]), [], 1],
    ['of owners who are nobody', rule('code_owner', 2), approvable(), [], 0],
    ['of owners who cannot be told', { ...rule('code_owner', 1), isClosed: true }, approvable([ANN]), [], 1],
    ['of owners, optional', rule('code_owner', 0, ANN), approvable([ANN]), [ANN], 0],
    ['of an owner who committed', rule('code_owner', 1, COMMITTER), approvable([COMMITTER], closed), [], 1],
    ['of a policy', rule('report_approver', 1, ANN), approvable([ANN]), [ANN], 0],
    ['of a policy and nobody', rule('report_approver', 1), approvable(), [], 1],
    ['of a policy and the author', rule('report_approver', 2, AUTHOR, ANN), approvable([ANN]), [ANN], 1],
  ])('%s', (_, given, of, approvedBy, approvalsLeft) => {
    const { rules, ...state } = approvalState([given], of);
    expect(rules).toEqual([
      expect.objectContaining({ rule: given, approvedBy, approvalsLeft, approved: approvalsLeft === 0 }),
    ]);
    expect(state).toEqual({
      approved: approvalsLeft === 0,
      approvalsRequired: given.approvalsRequired,
      approvalsLeft,
    });
  });

  test('waits for those whose approval would count', () => {
    const given = rule('regular', 1, AUTHOR, COMMITTER, ANN, BEN);
    const waitingFor = (of: Approvable) => approvalState([given], of).rules[0]?.waitingFor;
    expect(waitingFor(approvable([BEN]))).toEqual([COMMITTER, ANN]);
    expect(waitingFor(approvable([BEN], closed))).toEqual([ANN]);
    expect(waitingFor(approvable([], open))).toEqual([AUTHOR, COMMITTER, ANN, BEN]);
  });
});

test('one approval counts for each rule of the approver, and all rules are needed', () => {
  const rules = [rule('any_approver', 2), rule('regular', 1, ANN), rule('code_owner', 1, ANN, BEN)];
  expect(approvalState(rules, approvable())).toMatchObject({ approved: false, approvalsLeft: 4 });
  expect(approvalState(rules, approvable([ANN]))).toMatchObject({ approved: false, approvalsLeft: 1 });
  expect(approvalState(rules, approvable([ANN, BEN]))).toMatchObject({ approved: true, approvalsLeft: 0 });
  expect(approvalState([], approvable())).toEqual({
    rules: [],
    approved: true,
    approvalsRequired: 0,
    approvalsLeft: 0,
  });
});

describe('who may approve', () => {
  const rules = [rule('any_approver', 1), rule('regular', 1, ANN, COMMITTER, AUTHOR)];

  test.each([
    ['a stranger who may change it', STRANGER, true, approvable(), true],
    ['a stranger', STRANGER, false, approvable(), false],
    ['an approver', ANN, false, approvable(), true],
    ['an approver, twice', ANN, true, approvable([ANN]), false],
    ['an approver after others', ANN, false, approvable([BEN]), true],
    ['the author', AUTHOR, true, approvable(), false],
    ['the author where that is allowed', AUTHOR, true, approvable([], open), true],
    ['a committer', COMMITTER, true, approvable(), true],
    ['a committer where that is not allowed', COMMITTER, true, approvable([], closed), false],
    ['the author who committed', AUTHOR, true, approvable([], { ...open, ...closed }), false],
  ])('%s', (_, id, mayUpdate, of, expected) => {
    expect(mayApprove(rules, of, { id, mayUpdate })).toBe(expected);
  });
});

describe('properties', () => {
  const people = fc.integer({ min: 1, max: 6 });
  const rules = fc.array(
    fc.record({
      ruleType: fc.constantFrom('any_approver', 'regular', 'code_owner', 'report_approver'),
      approvalsRequired: fc.nat(4),
      approverIds: fc.array(people, { maxLength: 5 }),
    }) satisfies fc.Arbitrary<ApprovalRule>,
    { maxLength: 4 },
  );
  const of = fc.record({
    authorId: people,
    committerIds: fc.uniqueArray(people).map((ids) => new Set(ids)),
    approvedBy: fc.uniqueArray(people),
    anyApproverIds: fc.uniqueArray(people).map((ids) => new Set(ids)),
    settings: fc.record({ allow_author_approval: fc.boolean(), allow_committer_approval: fc.boolean() }),
  });

  test('an approval that is allowed never takes an approval away', () => {
    fc.assert(
      fc.property(rules, of, people, (given, before, id) => {
        fc.pre(mayApprove(given, before, { id, mayUpdate: true }));
        const left = (approvedBy: readonly number[]) =>
          approvalState(given, { ...before, approvedBy }).approvalsLeft;
        expect(left([...before.approvedBy, id])).toBeLessThanOrEqual(left(before.approvedBy));
      }),
    );
  });

  test('rules of people can be met: when all approvers have approved, they are', () => {
    fc.assert(
      fc.property(rules, of, (given, request) => {
        const named = given.filter(({ ruleType }) => ruleType === 'regular' || ruleType === 'code_owner');
        const approvedBy = [...new Set(named.flatMap(({ approverIds }) => approverIds))];
        const settings = { ...request.settings, allow_committer_approval: true };
        expect(approvalState(named, { ...request, settings, approvedBy }).approved).toBe(true);
      }),
    );
  });

  test('commits in the name of others make no rule easier', () => {
    fc.assert(
      fc.property(rules, of, fc.uniqueArray(people), (given, request, forged) => {
        const committerIds = new Set([...request.committerIds, ...forged]);
        const before = approvalState(given, request);
        const after = approvalState(given, { ...request, committerIds });
        expect(after.approvalsLeft).toBeGreaterThanOrEqual(before.approvalsLeft);
      }),
    );
  });

  test('whose approval does not count changes nothing', () => {
    fc.assert(
      fc.property(rules, of, (given, request) => {
        const strict = { allow_author_approval: false, allow_committer_approval: false };
        const without = request.approvedBy.filter(
          (id) => id !== request.authorId && !request.committerIds.has(id),
        );
        const settings = { ...request, settings: strict };
        expect(approvalState(given, settings)).toEqual(
          approvalState(given, { ...settings, approvedBy: without }),
        );
      }),
    );
  });
});
