/** Files of a snippet, read from its branch: git pushes change them as the API does. */

import type { Services } from '../../kernel/services.ts';
import { now } from '../../platform/clock.ts';
import { inTransaction } from '../../platform/db/database.ts';
import { Failure } from '../../platform/failure.ts';
import type { GitFolder } from '../../platform/git/objects.ts';
import type { Commit } from '../../platform/git/parse.ts';
import { findBranch } from '../../platform/git/refs.ts';
import { entryType, type PathEntry, walkTree } from '../../platform/git/trees.ts';
import { countWrite, snippetRepository } from '../repositories/index.ts';

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

/** Writes the branch's files to the snippet's row: after a push, and after an interrupted write. */
export async function recordSnippetFiles(
  { database }: Services,
  git: GitFolder,
  id: number,
  branch: string,
): Promise<void> {
  await inTransaction(database.db, async (tx) => {
    // Locked first, so that of two concurrent writes the later list stays.
    await tx.selectFrom('snippets').select('id').where('id', '=', id).forUpdate().execute();
    const { files } = await readSnippetFiles(git, branch).catch((error: unknown) => {
      // The push with the unreadable object is taken.
      if (error instanceof Failure && error.kind === 'unprocessable') return { files: new Map() };
      throw error;
    });
    await countWrite(tx, snippetRepository(id));
    await tx
      .updateTable('snippets')
      .set({ files: [...files.keys()], updated_at: now() })
      .where('id', '=', id)
      .execute();
  });
}
