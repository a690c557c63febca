/** A project's snippet as what comments are on. */
import { isLarge } from '../../../platform/git/files/blobs.ts';
import { type HookNoteable, type HookServices, hookTime } from '../../hooks/index.ts';
import { snippetRepository } from '../../repositories/index.ts';
import type { SnippetRow } from '../queries.ts';
import { readSnippetFiles } from '../snippet-files.ts';
import { selectSnippetRow } from './hook-queries.ts';

/** The first file, by name and text; a large one without its text, which is more than a payload may be. */
async function firstFileOf(
  { repositories }: HookServices,
  { id, repository_storage, default_branch }: SnippetRow,
): Promise<{ file_name: string; content: string }> {
  const first = await repositories.read(snippetRepository(id), repository_storage, async (git) => {
    const [entry] = (await readSnippetFiles(git, default_branch)).files.values();
    const info = entry && (await git.info(entry.oid));
    if (!entry || !info) return undefined;
    const blob = isLarge(info) ? undefined : await git.read(info.oid);
    return { file_name: entry.path, content: blob?.content.toString() ?? '' };
  });
  return first ?? { file_name: '', content: '' };
}

export const snippetOfNotes: HookNoteable = {
  type: 'Snippet',
  field: 'snippet',
  async partOf(services, { around, project }, id) {
    const row = await selectSnippetRow(services.database.background, Number(id));
    if (!row || row.project_id !== project.id) return undefined;
    const { file_name, content } = await firstFileOf(services, row);
    const url = `${around.baseUrl}/${project.namespace_full_path}/${project.path}/-/snippets/${row.id}`;
    const part = {
      id: row.id,
      title: row.title,
      content,
      description: row.description,
      author_id: row.author_id,
      project_id: row.project_id,
      created_at: hookTime(row.created_at),
      updated_at: hookTime(row.updated_at),
      file_name,
      type: 'ProjectSnippet',
      visibility_level: row.visibility,
      url,
    };
    return { part, url, isConfidential: false };
  },
};
