/** What the credential of a program allows in the registry, whatever its owner may (facts-packages: 2.2). Pure. */
import type { Visitor } from '../../../kernel/identity/token-visitor.ts';
import type { ProjectAbility } from '../../../kernel/policy/policy.ts';
import type { Action } from '../names/rules.ts';

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

/** A job deletes images of its own project alone. */
export const isShutToJob = ({ caller }: Visitor, projectId: number, action: Action): boolean =>
  caller?.credential.via === 'job' &&
  caller.credential.projectId !== projectId &&
  (action === 'delete' || action === '*');
