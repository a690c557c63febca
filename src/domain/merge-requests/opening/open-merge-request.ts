/** Opens merge requests: finds what the request names, reads the first version, and inserts it. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { findMentionTodos, type WriteContext } from '../../conversation/index.ts';
import {
  checkTexts,
  labelsAfter,
  readersNamed,
  resolveNamed,
  withNewLabels,
} from '../../work-items/index.ts';
import { changeRights } from '../changes/change-rights.ts';
import { permitted, type Requested } from '../changes/requested.ts';
import { closingFor } from '../closing/closing-issues.ts';
import { mayShare } from '../collaboration/collaboration.ts';
import { applyEffects } from '../quick-actions/command-effects.ts';
import { withCommands } from '../quick-actions/read-commands.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { newMergeRequestNoteable } from '../records/merge-request-noteable.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { isDraft } from '../texts/draft.ts';
import { squashByDefault } from '../texts/squash.ts';
import { releaseVersion, writeSourceRef } from '../versions/set-refs.ts';
import { type Branches, checkBranches, openVersion } from './branches.ts';
import { insertMergeRequest } from './insert-actions.ts';
import { permittedApprovals } from './requested-approvals.ts';
import { refuseTwins } from './twins.ts';

export type Opening = Branches & { source: AuthorizedProject; title: string; requested: Requested };

/**
 * The merge request from one branch into another, without the properties that the caller may not set. 400 for a wrong title,
 * description, milestone or branch, 409 where the same is open already, 422 for branches of projects that are not forks of
 * each other. The caller was checked to push to the source and to open merge requests in the target.
 */
export async function openMergeRequest(context: WriteContext, opening: Opening): Promise<MergeRequestRow> {
  const { db, services, actor } = context;
  const { source, target } = opening;
  const subject = { ...opening, row: undefined };
  const said = await withCommands(context, target, subject, opening.requested);
  const asked = permitted(said.requested, { ...changeRights(services, target), lock: false });
  const requested = await permittedApprovals(context, target, asked);
  const { description = null, title = opening.title, target_branch = opening.targetBranch } = requested;
  const branches: Branches = { ...opening, targetBranch: target_branch };
  checkTexts({ title, description });
  await checkBranches(db, branches);
  const noteable = newMergeRequestNoteable(target, actor.id);
  const people = (ids: readonly number[] | undefined) => readersNamed(context, noteable, ids ?? []);
  const sourceBranch = { projectId: source.id, branch: opening.sourceBranch };
  const finding = Promise.all([
    requested.allow_collaboration === true && mayShare(context, target, sourceBranch),
    people(requested.assignee_ids),
    people(requested.reviewer_ids),
    resolveNamed(context, target, requested),
    findMentionTodos(db, services.database.points, { actor, target: noteable, text: description }),
  ]);
  // Its rejection is handled where it is awaited below.
  finding.catch(() => {});
  const opened = await openVersion(services, branches);
  const { head } = opened.version;
  const project = projectSettings(target.row);
  const ids = (all: readonly { id: number }[]) => all.map(({ id }) => id);
  const write = async () => {
    const [isShared, assignees, reviewers, named, mentioned] = await finding;
    return inTransaction(db, async (tx) => {
      const { labels, addLabels, removeLabels, milestone } = await withNewLabels(
        tx,
        actor,
        target,
        requested,
        named,
      );
      const inserted = await insertMergeRequest(tx, actor, target, {
        sourceProjectId: source.id,
        sourceBranch: opening.sourceBranch,
        targetBranch: target_branch,
        title,
        description,
        draft: isDraft(title),
        squash: requested.squash ?? squashByDefault(project.squash_option),
        forceRemoveSourceBranch: requested.force_remove_source_branch ?? null,
        allowCollaboration: isShared,
        milestoneId: milestone?.id ?? null,
        mergeAfter: requested.merge_after ?? null,
        approvalsBeforeMerge: requested.approvals_before_merge ?? null,
        timeEstimate: requested.time_estimate ?? 0,
        assigneeIds: ids(assignees),
        reviewerIds: ids(reviewers),
        labelIds: ids(labelsAfter([], { labels, add: addLabels, remove: removeLabels })),
        mentioned,
        ...opened,
        findClosing: closingFor(services, actor, target, opened.messages),
      });
      if (said.effects.length === 0) return inserted;
      await applyEffects({ ...context, db: tx }, target, inserted, said.effects);
      return findMergeRequest(tx, target, inserted.iid);
    });
  };
  const row = await refuseTwins(db, branches, write).catch(async (error) => {
    await releaseVersion(services, target, { sourceProjectId: source.id, head });
    throw error;
  });
  await writeSourceRef(services, target, { iid: row.iid, head_sha: head });
  return row;
}
