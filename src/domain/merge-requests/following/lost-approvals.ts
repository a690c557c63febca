/** The approvals that a merge request loses by a new version, as its project wants it (facts: merge requests §3.2). */
import type { Needs } from '../../../kernel/services.ts';
import { patchIdOf } from '../../../platform/git/history/patch-id.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { approvalsLostByPush } from '../approvals/approval-resets.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import type { NewVersion } from '../versions/read-version.ts';
import { selectApproved } from './queries.ts';

/**
 * All, or those of these users. One who approves what was there before while this is decided is not known here: where pushes
 * remove approvals, `all` has that one, too.
 */
export async function lostApprovals(
  { database, config, settings }: Needs<'database' | 'config' | 'settings'>,
  git: GitFolder,
  row: MergeRequestRow,
  { base, head }: NewVersion,
): Promise<'all' | number[]> {
  if (config.tier === 'free') return [];
  const { loaded, version } = await selectApproved(database.db, await settings.read(), row);
  const { approvedBy } = loaded.of;
  const isReset = !loaded.settings.retain_approvals_on_push;
  if (approvedBy.length === 0 || !version) return isReset ? 'all' : [];
  const ids = await Promise.all([version, { from: base, to: head }].map((ends) => patchIdOf(git, ends)));
  // What is too large to tell, or nothing, may be anything.
  const isPatchChanged = ids[0] === undefined || ids[0] !== ids[1];
  const lost = approvalsLostByPush(approvedBy, loaded.settings, {
    isPatchChanged,
    ownersOfChanged: new Set(),
  });
  return isReset && isPatchChanged ? 'all' : lost;
}
