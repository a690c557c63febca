/** Runners: what they may be, who registers them, what is refused, and when a process is written. */

import { describe, expect, test } from 'vitest';
import { defaultPlanLimits } from '../../../kernel/instance/plan-limits.ts';
import { Failure } from '../../../platform/failure.ts';
import {
  expiryOf,
  isChanged,
  isContactDue,
  type ManagerFields,
  managerOf,
  mayRegister,
  problemsOf,
  type RunnerInput,
  type RunnerType,
  refuseAssignment,
  refuseDeletion,
  refuseRemoval,
  registeringHome,
  requirePlace,
  runnerOf,
  tokenPrefix,
} from './rules.ts';

/** What is refused, by status and message; undefined where nothing is. */
function refusal(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    if (error instanceof Failure) return [error.status, error.publicMessage];
    throw error;
  }
  return undefined;
}

const plain = runnerOf({});

describe('a runner of a request', () => {
  test('takes untagged jobs of all refs, and is not paused, where nothing is said', () => {
    expect(plain).toEqual({
      description: null,
      maintenance_note: null,
      paused: false,
      locked: false,
      run_untagged: true,
      tag_list: [],
      access_level: 'not_protected',
      maximum_timeout: null,
    });
  });

  test.each<[string, RunnerInput, Partial<typeof plain>]>([
    ['active is not paused', { active: true }, { paused: false }],
    ['inactive is paused', { active: false }, { paused: true }],
    ['the old note', { maintainer_note: 'Sundays' }, { maintenance_note: 'Sundays' }],
    ['a tag once', { tag_list: ['stone', 'Stone', 'stone'] }, { tag_list: ['stone', 'Stone'] }],
    ['a name of no field', { group_id: 7 } as RunnerInput, {}],
  ])('%s', (_, input, expected) => {
    expect(runnerOf(input)).toEqual({ ...plain, ...expected });
  });

  test('what a change does not name stays, and null is a value', () => {
    const before = runnerOf({ description: 'Kiln', paused: true, tag_list: ['stone'], maximum_timeout: 900 });
    expect(runnerOf({ maximum_timeout: null, paused: undefined, locked: true }, before)).toEqual({
      ...before,
      maximum_timeout: null,
      locked: true,
    });
  });
});

const tags = (count: number): string[] => Array.from({ length: count }, (_, at) => `tag-${at}`);

test.each<[RunnerInput, ReturnType<typeof problemsOf>]>([
  [{}, {}],
  [{ run_untagged: false, tag_list: ['stone'] }, {}],
  [
    { run_untagged: false },
    { tags_list: ['can not be empty when runner is not allowed to pick untagged jobs'] },
  ],
  [{ tag_list: tags(50) }, {}],
  [{ tag_list: tags(51) }, { tags_list: ['Too many tags specified. Please limit the number of tags to 50'] }],
  [{ maximum_timeout: 600 }, {}],
  [{ maximum_timeout: 599 }, { maximum_timeout: ['needs to be at least 10 minutes'] }],
])('the problems of %j', (input, expected) => {
  expect(problemsOf(runnerOf(input))).toEqual(expected);
});

test.each([
  ['authenticated_user', 'instance_type', 'glrt-t1_'],
  ['authenticated_user', 'group_type', 'glrt-t2_'],
  ['registration_token', 'project_type', 'glrtr-t3_'],
] as const)('a token of %s and %s begins with %3$s', (registration, type, expected) => {
  expect(tokenPrefix(registration, type)).toBe(expected);
});

describe('registering', () => {
  const both = ['project', 'group'] as const;
  const invalid = [403, '403 Forbidden - invalid token supplied'];
  const disallowed = [410, '410 Gone - runner registration disallowed'];
  test.each<[RunnerType | undefined, boolean, readonly ('project' | 'group')[], unknown]>([
    ['instance_type', true, both, undefined],
    ['instance_type', true, [], undefined],
    ['group_type', true, both, undefined],
    ['project_type', true, both, undefined],
    [undefined, true, both, invalid],
    [undefined, false, both, invalid],
    ['group_type', true, ['project'], invalid],
    ['project_type', true, ['group'], invalid],
    ['project_type', false, ['group'], invalid],
    ['instance_type', false, both, disallowed],
    ['project_type', false, both, disallowed],
  ])('by a token of %s, allowed: %s, by %j', (type, allowed, registrars, expected) => {
    const settings = { allow_runner_registration_token: allowed, valid_runner_registrars: [...registrars] };
    expect(refusal(() => registeringHome(settings, type && { type }))).toEqual(expected);
  });

  test.each<[RunnerType, readonly ('project' | 'group')[], boolean]>([
    ['instance_type', [], true],
    ['group_type', ['group'], true],
    ['group_type', ['project'], false],
    ['project_type', ['project'], true],
    ['project_type', [], false],
  ])('members make a runner of %s where there are %j: %s', (type, registrars, expected) => {
    expect(mayRegister({ valid_runner_registrars: [...registrars] }, type)).toBe(expected);
  });

  test.each([
    ['group_type', 'runner_namespaces.base', 'group'],
    ['project_type', 'runner_projects.base', 'project'],
  ] as const)('so many of %s and no more', (type, property, of) => {
    expect(refusal(() => requirePlace(type, 999, defaultPlanLimits))).toBeUndefined();
    const message = `Maximum number of ci registered ${of} runners (1000) exceeded`;
    expect(refusal(() => requirePlace(type, 1_000, defaultPlanLimits))).toEqual([
      400,
      { [property]: [message] },
    ]);
  });
});

