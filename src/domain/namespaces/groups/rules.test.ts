/** Tables over the decisions about groups. */
import { describe, expect, it } from 'vitest';
import {
  initialVisibility,
  leastToCreateSubgroups,
  mayCreateTopLevelGroup,
  nameProblems,
  nothingInside,
  removalProblem,
  visibilityProblems,
} from './rules.ts';

describe('mayCreateTopLevelGroup', () => {
  const person = { admin: false, external: false, kind: 'human', can_create_group: true };
  it.each([
    ['a person who may', person, true, true],
    ['a person who may not', { ...person, can_create_group: false }, true, false],
    ['anybody while the instance says no', person, false, false],
    ['an external user', { ...person, external: true }, true, false],
    ['the bot of a token', { ...person, kind: 'group_bot' }, true, false],
    ['an administrator, always', { ...person, admin: true, can_create_group: false }, false, true],
  ])('%s', (_, creator, allowed, expected) => {
    expect(mayCreateTopLevelGroup(creator, allowed)).toBe(expected);
  });
});

describe('leastToCreateSubgroups', () => {
  it.each([
    ['owner', 50],
    ['maintainer', 40],
  ] as const)('%s', (level, least) => {
    expect(leastToCreateSubgroups(level)).toBe(least);
  });
});

describe('nameProblems', () => {
  it.each(['a', 'Group 1', 'Ünïcödé (x)', '_private', '7', 'a+b', 'dash – dash', '🦊 foxes'])(
    'admits %s',
    (name) => {
      expect(nameProblems(name)).toEqual([]);
    },
  );
  it.each(['', ' ', '-a', 'a/b', '<b>', 'a\nb', '(x)', ' a'])('refuses %j', (name) => {
    expect(nameProblems(name)).toHaveLength(1);
  });
});

describe('visibilityProblems', () => {
  const free = { parent: undefined, inside: nothingInside, restricted: [], admin: false };
  it.each([
    ['anything at the top', 'public', free, 0],
    ['as much as the parent', 'internal', { ...free, parent: 10 }, 0],
    ['more than the parent', 'public', { ...free, parent: 10 }, 1],
    ['more than a private parent', 'internal', { ...free, parent: 0 }, 1],
    ['less than a project inside', 'private', { ...free, inside: { groups: 0, projects: 10 } }, 1],
    ['less than a group inside', 'internal', { ...free, inside: { groups: 20, projects: 0 } }, 1],
    ['less than both', 'private', { ...free, inside: { groups: 20, projects: 20 } }, 2],
    ['what is restricted', 'public', { ...free, restricted: ['public'] }, 1],
    [
      'what is restricted, for an administrator',
      'public',
      { ...free, restricted: ['public'], admin: true },
      0,
    ],
    ['what is not restricted', 'internal', { ...free, restricted: ['public'] }, 0],
  ] as const)('%s', (_, requested, bounds, problems) => {
    expect(visibilityProblems(requested, bounds)).toHaveLength(problems);
  });
});

describe('initialVisibility', () => {
  it.each([
    ['the default', 'internal', undefined, [], false, 'internal'],
    ['no more than the parent', 'public', 10, [], false, 'internal'],
    ['the next below what is restricted', 'public', undefined, ['public'], false, 'internal'],
    [
      'private when all below are restricted',
      'internal',
      undefined,
      ['internal', 'private'],
      false,
      'private',
    ],
    ['the default for an administrator', 'public', undefined, ['public'], true, 'public'],
  ] as const)('%s', (_, fallback, parent, restricted, admin, expected) => {
    expect(initialVisibility(fallback, { parent, restricted, admin })).toBe(expected);
  });
});

describe('removalProblem', () => {
  const marked = { parent_id: 1, marked_for_deletion_on: '2026-01-01', full_path: 'a/b' };
  it.each([
    ['a marked subgroup by its full path', marked, 'a/b', undefined],
    ['a top-level group', { ...marked, parent_id: null }, 'a/b', /only available for subgroups/],
    ['one that is not marked', { ...marked, marked_for_deletion_on: null }, 'a/b', /must be marked/],
    ['another path', marked, 'a/c', /incorrect/],
    ['another case', marked, 'A/B', /incorrect/],
    ['no path', marked, undefined, /incorrect/],
  ])('%s', (_, group, fullPath, expected) => {
    const problem = removalProblem(group, fullPath);
    if (expected === undefined) expect(problem).toBeUndefined();
    else expect(problem).toMatch(expected);
  });
});
