/** The commits that bring one commit into another, by the methods of merging. */
import { mergeBase } from '../history/history.ts';
import type { GitFolder } from '../objects.ts';
import { type Commit, commitObject, type NewObject, readable } from '../parse.ts';
import { readKnownCommit } from './known-commit.ts';
import { isAncestor, mergeCommits } from './merge.ts';
import type { MergeResult } from './merge-tree.ts';
import { storeCommits } from './quarantine.ts';

/** What a commit says besides its place in the history. */
export type CommitText = Pick<Commit, 'message' | 'author' | 'committer'>;

export type Join = {
  /** Ids of commits: the source is brought into the target. */
  target: string;
  source: string;
  /** Makes one commit of all that the source has since the merge base. */
  squash?: CommitText | undefined;
  /** Makes a merge commit; without it the target is moved forward. */
  merge?: CommitText | undefined;
  /** The tree that merging the two makes, where it is known and stored. */
  tree?: string | undefined;
};

export type JoinResult =
  /** The target's next commit; it is stored, and durable. */
  | { result: 'joined'; head: string; squash: string | undefined }
  | Exclude<MergeResult, { result: 'clean' }>
  /** The target cannot be moved forward: the source has not all of its commits. */
  | { result: 'diverged' };

/** Makes the commits; the caller moves the target's ref if it is still there. */
export async function joinCommits(
  git: GitFolder,
  { target, source, squash, merge, tree }: Join,
): Promise<JoinResult> {
  const base = squash && (await mergeBase(git, [target, source]));
  if (squash && base === undefined) return { result: 'unrelated' };
  const parents = base === undefined ? [] : [base];
  const squashed = squash && newCommit((await readKnownCommit(git, source)).commit.tree, parents, squash);
  const incoming = squashed?.oid ?? source;
  const drafts = squashed ? [squashed] : [];
  if (!merge) {
    const isAhead = squashed ? base === target : await isAncestor(git, target, source);
    if (!isAhead) return { result: 'diverged' };
    if (squashed) await storeCommits(git.folder, drafts);
    return { result: 'joined', head: incoming, squash: squashed?.oid };
  }
  // The squash has one parent, and would lose what the source knows of the target: where histories cross, that is a conflict.
  const merged: MergeResult =
    tree === undefined
      ? await mergeCommits(git, { ours: target, theirs: source })
      : { result: 'clean', tree };
  if (merged.result !== 'clean') return merged;
  const commit = newCommit(merged.tree, [target, incoming], merge);
  await storeCommits(git.folder, [...drafts, commit]);
  return { result: 'joined', head: commit.oid, squash: squashed?.oid };
}

const newCommit = (tree: string, parents: string[], text: CommitText): NewObject =>
  readable(commitObject({ tree, parents, ...text }));
