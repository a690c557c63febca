/** Permissions under rules of protected branches and tags (facts: Roles and visibility). */
import { describe, expect, test } from 'vitest';
import { branchProtectionOf } from '../../../kernel/policy/branch-protection.ts';
import { NO_OBJECT } from '../../../platform/git/names.ts';
import {
  type Allowed,
  type Asker,
  asksOwners,
  developersMay,
  isAllowed,
  mayForce,
  mayMerge,
  mayPush,
  type ProjectRules,
  pushedDeletionRefusal,
  refusalOf,
} from './protection-rules.ts';

const entry = (given: Partial<Allowed>): Allowed => ({
  access_level: null,
  user_id: null,
  group_id: null,
  deploy_key_id: null,
  ...given,
});
const level = (access_level: number) => [entry({ access_level })];
const asker = (role: number, more: Partial<Asker> = {}): Asker => ({
  id: 7,
  role,
  admin: false,
  groups: new Set(),
  ...more,
});
const reporter = asker(20);
const developer = asker(30);
const maintainer = asker(40);

describe('an entry', () => {
  test.each<[string, Allowed[], Asker, boolean]>([
    ['of level 40 lets a maintainer in', level(40), maintainer, true],
    ['of level 40 keeps a developer out', level(40), developer, false],
    ['of level 40 lets an administrator in', level(40), asker(0, { admin: true }), true],
    ['of level 0 lets nobody in', level(0), asker(50, { admin: true }), false],
    ['of level 60 keeps an owner out', level(60), asker(50), false],
    ['of level 60 lets an administrator in', level(60), asker(50, { admin: true }), true],
    ['for a user lets them in', [entry({ user_id: 7 })], developer, true],
    ['for a user lets nobody else in', [entry({ user_id: 8 })], maintainer, false],
    ['for a user needs a developer', [entry({ user_id: 7 })], reporter, false],
    [
      'for a user does not meet a caller without a name',
      [entry({ user_id: 7 })],
      asker(40, { id: undefined }),
      false,
    ],
    ['for a group lets its members in', [entry({ group_id: 3 })], asker(30, { groups: new Set([3]) }), true],
    ['for a group lets nobody else in', [entry({ group_id: 3 })], asker(50, { groups: new Set([4]) }), false],
    ['for a deploy key lets no person in', [entry({ deploy_key_id: 7 })], asker(50), false],
    ['beside another is enough', [...level(60), entry({ user_id: 7 })], developer, true],
  ])('%s', (_, entries, who, expected) => {
    expect(isAllowed(entries, who)).toBe(expected);
  });
  test('is needed', () => expect(isAllowed([], asker(50, { admin: true }))).toBe(false));
});

const rules: ProjectRules = {
  branches: [
    {
      name: 'main',
      allow_force_push: false,
      code_owner_approval_required: false,
      push: level(40),
      merge: level(30),
    },
    {
      name: 'm*',
      allow_force_push: true,
      code_owner_approval_required: false,
      push: level(0),
      merge: level(0),
    },
    {
      name: 'frozen',
      allow_force_push: false,
      code_owner_approval_required: false,
      push: level(0),
      merge: level(0),
    },
  ],
  tags: [
    { name: 'v*', create: level(40) },
    { name: 'locked', create: level(60) },
  ],
  hasLocks: false,
  first: undefined,
};

describe('several rules for one branch', () => {
  test.each<[string, boolean, boolean]>([
    ['the most generous push counts', mayPush(rules, maintainer, 'main'), true],
    ['developers do not push', mayPush(rules, developer, 'main'), false],
    ['developers merge', mayMerge(rules, developer, 'main'), true],
    ['one of them allows force', mayForce(rules, 'main'), true],
    ['none of them allows force', mayForce(rules, 'frozen'), false],
    ['a branch without a rule is forced by who pushes', mayForce(rules, 'topic'), true],
    ['a branch without a rule is for developers', mayPush(rules, developer, 'topic'), true],
    ['and not for reporters', mayPush(rules, reporter, 'topic'), false],
    ['developers may merge by level', developersMay(rules, 'main', 'merge'), true],
    ['developers may not push by level', developersMay(rules, 'main', 'push'), false],
  ])('%s', (_, actual, expected) => {
    expect(actual).toBe(expected);
  });
});

describe('the first branch', () => {
  const first = (number: 0 | 1 | 2 | 3 | 4): ProjectRules => ({
    branches: [],
    tags: [],
    hasLocks: false,
    first: branchProtectionOf(number),
  });
  test.each<[0 | 1 | 2 | 3 | 4, boolean]>([
    [0, true],
    [1, true],
    [2, false],
    [3, false],
    [4, true],
  ])('of protection %i is made by a developer: %s', (number, expected) => {
    expect(mayPush(first(number), developer, 'main')).toBe(expected);
    expect(mayPush(first(number), maintainer, 'main')).toBe(true);
    expect(mayPush(first(number), reporter, 'main')).toBe(false);
  });
});

test('a rule that is there before the first branch holds for it', () => {
  const rules: ProjectRules = {
    branches: [
      {
        name: 'release/*',
        allow_force_push: false,
        code_owner_approval_required: false,
        push: level(0),
        merge: level(0),
      },
    ],
    tags: [],
    hasLocks: false,
    first: branchProtectionOf(0),
  };
  expect([mayPush(rules, maintainer, 'release/1'), mayPush(rules, developer, 'main')]).toEqual([false, true]);
});

