/** Reconciles merges that a dead process left: what the target branch has says whether they were made. */
import type { Needs } from '../../../kernel/services.ts';
import { isAncestor } from '../../../platform/git/merging/merge.ts';
import { fullRef, NO_OBJECT } from '../../../platform/git/names.ts';
import { findBranch, peelToCommit } from '../../../platform/git/refs.ts';
import { projectRepository, recordPush } from '../../repositories/index.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { type Merging, recordMerged, selectInterrupted, unclaimMerge } from '../writing/merge-actions.ts';
import { findActing } from './acting-queries.ts';

export type ReconcileServices = Needs<'database' | 'settings' | 'repositories' | 'presence' | 'log' | 'wake'>;

async function reconcile(services: ReconcileServices, row: MergeRequestRow): Promise<void> {
  const { db } = services.database;
  const merging = row.merging as unknown as Merging;
  const acting =
    (await findActing(services, row.project_id, merging.userId)) ??
    (await findActing(services, row.project_id, row.author_id));
  if (!acting) return;
  const { project, actor } = acting;
  await services.repositories.write(projectRepository(project.id), row.target_branch, async (git) => {
    const branch = await findBranch(git, row.target_branch);
    const commit = await peelToCommit(git, merging.head);
    const isMade = branch && commit && (await isAncestor(git, merging.head, branch.oid));
    if (!isMade) return unclaimMerge(db, row.id, merging.head);
    const update = {
      ref: fullRef('branch', row.target_branch),
      before: row.judged_target_sha ?? NO_OBJECT,
      after: merging.head,
    };
    await recordPush(services, { id: project.id, empty: false }, actor, git, [update], {
      also: async (tx) => {
        if (!(await recordMerged(tx, actor, project, { ...row, lockedFor: merging.head }, merging)))
          throw new AlreadyRecorded();
      },
    }).catch((error) => {
      if (!(error instanceof AlreadyRecorded)) throw error;
    });
  });
}

/** Another process was faster, or it is deleted: the push is not recorded again. */
class AlreadyRecorded extends Error {}

/** Every one of them; one that cannot be reconciled now is left for the next time, and keeps none of the others waiting. */
export async function reconcileMerges(services: ReconcileServices): Promise<void> {
  for (const row of await selectInterrupted(services.database.background, services.presence.id)) {
    try {
      await reconcile(services, row);
    } catch (error) {
      services.log.error('an interrupted merge could not be reconciled', error, { merge_request_id: row.id });
    }
  }
  services.wake();
}
