/** Creating, deleting and protecting branches. */

import { announce } from '../../../kernel/activity/announce-actions.ts';
import { DEVELOPER, MAINTAINER } from '../../../kernel/policy/roles.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { Failure, forbidden, notFound } from '../../../platform/failure.ts';
import { fullRef, isRefName, NO_OBJECT } from '../../../platform/git/names.ts';
import { findBranch, findCommit } from '../../../platform/git/refs.ts';
import { removeBranchProtection, upsertBranchProtection } from '../protection/branch-actions.ts';
import { selectRules } from '../protection/guard-queries.ts';
import type { RefGuard } from '../protection/protection.ts';
import { draftFirstCommit, writeProject } from '../pushes/project-writes.ts';
import type { CommitContext } from '../write-commits/actions.ts';
import { BAD_BRANCH, refused } from '../write-commits/rules.ts';
import { allMergedBranches } from './branch-queries.ts';
import { committedAt } from './present.ts';

/**
 * Creates a branch at what `ref` names, in an empty repository after the default branch; 400 in the public API's words.
 * Returns the caller's permissions, where the branch does not change them.
 */
export const createBranch = (
  { services, settings, actor, subject }: CommitContext,
  wish: { branch: string; ref: string },
): Promise<RefGuard | undefined> =>
  writeProject(services, settings, actor, subject, async (git, guard) => {
    const { branch, ref } = wish;
    if (!isRefName(branch)) throw refused(BAD_BRANCH);
    if (await findBranch(git, branch)) throw refused('Branch already exists');
    const readme = { text: '', message: 'Add README.md' };
    const first = guard.rules.first
      ? await draftFirstCommit(settings, actor, subject, git, readme)
      : undefined;
    if (first?.branch === branch) return { ...first, value: undefined };
    const start = first && ['HEAD', first.branch, fullRef('branch', first.branch)].includes(ref);
    const commit = start ? first.value : await findCommit(git, ref);
    if (!commit) throw refused(`Invalid reference name: ${ref}`);
    const update = { ref: fullRef('branch', branch), before: NO_OBJECT, after: commit.oid };
    return {
      objects: first?.objects ?? [],
      updates: [...(first?.updates ?? []), update],
      value: first ? undefined : guard,
      isFirst: first !== undefined,
    };
  });

type Unmodified = (updatedAt: Date) => void;

/** Deletes a branch; 404 without it, 403 for the default branch, and for a protected one unless by a maintainer. */
export const deleteBranch = (
  { services, settings, actor, subject }: CommitContext,
  branch: string,
  unmodified: Unmodified,
): Promise<void> =>
  writeProject(services, settings, actor, subject, async (git) => {
    const head = await findBranch(git, branch);
    if (!head) throw notFound('Branch');
    unmodified(committedAt(head));
    if (branch === subject.row.default_branch)
      throw new Failure('forbidden', 'The default branch of a project cannot be deleted.');
    const update = { ref: fullRef('branch', branch), before: head.oid, after: NO_OBJECT };
    return { objects: [], updates: [update], value: undefined };
  });

/** Deletes every branch that is merged into the default branch, but for protected ones. */
export const deleteMergedBranches = (
  { services, settings, actor, subject }: CommitContext,
  unmodified: Unmodified,
): Promise<void> =>
  writeProject(services, settings, actor, subject, async (git, guard) => {
    const main = subject.row.default_branch;
    const head = main === null ? undefined : await findBranch(git, main);
    if (!head) return { objects: [], updates: [], value: undefined };
    unmodified(committedAt(head));
    const merged = await allMergedBranches(git, head.oid);
    const updates = merged
      .filter(({ name }) => name !== main && !guard.isProtected(name))
      .map(({ name, oid }) => ({ ref: fullRef('branch', name), before: oid, after: NO_OBJECT }));
    return { objects: [], updates, value: undefined };
  });

const protectionAudit = ({ subject }: CommitContext, event: string, branch: string) => ({
  entity: { type: 'Project' as const, id: subject.id, path: subject.fullPath },
  event,
  details: { target_type: 'ProtectedBranch', target_details: branch },
});

export type DevelopersMay = { push: boolean | undefined; merge: boolean | undefined };

/** A rule that restricts unprotecting is changed through the protected branches alone. */
async function refuseGuarded(
  tx: Db,
  { services, actor, subject }: CommitContext,
  branch: string,
): Promise<void> {
  if (actor.admin || services.config.tier === 'free') return;
  const guarded = await tx
    .selectFrom('protected_branches')
    .innerJoin('protected_ref_access', 'protected_ref_access.protected_branch_id', 'protected_branches.id')
    .select('protected_branches.id')
    .where('project_id', '=', subject.id)
    .where('name', '=', branch)
    .where('action', '=', 'unprotect')
    .executeTakeFirst();
  if (guarded) throw forbidden();
}

/**
 * Protects a branch; an omitted option for developers stays, and is no for a branch that was not protected.
 */
export async function protectBranch(
  context: CommitContext,
  branch: string,
  developers: DevelopersMay,
): Promise<void> {
  const { services, settings, actor, subject } = context;
  await inTransaction(services.database.db, async (tx) => {
    await refuseGuarded(tx, context, branch);
    const rules = await selectRules(tx, subject.id, settings);
    const known = rules.branches.find(({ name }) => name === branch);
    const allowed = (action: 'push' | 'merge') => {
      const wish = developers[action];
      if (wish === undefined && known) return known[action];
      return [{ access_level: wish ? DEVELOPER : MAINTAINER }];
    };
    const draft = {
      push: allowed('push'),
      merge: allowed('merge'),
      allowForcePush: known?.allow_force_push ?? false,
    };
    const isNew = await upsertBranchProtection(tx, subject.id, branch, draft);
    const event = isNew ? 'protected_branch_created' : 'protected_branch_updated';
    await announce(tx, { author: actor, audit: protectionAudit(context, event, branch) });
  });
}

/** Ends the protection that has exactly the branch's name, where there is one. */
export async function unprotectBranch(context: CommitContext, branch: string): Promise<void> {
  const { services, actor, subject } = context;
  await inTransaction(services.database.db, async (tx) => {
    await refuseGuarded(tx, context, branch);
    if (!(await removeBranchProtection(tx, subject.id, branch))) return;
    await announce(tx, {
      author: actor,
      audit: protectionAudit(context, 'protected_branch_removed', branch),
    });
  });
}
