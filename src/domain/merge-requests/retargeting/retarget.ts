/**
 * A branch that was merged and is gone has left the merge requests into it without a target: they get that of the merged one
 * (facts: Pushes and updates).
 */
import type { Needs } from '../../../kernel/services.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { Failure } from '../../../platform/failure.ts';
import { NO_OBJECT, shortRef } from '../../../platform/git/names.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import type { Task } from '../../../platform/jobs/jobs.ts';
import type { Listener } from '../../../platform/outbox/outbox.ts';
import { closingFor } from '../closing/closing-issues.ts';
import { type Acting, actingFor } from '../following/acting-queries.ts';
import { openVersion } from '../opening/branches.ts';
import { refuseTwins } from '../opening/twins.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { releaseVersion, writeSourceRef } from '../versions/set-refs.ts';
import { type Pushed, RETARGET } from '../writing/following-jobs.ts';
import { writeUpdate } from '../writing/update-actions.ts';
import { selectInto, selectMergedFrom } from './queries.ts';

export type RetargetServices = Needs<'database' | 'repositories' | 'baseUrl'>;

const MAX_RETARGETED = 4;

/** What a caller would have named beside the target. */
const nothingNamed = {
  labels: undefined,
  addLabels: [],
  removeLabels: [],
  lacksLabels: false,
  milestone: undefined,
  assignees: undefined,
  reviewers: undefined,
};

async function retarget(
  services: RetargetServices,
  { actor, project }: Acting,
  { id, iid, source_project_id: sourceProjectId, source_branch: sourceBranch }: MergeRequestRow,
  targetBranch: string,
): Promise<void> {
  const { db } = services.database;
  const branches = { sourceProjectId, sourceBranch, target: project, targetBranch };
  const opened = await openVersion(services, branches);
  const update = {
    requested: { target_branch: targetBranch },
    named: nothingNamed,
    mentioned: [],
    opened,
    findClosing: closingFor(services, actor, project, opened.messages),
    isTargetDeleted: true,
  };
  await refuseTwins(db, branches, () =>
    inTransaction(db, (tx) => writeUpdate({ actor }, tx, project, id, update)),
  ).catch(async (error) => {
    await releaseVersion(services, project, { sourceProjectId, head: opened.version.head });
    throw error;
  });
  await writeSourceRef(services, project, { iid, head_sha: opened.version.head });
}

/**
 * Those into the branch, which had this head, the oldest of them. One stays as it is whose source is the new target, or that
 * is open already between the two. One that is being merged follows its branches when it is not.
 */
async function retargetAll(
  services: RetargetServices,
  pushed: Pushed,
  branch: string,
  head: string,
): Promise<void> {
  const { db } = services.database;
  const { project_id: projectId } = pushed;
  const merged = await selectMergedFrom(db, projectId, branch, head);
  if (!merged) return;
  const { target_branch: target } = merged;
  for (const row of await selectInto(db, projectId, branch, MAX_RETARGETED)) {
    if (row.source_project_id === projectId && row.source_branch === target) continue;
    const acting = await actingFor(services, pushed, row);
    if (!acting) continue;
    try {
      await retarget(services, acting, row, target);
    } catch (error) {
      if (!(error instanceof Failure) || error.kind === 'unavailable') throw error;
    }
  }
}

/** Branches that one push deletes and that are looked at. */
const MAX_BRANCHES = 100;

/** The branches that a push deletes, with the heads that they had. */
const deletedBranches = (updates: readonly RefUpdate[]): { branch: string; head: string }[] =>
  updates.flatMap(({ ref, before, after }) => {
    const short = shortRef(ref);
    return short?.kind === 'branch' && after === NO_OBJECT ? [{ branch: short.name, head: before }] : [];
  });

export const retargetListener: Listener = {
  fact: 'repository_pushed',
  task: RETARGET,
  when: (payload: Readonly<Record<string, Json>>) =>
    deletedBranches((payload as unknown as Pushed).updates).length > 0,
};

/** In the name of who deleted the branch; of a deploy key or token, of the author. */
export const retargetAfterPush =
  (services: RetargetServices): Task =>
  async (payload) => {
    const pushed = payload as unknown as Pushed;
    for (const { branch, head } of deletedBranches(pushed.updates).slice(0, MAX_BRANCHES))
      await retargetAll(services, pushed, branch, head);
  };
