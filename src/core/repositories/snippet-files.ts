/** The files of a snippet, as its branch has them: a push by git changes them as much as the API does. */
import { now } from '../../platform/clock.ts';
import { inTransaction } from '../../platform/db/database.ts';
import { Failure } from '../../platform/failure.ts';
import type { GitFolder } from '../../platform/git/objects.ts';
import type { Commit } from '../../platform/git/parse.ts';
import { findBranch } from '../../platform/git/refs.ts';
import { entryType, type PathEntry, walkTree } from '../../platform/git/trees.ts';
import type { Services } from '../services.ts';
import { snippetRepository } from './containers.ts';
import { countWrite } from './pushes.ts';

/** What git pushes is not counted: records show so many, and no more are read. */
const MAX_SHOWN = 100;

export type SnippetFiles = { head: Commit | undefined; files: Map<string, PathEntry> };

/** The files by path, in git's order, and the commit that they are of; none without the branch. */
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

/** Lists in the snippet's row what its branch has: after a push, and after a write whose process died before it did so. */
export async function recordSnippetFiles(
  { database }: Services,
  git: GitFolder,
  id: number,
  branch: string,
): Promise<void> {
  await inTransaction(database.db, async (tx) => {
    // First, so that of two writes at once the list is the later one's.
    await tx.selectFrom('snippets').select('id').where('id', '=', id).forUpdate().execute();
    const { files } = await readSnippetFiles(git, branch).catch((error: unknown) => {
      // The push that brought what cannot be shown is taken.
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
