/** Tables over the rules of projects. */
import { describe, expect, it } from 'vitest';
import {
  changedSettings,
  initialVisibility,
  nameProblems,
  pathFromName,
  visibilityProblems,
} from './rules.ts';

describe('pathFromName', () => {
  it.each([
    ['My Project', 'my-project'],
    ['Ünïcode & more!', 'unicode-more'],
    ['--x--', 'x'],
    ['a/b', 'a-b'],
    ['_.-a_.-b_.-', 'a_.-b'],
    ['日本', ''],
  ])('%s → %s', (name, path) => expect(pathFromName(name)).toBe(path));
  it('reads a long name once', () => {
    const name = `a${'_'.repeat(1_000_000)}b`;
    expect(pathFromName(name) === name).toBe(true);
  });
});

describe('nameProblems', () => {
  it.each(['a', 'A project (1)', '🚀 launch', 'Größe'])('%s is fine', (name) =>
    expect(nameProblems(name)).toBeUndefined(),
  );
  it.each(['', '  ', '-a', '<script>', 'a\nb'])('%j is refused', (name) =>
    expect(nameProblems(name)).toHaveLength(1),
  );
});

describe('visibility', () => {
  it.each([
    { asked: undefined, fallback: 20, namespace: 10, level: 10 },
    { asked: undefined, fallback: 0, namespace: 20, level: 0 },
    { asked: 20, fallback: 0, namespace: 10, level: 20 },
  ])('$asked, default $fallback in $namespace → $level', ({ asked: requested, fallback, namespace, level }) =>
    expect(initialVisibility(requested, fallback, namespace)).toBe(level),
  );
  const group = { kind: 'group', visibility: 10 } as const;
  const common = { asked: 20, name: 'public', restricted: [], admin: false };
  it('stays below the group', () =>
    expect(visibilityProblems({ ...common, namespace: group })).toHaveLength(1));
  it('is free in a personal namespace', () =>
    expect(visibilityProblems({ ...common, namespace: { kind: 'user', visibility: 0 } })).toBeUndefined());
  it('is refused when restricted, but not to administrators', () => {
    const restricted = {
      ...common,
      namespace: { kind: 'user', visibility: 20 } as const,
      restricted: ['public'],
    };
    expect(visibilityProblems(restricted)).toHaveLength(1);
    expect(visibilityProblems({ ...restricted, admin: true })).toBeUndefined();
  });
});

describe('changedSettings (spec: Versioning, deprecations)', () => {
  it.each([
    [{ issues_enabled: false }, { issues_access_level: 'disabled' }],
    [{ issues_enabled: false, issues_access_level: 'private' as const }, { issues_access_level: 'private' }],
    [
      { restrict_user_defined_variables: false },
      { ci_pipeline_variables_minimum_override_role: 'developer' },
    ],
    [{ emails_disabled: true }, { emails_enabled: false }],
    [{ remove_source_branch_after_merge: null }, { remove_source_branch_after_merge: null }],
    [{ description: 'x' }, {}],
  ])('%j → %j', (input, changes) => expect(changedSettings(input, { tier: 'premium' })).toEqual(changes));
});
