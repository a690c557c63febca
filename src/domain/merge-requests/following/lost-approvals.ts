/** The approvals that a merge request loses by a new version, as its project wants it (facts: merge requests §3.2). */
import type { Needs } from '../../../kernel/services.ts';
import { changedFiles } from '../../../platform/git/history/changed-files.ts';
import type { DiffEnds } from '../../../platform/git/history/diff-runs.ts';
import { patchIdOf } from '../../../platform/git/history/patch-id.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { approvalsLostByPush } from '../approvals/approval-resets.ts';
import { type OwnerRule, targetOwners } from '../code-owners/owner-rules.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import type { NewVersion } from '../versions/read-version.ts';
import type { LostApprovals } from '../writing/approval-actions.ts';
import { selectApproved } from './queries.ts';

/**
 * Who approves what was there before while this is decided is not known here: what is returned says whose approvals go, and
 * not which are there.
 */
export async function lostApprovals(
  { database, config, settings }: Needs<'database' | 'config' | 'settings'>,
  git: GitFolder,
  row: MergeRequestRow,
  { base, start, head }: NewVersion,
): Promise<LostApprovals> {
  if (config.tier === 'free') return [];
  const { loaded, version } = await selectApproved(database.db, await settings.read(), row);
  const ifChanged = approvalsLostByPush(loaded.settings, true);
  if (ifChanged === 'none') return [];
  if (!version || (ifChanged === 'all' && loaded.of.approvedBy.length === 0)) return 'all';
  const ends = { from: base, to: head };
  const ids = await Promise.all([version, ends].map((each) => patchIdOf(git, each)));
  // What is too large to tell, or nothing, may be anything.
  const isPatchChanged = ids[0] === undefined || ids[0] !== ids[1];
  const lost = approvalsLostByPush(loaded.settings, isPatchChanged);
  if (lost !== 'owners') return lost === 'all' ? 'all' : [];
  const rules = await rulesOfChanged(git, start, version, ends);
  return rules ? { ownersOf: rules, projectId: row.project_id } : 'all';
}

/** The rules of the files that the versions do not change alike; undefined where that is too much to tell. */
async function rulesOfChanged(
  git: GitFolder,
  target: string,
  before: DiffEnds,
  after: DiffEnds,
): Promise<OwnerRule[] | undefined> {
  const { rulesOfPaths } = await targetOwners(git, target);
  const [old, made] = [await changedFiles(git, before), await changedFiles(git, after)];
  if (!old.isComplete || !made.isComplete) return undefined;
  const paths = [...new Set([...old.files.keys(), ...made.files.keys()])];
  const rules = await rulesOfPaths(paths.filter((path) => old.files.get(path) !== made.files.get(path)));
  return rules.some(({ section }) => section === null) ? undefined : rules;
}
