import { describe, expect, test } from 'vitest';
import { projectDefaults } from '../approval-settings/rules.ts';
import type { HoldingRule, LoadedApprovals } from '../approvals/loaded.ts';
import { calledToApprove } from './rules.ts';

const AUTHOR = 1;
const [ANN, BOB, CAM] = [2, 3, 4];

const rule = (given: Partial<HoldingRule> = {}): HoldingRule => ({
  id: 1,
  name: 'Rule',
  ruleType: 'regular',
  reportType: null,
  section: null,
  approvalsRequired: 1,
  approverIds: [],
  ofMergeRequest: false,
  sourceRuleId: null,
  userIds: [],
  groupIds: [],
  ...given,
});

const loaded = (rules: readonly HoldingRule[], of: Partial<LoadedApprovals['of']> = {}): LoadedApprovals => ({
  rules,
  own: [],
  isOverwritten: false,
  settings: projectDefaults,
  approvals: [],
  of: {
    authorId: AUTHOR,
    committerIds: new Set(),
    approvedBy: [],
    anyApproverIds: new Set(),
    settings: { allow_author_approval: false, allow_committer_approval: false },
    ...of,
  },
});

const choosers = [AUTHOR, ANN, BOB, CAM].map((id) => ({ id, mayUpdate: id !== CAM }));
const lax = { settings: { allow_author_approval: true, allow_committer_approval: true } };
const byName = rule({ approverIds: [ANN, BOB], userIds: [ANN] });
const byAll = rule({ ruleType: 'any_approver' });

describe('whom a new merge request calls', () => {
  test.each<[string, LoadedApprovals, named: number[], told: number[]]>([
    ['nobody without rules', loaded([]), [], []],
    ['named users, and approvers who chose it', loaded([byName]), [ANN], [ANN, BOB]],
    ['nobody where nothing is asked for', loaded([rule({ ...byName, approvalsRequired: 0 })]), [], []],
    ['nobody where all is given', loaded([byName], { approvedBy: [BOB] }), [], []],
    [
      'not who approved it',
      loaded([rule({ ...byName, approvalsRequired: 2 })], { approvedBy: [ANN] }),
      [],
      [BOB],
    ],
    ['not who committed', loaded([byName], { committerIds: new Set([ANN]) }), [], [BOB]],
    [
      'who committed, where that is allowed',
      loaded([byName], { ...lax, committerIds: new Set([ANN]) }),
      [ANN],
      [ANN, BOB],
    ],
    [
      'its author never',
      loaded([rule({ approverIds: [AUTHOR, ANN], userIds: [AUTHOR, ANN] })], lax),
      [ANN],
      [ANN],
    ],
    ['whoever may approve, where a rule waits for anybody', loaded([byAll]), [], [ANN, BOB]],
    ['a user of two rules once', loaded([byName, rule({ ...byName, id: 2 }), byAll]), [ANN], [ANN, BOB]],
    ['approvers of a group by mail alone', loaded([rule({ approverIds: [CAM] })]), [], [CAM]],
  ])('%s', (_, approvals, named, told) => {
    expect(calledToApprove(approvals, choosers)).toEqual({ named, told });
  });
});
