/** Files of a snippet, read from its branch: git pushes change them as the API does. */

import type { GitFolder } from '../../platform/git/objects.ts';
import type { Commit } from '../../platform/git/parse.ts';
import { findBranch } from '../../platform/git/refs.ts';
import { entryType, type PathEntry, walkTree } from '../../platform/git/trees.ts';

/** Files that are read and shown, as a git push may have any number. */
const MAX_SHOWN = 100;

export type SnippetFiles = { head: Commit | undefined; files: Map<string, PathEntry> };

/** The files by path, in git's order, and their commit; none without the branch. */
export async function readSnippetFiles(git: GitFolder, branch: string): Promise<SnippetFiles> {
  const head = await findBranch(git, branch);
  const files = new Map<string, PathEntry>();
  if (!head) return { head, files };
  for await (const entry of walkTree(git, head.tree)) {
    if (files.size === MAX_SHOWN) break;
    if (entryType(entry) === 'blob') files.set(entry.path, entry);
  }
  return { head, files };
}
