/** Brings a merge request up to what its branches are: a new version, and whether they merge. */
import type { Needs } from '../../../kernel/services.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { projectRepository } from '../../repositories/index.ts';
import { closingForAuthor } from '../closing/closing-issues.ts';
import { readMessages } from '../closing/messages.ts';
import { judgedOwners } from '../code-owners/judged-owners.ts';
import { ownersOfVersion, targetOwners } from '../code-owners/owner-rules.ts';
import { selectMergeRequest } from '../records/find-queries.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { judge, type TryMerge } from '../versions/judge.ts';
import { presentHeads, type TargetProject } from '../versions/present-heads.ts';
import { type Heads, readVersion } from '../versions/read-version.ts';
import { setSourceRef } from '../versions/set-refs.ts';
import { writeFollowedVersion, writeJudgement, writeUnmergeable } from '../writing/follow-actions.ts';
import { lostApprovals } from './lost-approvals.ts';
import { selectStart } from './queries.ts';

type RefreshServices = Needs<'config' | 'database' | 'settings' | 'repositories' | 'baseUrl'>;

/** Whether the row tells of these heads. */
export const isUpToDate = (row: MergeRequestRow, heads: Heads): boolean =>
  row.judged_source_sha === heads.source &&
  row.judged_target_sha === heads.target &&
  (row.merge_status === 'can_be_merged' || row.merge_status === 'cannot_be_merged');

/**
 * The row with the heads that the repository has now: one without one of its branches cannot be merged. As it was where it is not
 * open. `merge` tries the merge where only the target has moved.
 */
export async function refreshHeld(
  services: RefreshServices,
  git: GitFolder,
  row: MergeRequestRow,
  merge?: TryMerge,
): Promise<MergeRequestRow> {
  if (row.state !== 'opened') return row;
  const heads = await presentHeads(services, git, row);
  const { db } = services.database;
  if (!heads) return (await writeUnmergeable(db, row)) ?? row;
  if (isUpToDate(row, heads)) return row;
  if (heads.source === row.head_sha) {
    const judgement = await judge(git, heads, { hasCommits: row.commits_count > 0 }, merge);
    const owners = await judgedOwners(db, await targetOwners(git, heads.target), row);
    return (await writeJudgement(db, row, heads, judgement, owners)) ?? row;
  }
  const followed = await makeVersion(services, git, row, heads);
  await pointSourceRef(services, git, row);
  if (followed) return followed;
  // Another request was faster, and may have seen an older head.
  const present = await selectMergeRequest(db, row.id);
  return present ? refreshHeld(services, git, present, merge) : row;
}

/** The version of these heads; undefined where another request was faster. Only what is pushed to the source takes approvals. */
async function makeVersion(
  services: RefreshServices,
  git: GitFolder,
  row: MergeRequestRow,
  heads: Heads,
): Promise<MergeRequestRow | undefined> {
  const version = await readVersion(git, heads);
  const judgement = await judge(git, heads, {
    hasCommits: version.commits.length > 0,
    isBehind: version.isBehind,
  });
  const owners = await ownersOfVersion(git, version);
  const messages = await readMessages(git, version.commits);
  const findClosing = await closingForAuthor(services, row, messages);
  const opened = { version, judgement, owners, messages };
  const lost = heads.source === row.head_sha ? [] : await lostApprovals(services, git, row, version);
  return inTransaction(services.database.db, (tx) =>
    writeFollowedVersion(tx, row, opened, findClosing, lost),
  );
}

const pointSourceRef = ({ database }: RefreshServices, git: GitFolder, { id, iid }: MergeRequestRow) =>
  setSourceRef(git, iid, async () => (await selectMergeRequest(database.db, id))?.head_sha ?? null);

/** The same, with the repository held for writing. */
export const refresh = (
  services: RefreshServices,
  project: TargetProject,
  row: MergeRequestRow,
): Promise<MergeRequestRow> =>
  services.repositories.write(projectRepository(project.id), project.row.default_branch ?? 'main', (git) =>
    refreshHeld(services, git, row),
  );

/**
 * The same where the target branch was rewritten, or has commits of the merge request now: these have left it, and it gets a
 * version that begins at what the target is. Whether it got one.
 */
export const beginAnew = (
  services: RefreshServices,
  project: TargetProject,
  row: MergeRequestRow,
): Promise<boolean> =>
  services.repositories.write(
    projectRepository(project.id),
    project.row.default_branch ?? 'main',
    async (git) => {
      const fresh = await refreshHeld(services, git, row);
      const heads = fresh.state === 'opened' ? await presentHeads(services, git, fresh) : undefined;
      if (!heads || (await selectStart(services.database.db, fresh)) === heads.target) return false;
      return (await makeVersion(services, git, fresh, heads)) !== undefined;
    },
  );

/** The same after a push; a source ref that a dead process did not set is set. */
export const refreshAfterPush = (
  services: RefreshServices,
  project: TargetProject,
  row: MergeRequestRow,
): Promise<MergeRequestRow> =>
  services.repositories.write(
    projectRepository(project.id),
    project.row.default_branch ?? 'main',
    async (git) => {
      const fresh = await refreshHeld(services, git, row);
      await pointSourceRef(services, git, fresh);
      return fresh;
    },
  );
