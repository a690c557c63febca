/** Which rules hold for a merge request. */
import { expect, test } from 'vitest';
import { holdingRules, type Protection } from './loaded.ts';

type Row = Parameters<typeof holdingRules>[0][number];

const row = (changes: Partial<Row> = {}): Row => ({
  of_merge_request_id: 1,
  id: 1,
  name: 'Rule',
  rule_type: 'regular',
  report_type: null,
  section: null,
  approvals_required: 2,
  applies_to_all_protected_branches: false,
  of_group: false,
  of_merge_request: false,
  source_rule_id: null,
  approver_ids: [],
  branch_ids: [],
  user_ids: [],
  group_ids: [],
  ...changes,
});
const owners = (changes: Partial<Row> = {}) =>
  row({
    id: 2,
    name: '*',
    rule_type: 'code_owner',
    section: 'codeowners',
    of_merge_request: true,
    ...changes,
  });
const own = row({ id: 3, name: 'Own', of_merge_request: true });

/** Names with the approvals that they need. */
const held = (
  rows: readonly Row[],
  branch: string,
  protections: Protection[],
  { allowsOwn = true, asked = null }: { allowsOwn?: boolean; asked?: number | null } = {},
) => {
  const all = new Map(protections.map((each, id) => [id, each]));
  const of = { target_branch: branch, approvals_before_merge: asked };
  const { rules, isOverwritten } = holdingRules(rows, of, all, allowsOwn);
  return [
    ...rules.map(({ name, approvalsRequired }) => `${name} ${approvalsRequired}`),
    ...(isOverwritten ? ['overwritten'] : []),
  ];
};
const main = { name: 'main', asksOwners: false };
const asking = { name: 'ma*', asksOwners: true };

test.each<[string, Row[], string, Protection[], string[]]>([
  ['owners of an open branch', [owners()], 'main', [], ['* 0']],
  ['of a protected one', [owners()], 'main', [main], ['* 0']],
  ['of one that asks them', [owners()], 'main', [asking], ['* 2']],
  ['of one of whose protections one asks them', [owners()], 'main', [main, asking], ['* 2']],
  ['of another', [owners()], 'stable', [main, asking], ['* 0']],
  ['where it is optional', [owners({ approvals_required: 0 })], 'main', [asking], ['* 0']],
  ['beside the project’s rules', [row(), owners()], 'main', [asking], ['Rule 2', '* 2']],
  [
    'beside the merge request’s own',
    [row(), owners(), own],
    'main',
    [asking],
    ['* 2', 'Own 2', 'overwritten'],
  ],
])('%s', (_, rows, branch, protections, expected) => {
  expect(held(rows, branch, protections)).toEqual(expected);
});

test('where it may have none of its own, owners stay', () => {
  expect(held([row(), owners(), own], 'main', [asking], { allowsOwn: false })).toEqual(['Rule 2', '* 2']);
});

const anybody = (approvals_required: number, changes: Partial<Row> = {}) =>
  row({ name: 'Any', rule_type: 'any_approver', approvals_required, ...changes });

test.each<[string, Row[], allowsOwn: boolean, string[]]>([
  ['more than the project does', [anybody(1), row({ id: 2 })], true, ['Any 3', 'Rule 2']],
  ['fewer', [anybody(4)], true, ['Any 4']],
  ['where the project asks for none', [anybody(0)], true, ['Any 0']],
  ['where the project has no such rule', [row()], true, ['Rule 2']],
  ['of whom a group asks', [anybody(1, { of_group: true })], true, []],
  ['where the project does not leave it to it', [anybody(1)], false, ['Any 1']],
  [
    'beside rules of its own',
    [anybody(1), anybody(1, { id: 2, of_merge_request: true })],
    true,
    ['Any 1', 'overwritten'],
  ],
])('three approvals that it asks for itself: %s', (_, rows, allowsOwn, expected) => {
  expect(held(rows, 'main', [], { allowsOwn, asked: 3 })).toEqual(expected);
});

test('whom a file names is shown where they are its owner', () => {
  const { rules } = holdingRules(
    [owners({ user_ids: [7, 8], approver_ids: [8, 9] })],
    { target_branch: 'main', approvals_before_merge: null },
    new Map(),
    true,
  );
  expect(rules[0]).toMatchObject({ userIds: [8], approverIds: [8, 9], isClosed: false });
});
