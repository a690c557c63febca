import { expect, test } from 'vitest';
import { changedCleanup, defaultCleanupPolicy, keptFiles } from './packages-cleanup-policy.ts';

const at = new Date('2026-03-01T06:00:00Z');

test.each([
  ['ALL_PACKAGE_FILES', undefined, null],
  ['1', 1, '2026-03-01T18:00:00.000Z'],
  ['50', 50, '2026-03-01T18:00:00.000Z'],
] as const)('of %s', (keep_n_duplicated_package_files, kept, next_run_at) => {
  const policy = changedCleanup({ keep_n_duplicated_package_files }, at);
  expect(policy).toEqual({ keep_n_duplicated_package_files, next_run_at });
  expect(keptFiles(policy)).toBe(kept);
});

test('all files stay unless a project says otherwise', () => {
  expect(keptFiles(defaultCleanupPolicy)).toBeUndefined();
});
