import { expect, test } from 'vitest';
import { projectDefaults } from '../approval-settings/rules.ts';
import { type ApprovalChange, approvalAction, resetBySystem } from './approval-changes.ts';
import type { HoldingRule, LoadedApprovals } from './loaded.ts';

const [ANN, BOB, CAM] = [2, 3, 4];

const rule = (given: Partial<HoldingRule>): HoldingRule => ({
  id: 1,
  name: 'Rule',
  ruleType: 'regular',
  reportType: null,
  section: null,
  approvalsRequired: 1,
  approverIds: [ANN, BOB],
  ofMergeRequest: false,
  sourceRuleId: null,
  userIds: [ANN, BOB],
  groupIds: [],
  ...given,
});

const loaded = (rules: readonly HoldingRule[], approvedBy: readonly number[]): LoadedApprovals => ({
  rules,
  own: [],
  isOverwritten: false,
  settings: projectDefaults,
  approvals: [],
  of: {
    authorId: 1,
    committerIds: new Set(),
    approvedBy,
    anyApproverIds: new Set(approvedBy),
    settings: { allow_author_approval: false, allow_committer_approval: true },
  },
});

const one = rule({});
const two = rule({ approvalsRequired: 2 });
const any = rule({ ruleType: 'any_approver', approverIds: [], userIds: [], approvalsRequired: 1 });

test.each<[string, since: LoadedApprovals, ApprovalChange, action: string]>([
  ['the last that was missing', loaded([one], [ANN]), { given: ANN }, 'approved'],
  ['one more than was asked for', loaded([one], [ANN, BOB]), { given: BOB }, 'approved'],
  ['where nothing is asked for', loaded([], [ANN]), { given: ANN }, 'approved'],
  ['one of two', loaded([two], [ANN]), { given: ANN }, 'approval'],
  ['one that no rule asks for', loaded([one], [CAM]), { given: CAM }, 'approval'],
  ['the only one is taken', loaded([one], []), { taken: [ANN] }, 'unapproved'],
  ['the only one of anybody is taken', loaded([any], []), { taken: [CAM] }, 'unapproved'],
  ['one is taken, and enough are left', loaded([one], [BOB]), { taken: [ANN] }, 'unapproval'],
  ['one is taken where two were missing', loaded([two], []), { taken: [ANN] }, 'unapproval'],
  ['both are taken', loaded([two], []), { taken: [ANN, BOB] }, 'unapproved'],
  ['one is taken that did not count', loaded([one], []), { taken: [CAM] }, 'unapproval'],
])('%s', (_, since, change, action) => {
  expect(approvalAction(since, change)).toBe(action);
});

test.each([
  [false, 'approvals_reset_on_push'],
  [true, 'code_owner_approvals_reset_on_push'],
])('a push takes them where they are retained: %s', (retain_approvals_on_push, name) => {
  expect(resetBySystem({ settings: { ...projectDefaults, retain_approvals_on_push } })).toBe(name);
});
