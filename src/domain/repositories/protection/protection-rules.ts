/**
 * Protected branches and tags: the rules that match a name, and the permissions that they give. Pure (facts:
 * Roles and visibility).
 */

import type { BranchProtection } from '../../../kernel/policy/branch-protection.ts';
import { DEVELOPER, MAINTAINER } from '../../../kernel/policy/roles.ts';
import { NO_OBJECT, shortRef } from '../../../platform/git/names.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import { fits } from '../../../platform/patterns/wildcard.ts';
import type { PushRule } from '../push-rules/rules.ts';

/** One of the four grantees of a rule. Level 0 grants nothing, 60 only administrators. */
export type Allowed = {
  access_level: number | null;
  user_id: number | null;
  group_id: number | null;
  deploy_key_id: number | null;
};

export type BranchRule = {
  name: string;
  allow_force_push: boolean;
  code_owner_approval_required: boolean;
  push: readonly Allowed[];
  merge: readonly Allowed[];
};
export type TagRule = { name: string; create: readonly Allowed[] };

/** The user under the rules: the role in the project, and the ids that rules may name. */
export type Asker = {
  id: number | undefined;
  role: number;
  admin: boolean;
  /** Groups of which the user is a member. */
  groups: ReadonlySet<number>;
};

const ADMIN = 60;

/** Whether one of the entries admits the user. */
export function isAllowed(entries: readonly Allowed[], asker: Asker): boolean {
  return entries.some(({ access_level: level, user_id, group_id }) => {
    if (level !== null)
      return level === ADMIN ? asker.admin : level > 0 && (asker.admin || asker.role >= level);
    if (asker.role < DEVELOPER && !asker.admin) return false;
    if (user_id !== null) return user_id === asker.id;
    return group_id !== null && asker.groups.has(group_id);
  });
}

export type ProjectRules = {
  branches: readonly BranchRule[];
  tags: readonly TagRule[];
  /** Whether anybody has locked a path: what changes files must not change theirs. */
  hasLocks: boolean;
  /** What commits and names must be like, in tiers that have it. */
  pushRule?: PushRule | undefined;
  /** In MiB, of the project or a group; null where there is none but that of the instance. */
  sizeLimit?: number | null;
  /** The protection that the first branch will have, until there is one. */
  first: BranchProtection | undefined;
};

const branchRules = (rules: ProjectRules, name: string) =>
  rules.branches.filter((rule) => fits(name, rule.name));
const tagRules = (rules: ProjectRules, name: string) => rules.tags.filter((rule) => fits(name, rule.name));

const may = (asker: Asker, role: number): boolean => asker.admin || asker.role >= role;

export const isProtectedBranch = (rules: ProjectRules, name: string): boolean =>
  branchRules(rules, name).length > 0;
export const isProtectedTag = (rules: ProjectRules, name: string): boolean =>
  tagRules(rules, name).length > 0;

/** Whether the user may push to the branch; of several rules that match it, the most generous counts. */
export function mayPush(rules: ProjectRules, asker: Asker, name: string): boolean {
  if (!may(asker, DEVELOPER)) return false;
  const met = branchRules(rules, name);
  // The first branch's protection, unless a rule matches it already.
  if (rules.first && met.length === 0) {
    const { allowed_to_push, developer_can_initial_push } = rules.first;
    return (
      may(asker, MAINTAINER) ||
      developer_can_initial_push ||
      allowed_to_push.some((each) => each.access_level === DEVELOPER)
    );
  }
  return met.length === 0 || met.some((rule) => isAllowed(rule.push, asker));
}

/** Whether the user may merge into the branch. */
export function mayMerge(rules: ProjectRules, asker: Asker, name: string): boolean {
  if (!may(asker, DEVELOPER)) return false;
  const met = branchRules(rules, name);
  return met.length === 0 || met.some((rule) => isAllowed(rule.merge, asker) || isAllowed(rule.push, asker));
}

