import { describe, expect, test } from 'vitest';
import { defaultPlanLimits } from '../../../kernel/instance/plan-limits.ts';
import { mayDownload } from '../jobs/rules.ts';
import { expiryOf, isArchivePath, isErasable, maximumBytes } from './rules.ts';

const from = new Date('2026-01-01T00:00:00Z');

test.each([
  ['30 days', '2026-01-31T00:00:00.000Z'],
  ['1 hour', '2026-01-01T01:00:00.000Z'],
  ['90', '2026-01-01T00:01:30.000Z'],
  ['never', 'null'],
  ['Never', 'null'],
  ['0', 'null'],
  ['5000 years', 'null'],
  ['soon', 'undefined'],
  ['', 'undefined'],
])('what is kept for %j goes at %s', (duration, time) => {
  const expiry = expiryOf(duration, from);
  expect(expiry instanceof Date ? expiry.toISOString() : String(expiry)).toBe(time);
});

test.each([
  ['a', true],
  ['a/b c/d.txt', true],
  ['..a/b..', true],
  ['.hidden', true],
  ['', false],
  ['/etc/passwd', false],
  ['a/', false],
  ['../a', false],
  ['a/../b', false],
  ['a/./b', false],
  ['a//b', false],
  ['a\\..\\b', false],
  ['a\0b', false],
])('%j names a file: %s', (path, named) => expect(isArchivePath(path)).toBe(named));

test('the size is bounded by the settings, and by the type', () => {
  expect(maximumBytes(defaultPlanLimits, 'archive', 100)).toBe(104_857_600);
  expect(maximumBytes(defaultPlanLimits, 'dotenv', 100)).toBe(5_120);
  expect(maximumBytes(defaultPlanLimits, 'terraform', 1)).toBe(1_048_576);
  const unlimited = { ...defaultPlanLimits, dotenv_size: 0 };
  expect(maximumBytes(unlimited, 'dotenv', 100)).toBe(1_048_576);
});

describe('an artifact is downloaded', () => {
  const roles = { nobody: [], developer: ['read_developer_artifacts'] } as Record<string, string[]>;
  roles.maintainer = ['read_developer_artifacts', 'read_maintainer_artifacts'];
  test.each([
    ['all', 'nobody developer maintainer'],
    ['developer', 'developer maintainer'],
    ['maintainer', 'maintainer'],
    ['none', ''],
  ])('where it is for %s, by %j', (access, by) =>
    expect(
      Object.keys(roles)
        .filter((role) => mayDownload({ may: (ability) => roles[role]?.includes(ability) ?? false }, access))
        .join(' '),
    ).toBe(by),
  );
});

test.each([
  ['success', null, 1, 0, true],
  ['failed', null, 0, 10, true],
  ['success', null, 0, 0, false],
  ['success', from, 1, 1, false],
  ['running', null, 1, 1, false],
  ['manual', null, 1, 1, false],
] as const)(
  'a job that is %s, erased at %s, with %i artifacts and %i bytes is erasable: %s',
  (status, erased_at, artifacts, traceBytes, erasable) =>
    expect(isErasable({ status, erased_at }, { artifacts, traceBytes })).toBe(erasable),
);
