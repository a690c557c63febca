/** Makes the commits of a merge, by the project's method, without moving a branch (facts: Methods and results). */
import { isAncestor, mergeCommits } from '../../../platform/git/merging/merge.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { commitObject, type NewObject, readable, type Signature } from '../../../platform/git/parse.ts';
import { peelToCommit } from '../../../platform/git/refs.ts';
import type { Heads } from '../versions/read-version.ts';

export type MergePlan = {
  method: 'merge' | 'rebase_merge' | 'ff';
  heads: Heads;
  /** The merge base: the parent of a squash commit. */
  base: string;
  /** Null without squashing. One commit needs none, unless a message was given. */
  squash: { message: string; author: Signature; isNeeded: boolean } | null;
  /** Of the merge commit. */
  message: string;
  merger: Signature;
};

export type BuiltMerge = {
  result: 'built';
  /** Still to be stored; their trees are. */
  objects: NewObject[];
  /** What the target branch will be. */
  head: string;
  mergeCommit: string | null;
  squashCommit: string | null;
};

/** `behind`: the method wants a source that has all of the target. */
export type BuildResult = BuiltMerge | { result: 'conflict' } | { result: 'behind' };

export async function buildMerge(git: GitFolder, plan: MergePlan): Promise<BuildResult> {
  const { method, heads, base, squash } = plan;
  if (method !== 'merge' && !(await isAncestor(git, heads.target, heads.source))) return { result: 'behind' };
  const objects: NewObject[] = [];
  let source = heads.source;
  if (squash?.isNeeded) {
    const tree = (await peelToCommit(git, heads.source))?.tree ?? '';
    const { message, author } = squash;
    const commit = readable(commitObject({ tree, parents: [base], author, committer: plan.merger, message }));
    objects.push(commit);
    source = commit.oid;
  }
  const squashCommit = squash ? source : null;
  if (method === 'ff') return { result: 'built', objects, head: source, mergeCommit: null, squashCommit };
  const merged = await mergeCommits(git, { ours: heads.target, theirs: source }, objects);
  if (merged.result !== 'clean') return { result: 'conflict' };
  const { merger, message } = plan;
  const commit = readable(
    commitObject({
      tree: merged.tree,
      parents: [heads.target, source],
      author: merger,
      committer: merger,
      message,
    }),
  );
  return {
    result: 'built',
    objects: [...objects, commit],
    head: commit.oid,
    mergeCommit: commit.oid,
    squashCommit,
  };
}