/** Whether the branch is one of those that others may push to: never a protected one. */
export const isShared = (rules: ProjectRules, shared: ReadonlySet<string>, name: string): boolean =>
  shared.has(name) && !isProtectedBranch(rules, name);

/** Whether the update moves such a branch, which it neither makes nor deletes. */
export function isOfShared(
  rules: ProjectRules,
  shared: ReadonlySet<string>,
  { ref, before, after }: RefUpdate,
): boolean {
  const short = shortRef(ref);
  return (
    short?.kind === 'branch' &&
    before !== NO_OBJECT &&
    after !== NO_OBJECT &&
    isShared(rules, shared, short.name)
  );
}

/** Whether code owners are asked about what the user changes in the branch: not those whom a rule names, however they may push. */
export function asksOwners(rules: ProjectRules, asker: Asker, name: string): boolean {
  const met = branchRules(rules, name);
  const named = met.flatMap(({ push }) =>
    push.filter((each) => each.user_id !== null || each.group_id !== null),
  );
  return met.some((rule) => rule.code_owner_approval_required) && !isAllowed(named, asker);
}

/** Whether users who may push to the branch may also force-push. */
export function mayForce(rules: ProjectRules, name: string): boolean {
  const met = branchRules(rules, name);
  return met.length === 0 || met.some((rule) => rule.allow_force_push);
}

/** Whether a rule admits developers by level, as branch records show it (`developers_can_push`). */
export const developersMay = (rules: ProjectRules, name: string, action: 'push' | 'merge'): boolean =>
  branchRules(rules, name).some((rule) => rule[action].some((each) => each.access_level === DEVELOPER));

/** Why git may not delete the ref, while the API lets maintainers: one wrong character in a push deletes. */
export function pushedDeletionRefusal(rules: ProjectRules, { ref, after }: RefUpdate): string | undefined {
  const short = shortRef(ref);
  if (after !== NO_OBJECT || !short) return undefined;
  const guarded = short.kind === 'branch' ? isProtectedBranch : isProtectedTag;
  return guarded(rules, short.name)
    ? `A protected ${short.kind} is not deleted by a push. Delete it through the API, or unprotect it first.`
    : undefined;
}

/**
 * Why the update is refused, in the public API's words; undefined when it is not. Force needs the objects,
 * and is checked elsewhere.
 */
export function refusalOf(rules: ProjectRules, asker: Asker, update: RefUpdate): string | undefined {
  const short = shortRef(update.ref);
  const removed = update.after === NO_OBJECT;
  if (!may(asker, DEVELOPER)) return 'You are not allowed to push code to this project.';
  if (!short) return undefined;
  if (short.kind === 'tag') {
    const met = tagRules(rules, short.name);
    if (met.length === 0) {
      const changed = !removed && update.before !== NO_OBJECT;
      return changed && !may(asker, MAINTAINER)
        ? 'You are not allowed to change existing tags on this project.'
        : undefined;
    }
    if (removed)
      return may(asker, MAINTAINER) && met.some((rule) => isAllowed(rule.create, asker))
        ? undefined
        : 'You are not allowed to delete protected tags from this project. Only a project maintainer or owner can delete a protected tag.';
    if (update.before !== NO_OBJECT) return 'Protected tags cannot be updated.';
    return met.some((rule) => isAllowed(rule.create, asker))
      ? undefined
      : 'You are not allowed to create this tag as it is protected.';
  }
  if (removed) {
    return isProtectedBranch(rules, short.name) && !may(asker, MAINTAINER)
      ? 'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.'
      : undefined;
  }
  if (update.before === NO_OBJECT && !rules.first && isProtectedBranch(rules, short.name)) {
    // Whoever may push to it may merge into it.
    return mayMerge(rules, asker, short.name)
      ? undefined
      : 'You are not allowed to create protected branches on this project.';
  }
  return mayPush(rules, asker, short.name)
    ? undefined
    : 'You are not allowed to push code to protected branches on this project.';
}

/** The refusal of a push that loses commits of a protected branch. */
export const FORCE_REFUSED = 'You are not allowed to force push code to a protected branch on this project.';