test.each([
  ['instance_type', 10_000],
  ['group_type', 20_000],
  ['project_type', null],
] as const)('a token of %s lasts %s seconds', (type, seconds) => {
  const time = new Date('2031-01-01T00:00:00Z');
  const settings = {
    runner_token_expiration_interval: 10_000,
    group_runner_token_expiration_interval: 20_000,
    project_runner_token_expiration_interval: null,
  };
  const expected = seconds === null ? null : new Date(time.getTime() + seconds * 1_000);
  expect(expiryOf(settings, type, time)).toEqual(expected);
});

const locked = [403, '403 Forbidden - Runner is locked'];

test.each<[RunnerType, { locked?: true; has?: true; admin?: true }, unknown]>([
  ['project_type', {}, undefined],
  ['project_type', { locked: true }, locked],
  ['project_type', { locked: true, admin: true }, undefined],
  ['project_type', { locked: true, has: true }, locked],
  ['project_type', { has: true }, [400, { runner_id: ['has already been taken'] }]],
  ['group_type', { admin: true }, [403, '403 Forbidden - Runner is a group runner']],
  [
    'instance_type',
    { admin: true },
    [400, { base: ['Runner of the instance is for all projects, and cannot be assigned to one'] }],
  ],
])(
  'assigning a runner of %s, %j',
  (runner_type, { locked = false, has = false, admin = false }, expected) => {
    expect(refusal(() => refuseAssignment({ runner_type, locked }, { has, admin }))).toEqual(expected);
  },
);

const owns = [
  403,
  '403 Forbidden - You cannot unassign a runner from the owner project. Delete the runner instead',
];

test.each<[{ locked?: true; owns?: true; admin?: true }, unknown]>([
  [{}, undefined],
  [{ locked: true }, locked],
  [{ locked: true, admin: true }, undefined],
  [{ owns: true }, owns],
  [{ owns: true, admin: true }, owns],
])('taking a runner away, %j', ({ locked = false, owns = false, admin = false }, expected) => {
  expect(refusal(() => refuseRemoval({ locked }, { owns, admin }))).toEqual(expected);
});

test.each([
  [0, false, undefined],
  [1, false, undefined],
  [2, false, [403, '403 Forbidden - Runner associated with more than one project']],
  [2, true, undefined],
])('deleting a runner of %d projects, as an administrator: %s', (projects, admin, expected) => {
  expect(refusal(() => refuseDeletion(projects, admin))).toEqual(expected);
});

describe('what is kept of a process', () => {
  const known: ManagerFields = {
    version: '18.1.0',
    revision: 'abc',
    platform: 'linux',
    architecture: 'amd64',
    executor: 'shell',
    features: { variables: true, cache: false },
    gpus: null,
  };

  test('is what it says, and what it said before', () => {
    expect(managerOf(undefined, known)).toEqual(known);
    expect(managerOf({ version: '18.2.0', config: { gpus: 'all' } }, known)).toEqual({
      ...known,
      version: '18.2.0',
      gpus: 'all',
    });
    expect(managerOf(undefined, undefined)).toEqual({
      ...Object.fromEntries(Object.keys(known).map((name) => [name, null])),
      features: {},
    });
  });

  test('are features that are true or false, with names that are not long, and not too many', () => {
    const features = { variables: true, cache: 'yes', ['x'.repeat(65)]: true, image: false };
    expect(managerOf({ features }, known).features).toEqual({ variables: true, image: false });
    const many = Object.fromEntries(tags(200).map((name) => [name, true]));
    expect(Object.keys(managerOf({ features: many }, known).features)).toHaveLength(100);
  });

  test.each<[Partial<ManagerFields>, boolean]>([
    [{}, false],
    [{ version: '18.2.0' }, true],
    [{ gpus: 'all' }, true],
    [{ features: { cache: false, variables: true } }, false],
    [{ features: { variables: true } }, true],
    [{ features: { variables: true, image: false } }, true],
    [{ features: { variables: true, cache: true } }, true],
  ])('is written for %j: %s', (difference, expected) => {
    expect(isChanged(known, { ...known, ...difference })).toBe(expected);
  });

  const time = new Date('2031-01-01T12:00:00Z');
  const ago = (minutes: number) => new Date(time.getTime() - minutes * 60_000);
  test.each<[Date | null, number, boolean]>([
    [null, 0.5, true],
    [ago(39), 0, false],
    [ago(40), 0, true],
    [ago(54), 0.999, false],
    [ago(55), 0.999, true],
  ])('with the time, last written at %s, by the fraction %d: %s', (contactedAt, fraction, expected) => {
    expect(isContactDue(contactedAt, time, fraction)).toBe(expected);
  });
});
