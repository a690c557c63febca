/** Records the files of a snippet after a change of its repository. */
import type { Needs } from '../../kernel/services.ts';
import { now } from '../../platform/clock.ts';
import { ahead, inTransaction } from '../../platform/db/database.ts';
import { Failure } from '../../platform/failure.ts';
import type { GitFolder } from '../../platform/git/objects.ts';
import { countWrite, snippetRepository } from '../repositories/index.ts';
import { readSnippetFiles } from './snippet-files.ts';

/** Writes the branch's files to the snippet's row: after a push, and after an interrupted write. */
export async function recordSnippetFiles(
  { database }: Needs<'database'>,
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
    await ahead(tx)
      .updateTable('snippets')
      .set({ files: [...files.keys()], updated_at: now() })
      .where('id', '=', id)
      .execute();
  });
}
