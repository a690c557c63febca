/** Valid feature flags, and changes of strategies. */
import { describe, expect, test } from 'vitest';
import { changeStrategies, checkName, checkStrategy, type StoredStrategy } from './rules.ts';
import type { StrategyInput } from './schema.ts';

const signs =
  "can contain only lowercase letters, digits, '_' and '-'. Must start with a letter, and cannot end with '-' or '_'";

test.each([
  ['a1', []],
  ['new_checkout-2', []],
  ['a'.repeat(63), []],
  ['a', ['is too short (minimum is 2 characters)']],
  ['', ['is too short (minimum is 2 characters)']],
  ['a'.repeat(64), ['is too long (maximum is 63 characters)']],
  ['1a', [signs]],
  ['New', [signs]],
  ['new-', [signs]],
  ['new_', [signs]],
  ['new\n', [signs]],
  ['a b', [signs]],
])('name %j', (name, problems) => {
  expect(checkName(name)).toEqual(problems);
});

const between = (name: string) => `${name} must be a string between 0 and 100 inclusive`;
const users = 'userIds must be a string of unique comma separated values each 256 characters or less';
const flexible = { rollout: '50', groupId: 'default', stickiness: 'random' };

test.each<[string, Record<string, string>, string[]]>([
  ['default', {}, []],
  ['default', { percentage: '5' }, ['parameters are invalid']],
  ['gradualRolloutUserId', { percentage: '0', groupId: 'abc' }, []],
  ['gradualRolloutUserId', { percentage: '100', groupId: 'abc' }, []],
  ['gradualRolloutUserId', { percentage: '101', groupId: 'abc' }, [between('percentage')]],
  [
    'gradualRolloutUserId',
    { percentage: '05', groupId: 'ABC' },
    [between('percentage'), 'groupId parameter is invalid'],
  ],
  ['gradualRolloutUserId', { percentage: '5' }, ['parameters are invalid']],
  ['userWithId', { userIds: 'ann, bob' }, []],
  ['userWithId', { userIds: 'ann,ann' }, [users]],
  ['userWithId', { userIds: 'ann,' }, [users]],
  ['userWithId', { userIds: 'a'.repeat(257) }, [users]],
  ['flexibleRollout', flexible, []],
  ['flexibleRollout', { ...flexible, rollout: '-1' }, [between('rollout')]],
  [
    'flexibleRollout',
    { ...flexible, stickiness: 'ip' },
    ['stickiness parameter must be default, userId, sessionId, or random'],
  ],
  ['gitlabUserList', {}, ["user list can't be blank"]],
  ['constructor', {}, ['strategy name is invalid']],
  ['', {}, ['strategy name is invalid']],
])('strategy %s %j', (name, parameters, problems) => {
  expect(checkStrategy({ name, parameters, scopes: [] })).toEqual(problems);
});

test.each([
  [['production', 'staging/*'], []],
  [['*', '*'], ['environment scope has already been taken']],
  [[' '], ["environment scope can't be blank"]],
])('environments %j', (environments, problems) => {
  const scopes = environments.map((environment_scope, id) => ({ id, environment_scope }));
  expect(checkStrategy({ name: 'default', parameters: {}, scopes })).toEqual(problems);
});

describe('changes of strategies', () => {
  const strategy = (id: number, name: string, parameters = {}, scopes: StoredStrategy['scopes'] = []) => ({
    id,
    name,
    parameters,
    scopes,
  });
  const production = { id: 10, environment_scope: 'production' };
  const staging = { id: 11, environment_scope: 'staging' };
  const current = [
    strategy(1, 'default', {}, [production, staging]),
    strategy(2, 'userWithId', { userIds: 'ann' }),
  ];
  const [first, second] = current;

  test.each<[string, StrategyInput[], unknown[]]>([
    ['nothing', [], current],
    ['one is added', [{ name: 'default' }], [...current, strategy(100, 'default')]],
    [
      'one is changed in its place',
      [{ id: 2, parameters: { userIds: 'bob' } }],
      [first, strategy(2, 'userWithId', { userIds: 'bob' })],
    ],
    ['one is removed', [{ id: 1, _destroy: true }], [second]],
    ['one that never was is removed', [{ name: 'default', _destroy: true }], current],
    [
      'a scope is added, one changed, one removed',
      [
        {
          id: 1,
          scopes: [
            { environment_scope: 'review' },
            { id: 11, environment_scope: 'canary' },
            { id: 10, _destroy: true },
          ],
        },
      ],
      [
        strategy(1, 'default', {}, [
          { id: 11, environment_scope: 'canary' },
          { id: 100, environment_scope: 'review' },
        ]),
        second,
      ],
    ],
  ])('%s', (_, inputs, strategies) => {
    let next = 100;
    expect(changeStrategies(current, inputs, () => next++)).toEqual({ strategies, problems: [] });
  });

  test.each<[string, StrategyInput[], string[]]>([
    ['a strategy of another flag', [{ id: 3, name: 'default' }], ['there is no strategy 3']],
    [
      'a scope of another strategy',
      [{ id: 2, scopes: [{ id: 10, _destroy: true }] }],
      ['there is no scope 10'],
    ],
    [
      'one removed twice',
      [
        { id: 1, _destroy: true },
        { id: 1, _destroy: true },
      ],
      ['there is no strategy 1'],
    ],
    ['another kind with the old parameters', [{ id: 2, name: 'default' }], ['parameters are invalid']],
    ['a new scope without an environment', [{ id: 1, scopes: [{}] }], ["environment scope can't be blank"]],
    ['too many', Array.from({ length: 99 }, () => ({ name: 'default' })), ['are too many (maximum is 100)']],
  ])('%s', (_, inputs, problems) => {
    let next = 100;
    expect(changeStrategies(current, inputs, () => next++).problems).toEqual(problems);
  });
});

test('strategies of a flag are so long at most; longer ones of before may become shorter', () => {
  const idsOf = (count: number) =>
    Array.from({ length: count }, (_, place) => String(place).padStart(200, 'u')).join(',');
  const stored = (count: number) => ({
    ...{ id: 1, name: 'userWithId', scopes: [] },
    parameters: { userIds: idsOf(count) },
  });
  const change = (before: number, after: number): string[] =>
    changeStrategies([stored(before)], [{ id: 1, parameters: { userIds: idsOf(after) } }], () => 2).problems;
  const problems = ['are too long (maximum is 262144 characters)'];
  expect([change(1, 1_303), change(1, 1_304)]).toEqual([[], problems]);
  expect([change(2_000, 1_999), change(2_000, 2_001)]).toEqual([[], problems]);
});
