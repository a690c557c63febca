/** Lists of access entries in requests. */
import { describe, expect, test } from 'vitest';
import type { Grant } from './branch-actions.ts';
import { BadGrant, changeGrants, newGrants, type StoredGrant } from './rules.ts';
import type { GrantInput } from './schema.ts';

describe('a new protection', () => {
  test.each<[string, number | undefined, GrantInput[] | undefined, boolean, Grant[]]>([
    ['is for maintainers', undefined, undefined, true, [{ access_level: 40 }]],
    ['is for maintainers where the list is empty', undefined, [], true, [{ access_level: 40 }]],
    ['takes the level', 0, undefined, true, [{ access_level: 0 }]],
    ['takes the list alone', undefined, [{ user_id: 5 }], true, [{ user_id: 5 }]],
    ['takes both', 30, [{ group_id: 5 }], true, [{ group_id: 5 }, { access_level: 30 }]],
    ['takes the same once', 30, [{ access_level: 30 }, { access_level: 30 }], true, [{ access_level: 30 }]],
    ['knows no people on the lowest tier', undefined, [{ user_id: 5 }], false, [{ access_level: 40 }]],
    [
      'knows deploy keys on the lowest tier',
      undefined,
      [{ deploy_key_id: 5 }],
      false,
      [{ deploy_key_id: 5 }],
    ],
  ])('%s', (_, level, allowed, premium, expected) => {
    expect(newGrants({ level, allowed }, premium)).toEqual(expected);
  });
  test.each<[string, GrantInput]>([
    ['an entry that names nobody', {}],
    ['an entry that names two', { user_id: 1, group_id: 2 }],
  ])('refuses %s', (_, input) => {
    expect(() => newGrants({ allowed: [input] }, true)).toThrow(BadGrant);
  });
});

describe('a change', () => {
  const stored: StoredGrant[] = [
    { id: 1, access_level: 40, user_id: null, group_id: null, deploy_key_id: null },
    { id: 2, access_level: null, user_id: 5, group_id: null, deploy_key_id: null },
  ];
  test.each<[string, GrantInput[], ReturnType<typeof changeGrants>]>([
    ['adds', [{ access_level: 30 }], { remove: [], change: [], add: [{ access_level: 30 }] }],
    ['does not add what is there', [{ user_id: 5 }], { remove: [], change: [], add: [] }],
    ['removes', [{ id: 1, _destroy: true }], { remove: [1], change: [], add: [] }],
    [
      'changes',
      [{ id: 2, group_id: 9 }],
      { remove: [], change: [{ id: 2, grant: { group_id: 9 } }], add: [] },
    ],
    [
      'adds again what it removes',
      [{ id: 1, _destroy: true }, { access_level: 40 }],
      { remove: [1], change: [], add: [{ access_level: 40 }] },
    ],
  ])('%s', (_, requested, expected) => {
    expect(changeGrants(stored, requested, true)).toEqual(expected);
  });
  test.each<[string, GrantInput]>([
    ['an entry of another rule', { id: 3, _destroy: true }],
    ['a removal without an id', { _destroy: true }],
    ['an entry that names nobody', { id: 1 }],
  ])('refuses %s', (_, input) => {
    expect(() => changeGrants(stored, [input], true)).toThrow(BadGrant);
  });
});
