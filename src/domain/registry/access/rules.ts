/** What the credential of a program allows in the registry, whatever its owner may (facts-packages: 2.2). Pure. */
import type { Visitor } from '../../../kernel/identity/token-visitor.ts';
import type { ProjectAbility } from '../../../kernel/policy/policy.ts';
import type { Action } from '../names/rules.ts';

export const SERVICE = 'container_registry';
/** Its tokens open images of other registries, and no others. */
export const PROXY_SERVICE = 'dependency_proxy';
export const tokenServices = [SERVICE, PROXY_SERVICE] as const;
export type TokenService = (typeof tokenServices)[number];
/** The ability on a project that each action on its images needs. */
export const abilityOf = {
  pull: 'read_container_images',
  push: 'push_container_images',
  delete: 'delete_container_images',
  '*': 'delete_container_images',
} as const satisfies Record<Action, ProjectAbility>;

const everything: readonly Action[] = ['pull', 'push', 'delete', '*'];

function ofScopes(scopes: readonly string[]): Action[] {
  const actions: Action[] = [];
  if (scopes.includes('read_registry')) actions.push('pull');
  if (scopes.includes('write_registry')) actions.push('push');
  return actions;
}

/** The actions of the credential; none for one that is of no use here. Who has none may pull what is public. */
export function actionsOf({ caller, deployToken }: Visitor): readonly Action[] {
  if (deployToken) return ofScopes(deployToken.scopes);
  if (!caller) return ['pull'];
  const { credential } = caller;
  if (credential.via !== 'token') return everything;
  return credential.scopes.includes('api') ? everything : ofScopes(credential.scopes);
}

const pullsProxied: readonly string[] = [
  ...['api', 'read_registry', 'write_registry'],
  ...['read_virtual_registry', 'write_virtual_registry'],
];

/** Whether the credential pulls images of other registries; anonymous callers never do. */
export function mayPullProxied({ caller, deployToken }: Visitor): boolean {
  if (deployToken) return deployToken.scopes.some((scope) => pullsProxied.includes(scope));
  if (!caller) return false;
  const { credential } = caller;
  return credential.via !== 'token' || credential.scopes.some((scope) => pullsProxied.includes(scope));
}

/** A job deletes images of its own project alone. */
export const isShutToJob = ({ caller }: Visitor, projectId: number, action: Action): boolean =>
  caller?.credential.via === 'job' &&
  caller.credential.projectId !== projectId &&
  (action === 'delete' || action === '*');
