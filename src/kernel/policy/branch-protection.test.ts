/** Both forms of branch protection say the same. */
import { expect, test } from 'vitest';
import {
  branchProtectionLevel,
  branchProtectionLevels,
  branchProtectionOf,
  changeBranchProtection,
} from './branch-protection.ts';

const full = branchProtectionOf(2);
const developers = [{ access_level: 30 }] as const;

test.each(branchProtectionLevels)('level %d is read back from its record', (level) => {
  expect(branchProtectionLevel(branchProtectionOf(level))).toBe(level);
});

test.each([
  ['nobody may push or merge', { ...full, allowed_to_push: [], allowed_to_merge: [] }, 2],
  ['developers push and merge without force', { ...branchProtectionOf(0), allow_force_push: false }, 1],
  ['maintainers force', { ...full, allow_force_push: true }, 2],
  ['developers merge and push first', { ...branchProtectionOf(3), developer_can_initial_push: true }, 3],
] as const)('%s', (_, record, level) => {
  expect(
    branchProtectionLevel({
      ...record,
      allowed_to_push: [...record.allowed_to_push],
      allowed_to_merge: [...record.allowed_to_merge],
    }),
  ).toBe(level);
});

test.each([
  ['a number', { level: 1 as const }, { level: 1, record: branchProtectionOf(1) }],
  [
    'part of a record',
    { record: { allowed_to_merge: [...developers] } },
    { level: 3, record: { ...full, allowed_to_merge: developers } },
  ],
  [
    'both',
    { level: 0 as const, record: { allow_force_push: false } },
    { level: 1, record: { ...branchProtectionOf(0), allow_force_push: false } },
  ],
])('a change by %s', (_, changes, expected) => {
  expect(changeBranchProtection(full, changes)).toEqual(expected);
});

test('the table cannot be changed through what it gives', () => {
  branchProtectionOf(4).allowed_to_push.pop();
  expect(branchProtectionOf(4).allowed_to_push).toHaveLength(1);
});
