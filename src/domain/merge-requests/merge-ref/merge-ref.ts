/** The commit that merging would make, kept by a ref (facts-merge-requests: 1.1, 1.2). */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import { Failure } from '../../../platform/failure.ts';
import { joinCommits } from '../../../platform/git/merging/join.ts';
import { nobody } from '../../../platform/git/merging/merge.ts';
import { NO_OBJECT } from '../../../platform/git/names.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { findBranch, peelToCommit, readRef } from '../../../platform/git/refs.ts';
import { RefMoved, writeAll } from '../../../platform/git/write.ts';
import { projectRepository, readRepository } from '../../repositories/index.ts';
import { isUpToDate } from '../following/refresh.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { mergeRef } from '../versions/version-refs.ts';

const notMergeable = (): Failure => new Failure('bad_request', 'Merge request is not mergeable');
const notUpdated = (): Failure => new Failure('bad_request', 'Merge ref cannot be updated');

type Ends = { source: Commit; target: Commit };

/** The latest version's head, and the target branch; 400 where one of them is gone. */
async function endsOf(git: GitFolder, row: MergeRequestRow): Promise<Ends> {
  const [source, target] = await Promise.all([
    row.head_sha === null ? undefined : peelToCommit(git, row.head_sha),
    findBranch(git, row.target_branch),
  ]);
  if (!source || !target) throw notMergeable();
  return { source, target };
}

/** Whether these were judged, and do not merge: it stays so. */
const isKnownConflict = (row: MergeRequestRow, { source, target }: Ends): boolean =>
  row.merge_status === 'cannot_be_merged' && isUpToDate(row, { source: source.oid, target: target.oid });

/** The commit of the ref, where it merges these. */
async function findMade(git: GitFolder, iid: number, { source, target }: Ends): Promise<string | undefined> {
  const made = await peelToCommit(git, mergeRef(iid));
  return made?.parents.join() === `${target.oid},${source.oid}` ? made.oid : undefined;
}

/** Made of its parents alone: whoever asks, and however many at once, it is the same. */
function textOf({ source, target }: Ends) {
  const signature = { ...nobody, time: Math.max(source.committer.time, target.committer.time) };
  return { author: signature, committer: signature, message: `Merge ${source.oid} into ${target.oid}` };
}

/** Merges, and points the ref to that; 400 for a conflict. */
async function make(git: GitFolder, iid: number, ends: Ends): Promise<string> {
  const { source, target } = ends;
  const joined = await joinCommits(git, { source: source.oid, target: target.oid, merge: textOf(ends) });
  if (joined.result !== 'joined') throw notMergeable();
  const { head } = joined;
  const ref = mergeRef(iid);
  try {
    await writeAll(git, [], [{ ref, before: (await readRef(git, ref)) ?? NO_OBJECT, after: head }]);
  } catch (error) {
    if (!(error instanceof RefMoved)) throw error;
    if ((await readRef(git, ref)) !== head) throw notUpdated();
  }
  return head;
}

/** The id of the commit that merges the two branches as they are; 400 where git does not merge them. */
export async function updateMergeRef(
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  row: MergeRequestRow,
): Promise<string> {
  if (row.state !== 'opened' || row.commits_count === 0) throw notMergeable();
  const made = await readRepository(services, project, async (git) => {
    const ends = await endsOf(git, row);
    if (isKnownConflict(row, ends)) throw notMergeable();
    return findMade(git, row.iid, ends);
  });
  if (made !== undefined) return made;
  const key = projectRepository(project.id);
  return services.repositories.write(key, project.row.default_branch ?? 'main', async (git) =>
    make(git, row.iid, await endsOf(git, row)),
  );
}
