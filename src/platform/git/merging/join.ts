/** The commits that bring one commit into another, by the methods of merging. */
import { mergeBase } from '../history/history.ts';
import type { GitFolder } from '../objects.ts';
import { type Commit, commitObject, type NewObject, readable } from '../parse.ts';
import { readKnownCommit } from './known-commit.ts';
import { isAncestor, mergeCommits } from './merge.ts';
import type { MergeResult } from './merge-tree.ts';

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
};

export type JoinResult =
  /** The target's next commit. `objects` are the new commits, still to be stored; their trees are, and durable. */
  | { result: 'joined'; head: string; squash: string | undefined; objects: NewObject[] }
  | Exclude<MergeResult, { result: 'clean' }>
  /** The target cannot be moved forward: the source has not all of its commits. */
  | { result: 'diverged' };

/** Makes the commits; the caller stores them, and moves the target's ref if it is still there. */
export async function joinCommits(
  git: GitFolder,
  { target, source, squash, merge }: Join,
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
    return { result: 'joined', head: incoming, squash: squashed?.oid, objects: drafts };
  }
  // The squash has one parent, and would lose what the source knows of the target: where histories cross, that is a conflict.
  const merged = await mergeCommits(git, { ours: target, theirs: source });
  if (merged.result !== 'clean') return merged;
  const commit = newCommit(merged.tree, [target, incoming], merge);
  return { result: 'joined', head: commit.oid, squash: squashed?.oid, objects: [...drafts, commit] };
}

const newCommit = (tree: string, parents: string[], text: CommitText): NewObject =>
  readable(commitObject({ tree, parents, ...text }));
