/** Judges the open merge requests into a branch after a push to it (facts: On a branch push). */
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import type { Needs } from '../../../kernel/services.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { containing } from '../../../platform/git/history/heads.ts';
import { judgeMerges, type Judgement as Merge } from '../../../platform/git/merging/judge.ts';
import type { Pair } from '../../../platform/git/merging/merge-tree.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { findBranch } from '../../../platform/git/refs.ts';
import { addJobs, type Task } from '../../../platform/jobs/jobs.ts';
import { projectRepository } from '../../repositories/index.ts';
import { judgedOwners } from '../code-owners/judged-owners.ts';
import { targetOwners } from '../code-owners/owner-rules.ts';
import { mergeRequestNotes } from '../note-texts/system-notes.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { type Judgement, mayContain } from '../versions/judge.ts';
import { endAutoMerge } from '../writing/auto-merge-actions.ts';
import { type Judged, writeJudgement, writeJudgements, writeUnmergeable } from '../writing/follow-actions.ts';
import { unmergeableJob } from '../writing/following-jobs.ts';
import { actingFor, findActing } from './acting-queries.ts';
import { selectBehind, selectUnjudged } from './queries.ts';

type JudgeServices = Needs<'database' | 'repositories'>;

const JUDGED_AT_ONCE = 50;

/** Judges the open merge requests into a branch, many by one run of git; pushes of the same moment are judged once. */
export const judgeBranch =
  (services: JudgeServices): Task =>
  async (payload) => {
    const { project_id, branch, user_id } = payload as {
      project_id: number;
      branch: string;
      user_id: number | null;
    };
    const { background } = services.database;
    for (let after = 0; ; ) {
      const rows = await selectUnjudged(background, project_id, branch, after, JUDGED_AT_ONCE);
      const [first] = rows;
      if (!first) break;
      after = rows.at(-1)?.id ?? after;
      const acting = await findActing(services, project_id, first.author_id);
      if (!acting) continue;
      const { row: home } = acting.project;
      await services.repositories.read(projectRepository(project_id), home.repository_storage, (git) =>
        judgeInto(services, git, branch, rows),
      );
    }
    await abortBehind(services, { project_id, branch, user_id });
  };

async function judgeInto(
  { database: { db } }: JudgeServices,
  git: GitFolder,
  branch: string,
  rows: readonly MergeRequestRow[],
): Promise<void> {
  const target = (await findBranch(git, branch))?.oid;
  if (target === undefined) {
    for (const row of rows) await writeUnmergeable(db, row);
    return;
  }
  const owners = await targetOwners(git, target);
  const alike: Judged[] = [];
  const write = async (row: MergeRequestRow, judgement: Judgement): Promise<void> => {
    const judgedBy = await judgedOwners(db, owners, row);
    if (judgedBy.rules === undefined) alike.push({ row, judgement });
    else await writeJudgement(db, row, { source: row.head_sha ?? '', target }, judgement, judgedBy);
  };
  const mergeable = rows.filter((row) => row.commits_count > 0);
  const pairs = mergeable.map((row) => ({ ours: target, theirs: row.head_sha ?? '' }));
  const merges: Merge[] = [];
  for await (const merged of judgeMerges(git.folder, pairs)) merges.push(merged);
  const ahead = await containing(git, target, await mayBeAhead(git, pairs, merges));
  for (const [place, row] of mergeable.entries()) {
    const mergeStatus = merges[place]?.result === 'clean' ? 'can_be_merged' : 'cannot_be_merged';
    await write(row, { mergeStatus, isBehind: !ahead.has(row.head_sha ?? '') });
  }
  for (const row of rows)
    if (row.commits_count === 0) await write(row, { mergeStatus: 'cannot_be_merged', isBehind: false });
  await writeJudgements(db, alike, target, owners.sha);
}

/** Those of the merged that may have all of what they were merged into. */
async function mayBeAhead(
  git: GitFolder,
  pairs: readonly Pair[],
  merges: readonly Merge[],
): Promise<string[]> {
  const found: string[] = [];
  for (const [place, merged] of merges.entries()) {
    const { theirs } = pairs[place] ?? { theirs: '' };
    if (await mayContain(git, theirs, merged)) found.push(theirs);
  }
  return found;
}

/** Where a branch is only moved forward, an automatic merge does not wait for a rebase: nobody but a person does that. */
async function abortBehind(
  services: JudgeServices,
  { project_id, branch, user_id }: { project_id: number; branch: string; user_id: number | null },
): Promise<void> {
  const { db, background } = services.database;
  for (const row of await selectBehind(background, project_id, branch)) {
    const acting = await actingFor(services, { user_id }, row);
    if (!acting || projectSettings(acting.project.row).merge_method === 'merge') continue;
    const { actor, project } = acting;
    const note = mergeRequestNotes.autoMergeAborted('target_updated');
    await inTransaction(db, async (tx) => {
      await endAutoMerge(tx, actor, project, row.id, note);
      await addJobs(tx, [unmergeableJob(row)]);
    });
  }
}
