/** Owners as a file names them, in the columns of a rule. Pure. */
import type { CodeOwner } from './code-owners.ts';

export type NamedOwners = {
  /** Paths of users and groups, in lower case. */
  owner_names: string[];
  /** In lower case. */
  owner_emails: string[];
  /** Roles of direct members of the project. */
  owner_roles: number[];
};

export function namedOwners(owners: readonly CodeOwner[]): NamedOwners {
  const distinct = <T>(of: (owner: CodeOwner) => T[]): T[] => [...new Set(owners.flatMap(of))];
  return {
    owner_names: distinct((owner) => (owner.kind === 'path' ? [owner.path.toLowerCase()] : [])),
    owner_emails: distinct((owner) => (owner.kind === 'email' ? [owner.email.toLowerCase()] : [])),
    owner_roles: distinct((owner) => (owner.kind === 'role' ? [owner.role] : [])),
  };
}
