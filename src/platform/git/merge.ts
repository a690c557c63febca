/** Three-way merges of trees by git, without a work tree or a change of refs. */
import type { GitFolder } from './objects.ts';
import { commitObject, treeObject } from './parse.ts';
import { gitText, gitUnless } from './program/program.ts';
import { storeObjects } from './write.ts';

export type Merged = {
  /** The stored merged tree; files in conflict have both versions between markers. */
  tree: string;
  /** Paths in conflict; none for a clean merge. */
  conflicts: string[];
};

const nobody = { name: 'Ashlar', email: 'noreply@localhost', time: 0, zone: '+0000' };
const syntheticCommit = (tree: string, parents: string[]) =>
  commitObject({ tree, parents, author: nobody, committer: nobody, message: 'Part of a merge' });

/**
 * Applies the changes from `base` to `theirs` to `ours`: three trees, of which the empty one need not be
 * stored. git needs commits for that: unreachable ones are made, which a repack prunes.
 */
export async function mergeTrees(
  git: GitFolder,
  base: string,
  ours: string,
  theirs: string,
): Promise<Merged> {
  const start = syntheticCommit(base, []);
  const left = syntheticCommit(ours, [start.oid]);
  const right = syntheticCommit(theirs, [start.oid]);
  await storeObjects(git.folder, [treeObject([]), start, left, right]);
  return mergeCommits(git, left.oid, right.oid);
}

/** Merges two commits with their own merge base; both are ids. */
export async function mergeCommits(git: GitFolder, ours: string, theirs: string): Promise<Merged> {
  // On standard input, so that conflicts are in the output and not in the exit code.
  const text = await gitText(
    ['merge-tree', '--write-tree', '--stdin', '-z', '--name-only', '--no-messages'],
    {
      folder: git.folder,
      kind: 'long',
      input: `${ours} ${theirs}\n`,
    },
  );
  const [clean, tree = '', ...names] = text.split('\0');
  return { tree, conflicts: clean === '1' ? [] : [...new Set(names.filter((name) => name !== ''))] };
}

/** Whether the first commit is the second or an ancestor of it; both are ids. */
export async function isAncestor(git: GitFolder, ancestor: string, descendant: string): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', ancestor, descendant];
  return (await gitUnless(1, args, { folder: git.folder, kind: 'long' })) !== undefined;
}
