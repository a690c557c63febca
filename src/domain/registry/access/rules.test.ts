/** Cases of credentials. */
import { expect, test } from 'vitest';
import { type Credential, toActor } from '../../../kernel/actor.ts';
import type { Visitor } from '../../../kernel/identity/token-visitor.ts';
import { actionsOf, isShutToJob, mayPullProxied } from './rules.ts';

const user = {
  id: 1,
  username: 'mason',
  name: 'Mason',
  kind: 'human',
  admin: false,
  auditor: false,
  external: false,
  email: 'mason@example.com',
  commit_email: null,
} as const;
const by = (credential: Credential): Visitor => ({ caller: toActor(user, credential) });
const token = (...scopes: string[]) => by({ via: 'token', tokenId: 1, kind: 'personal', scopes });
const deployToken = (...scopes: string[]): Visitor => ({
  caller: undefined,
  deployToken: { id: 1, username: 'd', project_id: 1, namespace_id: null, scopes },
});
const everything = ['pull', 'push', 'delete', '*'];

test.each([
  [{ caller: undefined }, ['pull']],
  [token('read_registry'), ['pull']],
  [token('write_registry'), ['push']],
  [token('read_registry', 'write_registry'), ['pull', 'push']],
  [token('api'), everything],
  [token('read_api', 'read_repository', 'write_repository'), []],
  [deployToken('read_registry', 'write_registry'), ['pull', 'push']],
  [deployToken('read_package_registry', 'read_repository'), []],
  [by({ via: 'password' }), everything],
  [by({ via: 'job', tokenId: 1, projectId: 5 }), everything],
])('%j may %j', (visitor, actions) => expect(actionsOf(visitor)).toEqual(actions));

test.each([
  [{ caller: undefined }, false],
  [token('read_registry'), true],
  [token('write_registry'), true],
  [token('read_virtual_registry'), true],
  [token('write_virtual_registry'), true],
  [token('api'), true],
  [token('read_api', 'read_repository', 'write_repository'), false],
  [deployToken('read_registry'), true],
  [deployToken('read_package_registry', 'read_repository'), false],
  [by({ via: 'password' }), true],
  [by({ via: 'job', tokenId: 1, projectId: 5 }), true],
])('%j pulls images of other registries: %s', (visitor, may) => expect(mayPullProxied(visitor)).toBe(may));

test.each([
  ['job', 5, 'delete', false],
  ['job', 6, 'delete', true],
  ['job', 6, '*', true],
  ['job', 6, 'push', false],
  ['password', 6, 'delete', false],
] as const)('by %s in project %i, %s is shut: %s', (via, projectId, action, shut) => {
  const credential: Credential = via === 'job' ? { via, tokenId: 1, projectId: 5 } : { via };
  expect(isShutToJob(by(credential), projectId, action)).toBe(shut);
});
