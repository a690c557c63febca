/** Records the files of a snippet whose change was interrupted. */
import type { Needs } from '../../kernel/services.ts';
import { type InterruptedWrite, snippetRepository } from '../repositories/index.ts';
import { recordSnippetFiles } from './file-actions.ts';

/** Lists a snippet's files anew after an interrupted write. */
export async function reconcileFiles(
  services: Needs<'database' | 'repositories'>,
  { kind, id }: InterruptedWrite,
): Promise<void> {
  if (kind !== 'snippet') return;
  const { db } = services.database;
  const snippet = await db
    .selectFrom('snippets')
    .select(['repository_storage', 'default_branch'])
    .where('id', '=', id)
    .where('ready', '=', true)
    .executeTakeFirst();
  if (!snippet) return;
  await services.repositories.read(snippetRepository(id), snippet.repository_storage, (git) =>
    recordSnippetFiles(services, git, id, snippet.default_branch),
  );
}
