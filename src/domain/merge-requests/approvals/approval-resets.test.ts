/** Approvals after a push. */
import { expect, test } from 'vitest';
import { approvalsLostByPush } from './approval-resets.ts';

const reset = { retain_approvals_on_push: false, selective_code_owner_removals: false };
const retain = { retain_approvals_on_push: true, selective_code_owner_removals: false };
const selective = { retain_approvals_on_push: true, selective_code_owner_removals: true };
const both = { retain_approvals_on_push: false, selective_code_owner_removals: true };

test.each([
  ['all go', reset, true, [], [1, 2, 3]],
  ['none goes', retain, true, [2], []],
  ["those of the changed files' owners go", selective, true, [2, 9], [2]],
  ['no file with owners was changed', selective, true, [], []],
  ['all go, owners or not', both, true, [2], [1, 2, 3]],
  ['a rebase keeps all', reset, false, [2], []],
  ["a rebase keeps the owners'", selective, false, [2], []],
])('%s', (_, settings, isPatchChanged, owners, lost) => {
  const push = { isPatchChanged, ownersOfChanged: new Set(owners) };
  expect(approvalsLostByPush([1, 2, 3], settings, push)).toEqual(lost);
});
