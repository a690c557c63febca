import { expect, test } from 'vitest';
import { clientToken, featuresOf, isClientToken } from './client-rules.ts';

const strategy = (id: number, ...environments: string[]) => ({
  id,
  name: 'userWithId',
  parameters: { userIds: String(id) } as Record<string, string>,
  scopes: environments.map((environment_scope) => ({ id, environment_scope })),
});
const flag = (name: string, ...strategies: ReturnType<typeof strategy>[]) => ({
  name,
  description: null,
  active: true,
  strategies,
});

test.each([
  ['production', ['all', 'exact'], ['1', '2']],
  ['review/arch', ['all', 'wild'], ['1', '3']],
  ['review', ['all'], ['1']],
  ['', ['all'], ['1']],
])('in %o there are %o', (environment, names, users) => {
  const flags = [
    flag('all', strategy(1, '*')),
    flag('exact', strategy(9, 'staging'), strategy(2, 'production')),
    flag('wild', strategy(3, 'canary', 'review/*')),
    flag('none'),
    flag('nowhere', strategy(4)),
  ];
  const found = featuresOf(flags, new Map(), environment);
  expect(found.map(({ name }) => name)).toEqual(names);
  expect(found.flatMap(({ strategies }) => strategies.map(({ parameters }) => parameters.userIds))).toEqual(
    users,
  );
});

test('a flag that is not active is there, and off', () => {
  const off = { ...flag('off', strategy(1, '*')), active: false, description: 'Later' };
  expect(featuresOf([off], new Map(), 'x')).toEqual([
    {
      name: 'off',
      description: 'Later',
      enabled: false,
      strategies: [{ name: 'userWithId', parameters: { userIds: '1' } }],
    },
  ]);
});

test('a token is of one instance, project and generation', () => {
  const client = { projectId: 12, generation: 1 };
  const token = clientToken('key', client);
  expect(token).toMatch(/^glffct-[\w-]{43}$/);
  expect(isClientToken('key', client, token)).toBe(true);
  const others = [clientToken('other', client), clientToken('key', { ...client, projectId: 1 })];
  const more = [clientToken('key', { ...client, generation: 2 }), '', 'glffct-', `${token}x`];
  for (const wrong of [...others, ...more]) expect(isClientToken('key', client, wrong)).toBe(false);
});

test('who is on a list is named by a strategy that programs know', () => {
  const listed = { ...strategy(1, '*'), name: 'gitlabUserList', parameters: {}, user_list_id: 5 };
  const lists = new Map([[5, { user_xids: 'ada,wren' }]]);
  const [feature] = featuresOf([flag('all', listed)], lists, 'x');
  expect(feature?.strategies).toEqual([{ name: 'userWithId', parameters: { userIds: 'ada,wren' } }]);
});
