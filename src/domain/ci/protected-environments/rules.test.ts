import { describe, expect, test } from 'vitest';
import { type Access, BadAccess, changesOf, mayDeploy } from './rules.ts';

const none: Access = {
  access_level: null,
  user_id: null,
  group_id: null,
  group_inheritance_type: 0,
  required_approvals: null,
};
const level = (access_level: number): Access => ({ ...none, access_level });
const deployer = (role: number, more: object = {}) => ({
  id: 7,
  role,
  admin: false,
  isMember: (id: number, inherited: boolean) => id === 3 || (id === 4 && inherited),
  ...more,
});

describe('a user', () => {
  const live = { name: 'live', tier: 'production' };
  const own = (...entries: Access[]) => ({ project_id: 1, name: 'live', entries });
  const ofTier = (...entries: Access[]) => ({ project_id: null, name: 'production', entries });
  test.each([
    ['where nothing protects it', [], deployer(30), true],
    ['where another name is protected', [{ ...own(level(60)), name: 'production' }], deployer(30), true],
    ['with the role', [own(level(40))], deployer(40), true],
    ['without the role', [own(level(40))], deployer(30), false],
    ['as an administrator', [own(level(60))], deployer(0, { admin: true }), true],
    ['as an owner among administrators', [own(level(60))], deployer(50), false],
    ['by name', [own({ ...none, user_id: 7 })], deployer(30), true],
    ['as another', [own({ ...none, user_id: 8 })], deployer(50), false],
    ['by the group', [own({ ...none, group_id: 3 })], deployer(30), true],
    ['by a group around it', [own({ ...none, group_id: 4 })], deployer(30), false],
    [
      'by a group around it that counts',
      [own({ ...none, group_id: 4, group_inheritance_type: 1 })],
      deployer(30),
      true,
    ],
    ['by one of several entries', [own(level(60), level(30))], deployer(30), true],
    ['with the role for the tier', [ofTier(level(30))], deployer(30), true],
    ['without that for the tier', [own(level(30)), ofTier(level(40))], deployer(30), false],
  ])('%s: deploys %#', (_, protections, who, may) => expect(mayDeploy(protections, live, who)).toBe(may));
});

describe('entries', () => {
  const stored = [
    { id: 1, ...level(40) },
    { id: 2, ...none, user_id: 7 },
  ];
  test.each([
    [[{ access_level: 30 }], { remove: [], change: [], add: [level(30)] }],
    [[{ access_level: 40 }], { remove: [], change: [], add: [] }],
    [[{ id: 1, _destroy: true }], { remove: [1], change: [], add: [] }],
    [[{ id: 1, _destroy: true }, { access_level: 40 }], { remove: [1], change: [], add: [level(40)] }],
    [[{ id: 1, access_level: 60 }], { remove: [], change: [{ id: 1, ...level(60) }], add: [] }],
    [
      [{ id: 2, group_inheritance_type: 1 }],
      { remove: [], change: [{ id: 2, ...none, user_id: 7, group_inheritance_type: 1 }], add: [] },
    ],
    [[{ user_id: 9 }, { user_id: 9 }], { remove: [], change: [], add: [{ ...none, user_id: 9 }] }],
  ])('by %j', (requested, changes) => expect(changesOf(stored, requested)).toEqual(changes));

  test.each([
    [[{}]],
    [[{ access_level: 40, user_id: 7 }]],
    [[{ id: 3, access_level: 40 }]],
    [[{ _destroy: true }]],
    [
      [
        { id: 1, _destroy: true },
        { id: 2, _destroy: true },
      ],
    ],
  ])('are none by %j', (requested) => expect(() => changesOf(stored, requested)).toThrow(BadAccess));
});
