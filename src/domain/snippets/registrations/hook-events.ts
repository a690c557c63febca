/** A project's snippet as what comments are on. */
import { type HookNoteable, hookTime } from '../../hooks/index.ts';
import { selectSnippetRow } from './hook-queries.ts';

export const snippetOfNotes: HookNoteable = {
  type: 'Snippet',
  field: 'snippet',
  async partOf({ database }, { around, project }, id) {
    const row = await selectSnippetRow(database.background, Number(id));
    if (!row || row.project_id !== project.id) return undefined;
    const url = `${around.baseUrl}/${project.namespace_full_path}/${project.path}/-/snippets/${row.id}`;
    const part = {
      id: row.id,
      title: row.title,
      description: row.description,
      author_id: row.author_id,
      project_id: row.project_id,
      created_at: hookTime(row.created_at),
      updated_at: hookTime(row.updated_at),
      type: 'ProjectSnippet',
      visibility_level: row.visibility,
      url,
    };
    return { part, url, isConfidential: false };
  },
};
