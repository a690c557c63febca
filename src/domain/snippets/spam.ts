/** The spam check of snippets: texts that anyone could read are checked before they are written. */
import { PUBLIC } from '../../kernel/policy/roles.ts';
import type { Needs } from '../../kernel/services.ts';
import { isLarge } from '../../platform/git/files/blobs.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import { snippetRepository } from '../repositories/index.ts';
import { checkSpam, isReadByAnybody } from '../spam/index.ts';
import type { SnippetRow } from './queries.ts';
import type { FileEdit } from './rules.ts';
import { readSnippetFiles } from './snippet-files.ts';
import type { SnippetWriteContext } from './write-context.ts';

/** The snippet after the write, and the files that are written. */
type Written = {
  title: string;
  description: string | null;
  visibility: number;
  edits: readonly FileEdit[];
};

/** The texts of the present files, but for large ones. */
async function contentsOf(services: Needs<'repositories'>, snippet: SnippetRow): Promise<string[]> {
  const key = snippetRepository(snippet.id);
  const contents = await services.repositories.read(key, snippet.repository_storage, async (git) => {
    const { files } = await readSnippetFiles(git, snippet.default_branch);
    const texts: string[] = [];
    for (const { oid } of files.values()) {
      const info = await git.info(oid);
      if (!info || isLarge(info)) continue;
      texts.push((await git.read(oid))?.content.toString() ?? '');
    }
    return texts;
  });
  return contents ?? [];
}

/**
 * Returns when the spam check lets the write pass; `before` is the snippet that changes. One that becomes
 * public is checked as a whole, since it never was.
 */
export async function checkSnippet(
  { services, settings, actor, project }: SnippetWriteContext,
  request: HttpRequest,
  { title, description, visibility, edits }: Written,
  before?: SnippetRow,
): Promise<void> {
  const publiclyVisible =
    visibility === PUBLIC && (!project || isReadByAnybody(project, 'read_project_snippets'));
  if (!publiclyVisible || !settings.akismet_enabled) return;
  const opens = before !== undefined && before.visibility !== PUBLIC;
  const changes = title !== before?.title || description !== before.description || edits.length > 0;
  if (!opens && !changes) return;
  const sent = edits.flatMap((edit) =>
    'content' in edit && edit.content !== undefined ? [edit.content] : [],
  );
  const texts = [description ?? '', ...sent, ...(opens ? await contentsOf(services, before) : [])];
  await checkSpam(services, settings, {
    actor,
    request,
    kind: 'Snippet',
    write: before ? 'update' : 'create',
    title,
    text: texts.filter((text) => text !== '').join('\n'),
    publiclyVisible,
  });
}