describe('an update', () => {
  const one = '1'.repeat(40);
  const two = '2'.repeat(40);
  test.each<[string, string, string, string, Asker, RegExp | undefined]>([
    ['of an open branch', 'refs/heads/topic', one, two, developer, undefined],
    ['by a reporter', 'refs/heads/topic', one, two, reporter, /not allowed to push code to this project/],
    ['of a protected branch', 'refs/heads/main', one, two, developer, /to protected branches/],
    ['of a protected branch by a maintainer', 'refs/heads/main', one, two, maintainer, undefined],
    [
      'that removes a protected branch',
      'refs/heads/main',
      one,
      NO_OBJECT,
      developer,
      /delete protected branches/,
    ],
    [
      'that removes a protected branch by a maintainer',
      'refs/heads/frozen',
      one,
      NO_OBJECT,
      maintainer,
      undefined,
    ],
    ['that removes an open branch', 'refs/heads/topic', one, NO_OBJECT, developer, undefined],
    ['that makes a branch for which they may merge', 'refs/heads/main', NO_OBJECT, one, developer, undefined],
    [
      'that makes a branch for nobody',
      'refs/heads/frozen',
      NO_OBJECT,
      one,
      maintainer,
      /create protected branches/,
    ],
    ['that makes an open tag', 'refs/tags/x', NO_OBJECT, one, developer, undefined],
    ['that changes an open tag', 'refs/tags/x', one, two, developer, /change existing tags/],
    ['that changes an open tag by a maintainer', 'refs/tags/x', one, two, maintainer, undefined],
    ['that makes a protected tag', 'refs/tags/v1', NO_OBJECT, one, developer, /create this tag/],
    ['that makes a protected tag by a maintainer', 'refs/tags/v1', NO_OBJECT, one, maintainer, undefined],
    ['that changes a protected tag', 'refs/tags/v1', one, two, maintainer, /cannot be updated/],
    ['that removes a protected tag', 'refs/tags/v1', one, NO_OBJECT, developer, /delete protected tags/],
    ['that removes a protected tag by a maintainer', 'refs/tags/v1', one, NO_OBJECT, maintainer, undefined],
    [
      'that removes a tag which a maintainer may not make',
      'refs/tags/locked',
      one,
      NO_OBJECT,
      maintainer,
      /delete protected tags/,
    ],
    ['of neither', 'refs/notes/commits', one, two, developer, undefined],
  ])('%s', (_, ref, before, after, who, expected) => {
    const refusal = refusalOf(rules, who, { ref, before, after });
    if (expected === undefined) expect(refusal).toBeUndefined();
    else expect(refusal).toMatch(expected);
  });
});

test.each([
  ['refs/heads/main', NO_OBJECT, /protected branch is not deleted by a push/],
  ['refs/tags/v1', NO_OBJECT, /protected tag is not deleted by a push/],
  ['refs/heads/topic', NO_OBJECT, undefined],
  ['refs/tags/x', NO_OBJECT, undefined],
  ['refs/notes/commits', NO_OBJECT, undefined],
  ['refs/heads/main', 'b'.repeat(40), undefined],
])('a push of %s to %s: %s', (ref, after, expected) => {
  const refusal = pushedDeletionRefusal(rules, { ref, before: 'a'.repeat(40), after });
  if (expected === undefined) expect(refusal).toBeUndefined();
  else expect(refusal).toMatch(expected);
});

describe('code owners', () => {
  const rule = (changes: Partial<ProjectRules['branches'][number]>) => ({
    name: 'main',
    allow_force_push: false,
    code_owner_approval_required: true,
    push: level(30),
    merge: level(30),
    ...changes,
  });
  const named = [...level(40), entry({ user_id: 7 }), entry({ group_id: 3 }), entry({ deploy_key_id: 9 })];
  const known = asker(30, { id: 7 });

  test.each<[string, ProjectRules['branches'], Asker, boolean]>([
    ['are asked', [rule({})], developer, true],
    ['are asked about what maintainers push', [rule({ push: level(40) })], maintainer, true],
    ['are asked about what administrators push', [rule({})], asker(50, { admin: true }), true],
    [
      'are asked where one rule of several says so',
      [rule({ code_owner_approval_required: false }), rule({})],
      developer,
      true,
    ],
    [
      'are not asked where no rule says so',
      [rule({ code_owner_approval_required: false })],
      developer,
      false,
    ],
    ['are not asked about another branch', [rule({ name: 'stable' })], developer, false],
    ['are not asked about whom a rule names', [rule({ push: named })], known, false],
    ['are asked about others', [rule({ push: named })], asker(50, { id: 8 }), true],
    ['are asked about who may not develop', [rule({ push: named })], asker(20, { id: 7 }), true],
    [
      'are not asked about members of a named group',
      [rule({ push: named })],
      asker(30, { id: 8, groups: new Set([3]) }),
      false,
    ],
    [
      'are not asked about whom another rule names',
      [rule({}), rule({ push: named, code_owner_approval_required: false })],
      known,
      false,
    ],
  ])('%s', (_, branches, who, expected) => {
    expect(asksOwners({ branches, tags: [], hasLocks: false, first: undefined }, who, 'main')).toBe(expected);
  });
});
