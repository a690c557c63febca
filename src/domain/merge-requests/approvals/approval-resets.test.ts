/** Approvals after a push. */
import { expect, test } from 'vitest';
import { approvalsLostByPush } from './approval-resets.ts';

const reset = { retain_approvals_on_push: false, selective_code_owner_removals: false };
const retain = { retain_approvals_on_push: true, selective_code_owner_removals: false };
const selective = { retain_approvals_on_push: true, selective_code_owner_removals: true };
const both = { retain_approvals_on_push: false, selective_code_owner_removals: true };

test.each([
  ['all go', reset, true, 'all'],
  ['none goes', retain, true, 'none'],
  ["those of the changed files' owners go", selective, true, 'owners'],
  ['all go, owners or not', both, true, 'all'],
  ['a rebase keeps all', reset, false, 'none'],
  ["a rebase keeps the owners'", selective, false, 'none'],
])('%s', (_, settings, isPatchChanged, lost) => {
  expect(approvalsLostByPush(settings, isPatchChanged)).toBe(lost);
});
