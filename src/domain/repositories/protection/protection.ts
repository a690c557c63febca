/** Reads a project's rules of protected branches and tags in one statement, and protects its first branch. */

import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import { NO_OBJECT, shortRef } from '../../../platform/git/names.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import {
  memberGroups,
  type ProtectionSettings,
  type RuleRow,
  rulesOf,
  selectRules,
} from './guard-queries.ts';
import {
  type Asker,
  asksOwners,
  developersMay,
  isOfShared,
  isProtectedBranch,
  isProtectedTag,
  isShared,
  mayForce,
  mayMerge,
  mayPush,
  type ProjectRules,
  refusalOf,
} from './protection-rules.ts';

/** A caller's permissions on the refs of one project. */
export type RefGuard = {
  readonly rules: ProjectRules;
  /** Why the update is refused; undefined when it is not. */
  refusal(update: RefUpdate): string | undefined;
  mayPush(branch: string): boolean;
  mayMerge(branch: string): boolean;
  mayForce(branch: string): boolean;
  /** Whether code owners are asked about what the caller changes in the branch, in tiers that have them. */
  asksOwners(branch: string): boolean;
  isProtected(branch: string): boolean;
  isProtectedTag(tag: string): boolean;
  developersMay(branch: string, action: 'push' | 'merge'): boolean;
};

/**
 * The caller's permissions on the project's refs at present: while there is no branch, other rules apply. `actor` is
 * undefined for a deploy token, which has a role. `shared` are branches of sharedBranches().
 */
export async function guardRefs(
  db: Db,
  project: Pick<AuthorizedProject, 'id' | 'role'>,
  actor: Pick<Actor, 'id' | 'admin'> | undefined,
  settings: ProtectionSettings,
  shared?: ReadonlySet<string>,
): Promise<RefGuard> {
  return guardBy(db, project, actor, await selectRules(db, project.id, settings), shared);
}

/** The same by rows that another statement has read. */
export const guardByRows = (
  db: Db,
  project: Pick<AuthorizedProject, 'role'>,
  actor: Pick<Actor, 'id' | 'admin'> | undefined,
  settings: ProtectionSettings,
  rows: readonly RuleRow[],
): Promise<RefGuard> => guardBy(db, project, actor, rulesOf(rows, settings));

/** Whether the update changes files of a branch whose code owners are asked about them: what it makes or deletes is none. */
export function isOwned(guard: Pick<RefGuard, 'asksOwners'>, { ref, before, after }: RefUpdate): boolean {
  const short = shortRef(ref);
  return (
    short?.kind === 'branch' && before !== NO_OBJECT && after !== NO_OBJECT && guard.asksOwners(short.name)
  );
}

async function guardBy(
  db: Db,
  project: Pick<AuthorizedProject, 'role'>,
  actor: Pick<Actor, 'id' | 'admin'> | undefined,
  rules: ProjectRules,
  shared: ReadonlySet<string> = new Set(),
): Promise<RefGuard> {
  const groups = await memberGroups(db, rules, actor?.id);
  const asker: Asker = { id: actor?.id, role: project.role, admin: actor?.admin ?? false, groups };
  return {
    rules,
    refusal: (update) => (isOfShared(rules, shared, update) ? undefined : refusalOf(rules, asker, update)),
    mayPush: (branch) => mayPush(rules, asker, branch) || isShared(rules, shared, branch),
    mayMerge: (branch) => mayMerge(rules, asker, branch),
    mayForce: (branch) => mayForce(rules, branch),
    asksOwners: (branch) => asksOwners(rules, asker, branch),
    isProtected: (branch) => isProtectedBranch(rules, branch),
    isProtectedTag: (tag) => isProtectedTag(rules, tag),
    developersMay: (branch, action) => developersMay(rules, branch, action),
  };
}
