/** Three-way merges by git, without a work tree or a change of refs. */
import type { GitFolder } from '../objects.ts';
import { commitObject } from '../parse.ts';
import { gitUnless } from '../program/program.ts';
import { type MergeResult, type Pair, runMerges } from './merge-tree.ts';
import { type Quarantine, withQuarantine } from './quarantine.ts';

export const nobody = { name: 'Ashlar', email: 'noreply@localhost', time: 0, zone: '+0000' };
export const syntheticCommit = (tree: string, parents: string[]) =>
  commitObject({ tree, parents, author: nobody, committer: nobody, message: 'Part of a merge' });

/** Three trees: the changes from `base` to `theirs` are to be applied to `ours`. The empty one need not be stored. */
export type TreeMerge = { base: string; ours: string; theirs: string };

/** Lends the commits that git needs to merge trees. */
export async function lendCommits(apart: Quarantine, merges: readonly TreeMerge[]): Promise<Pair[]> {
  const commits = merges.map(({ base, ours, theirs }) => {
    const start = syntheticCommit(base, []);
    return [start, syntheticCommit(ours, [start.oid]), syntheticCommit(theirs, [start.oid])] as const;
  });
  await apart.lend(commits.flat());
  return commits.map(([, left, right]) => ({ ours: left.oid, theirs: right.oid }));
}

/** Merges three trees; the tree of a clean merge is stored, and durable. */
export const mergeTrees = (git: GitFolder, merge: TreeMerge): Promise<MergeResult> =>
  withQuarantine(git.folder, async (apart) => {
    const [pair] = await lendCommits(apart, [merge]);
    return keepMerged(apart, pair);
  });

/** Merges two commits with their merge bases, of which a criss-cross history has several; the tree of a clean merge is stored, and durable. */
export const mergeCommits = (git: GitFolder, pair: Pair): Promise<MergeResult> =>
  withQuarantine(git.folder, (apart) => keepMerged(apart, pair));

async function keepMerged(apart: Quarantine, pair: Pair | undefined): Promise<MergeResult> {
  const [merged] = pair ? await runMerges(apart, [pair]) : [];
  if (!merged || merged.result === 'missing') throw new Error('a commit to be merged is not there');
  if (merged.result === 'clean') await apart.keep();
  return merged;
}

/** Whether the first commit is the second or an ancestor of it; both are ids. */
export async function isAncestor(git: GitFolder, ancestor: string, descendant: string): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', ancestor, descendant];
  return (await gitUnless(1, args, { folder: git.folder, kind: 'long' })) !== undefined;
}
