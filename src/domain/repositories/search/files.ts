/** Files of a repository found by search, by content and by name. */

import { posix } from 'node:path';
import Type, { type Static } from 'typebox';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { RepositoryKey } from '../../../kernel/repository-store.ts';
import { type Excerpt, findInFiles } from '../../../platform/git/files/grep.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { type Commit, decode } from '../../../platform/git/parse.ts';
import { findEntry } from '../../../platform/git/trees.ts';
import { deprecated, nullable } from '../../../platform/http/parameters/schema.ts';
import { offsetPage, type Page } from '../../../platform/pagination/page.ts';
import { nothing, type SearchRequest } from '../../search/index.ts';
import { readCommit } from './commit.ts';
import { fileSearchOf, passes } from './rules.ts';

/** A match in a file; `basename` is the path without its ending. */
export const BlobRecord = Type.Object({
  basename: Type.String(),
  data: Type.String(),
  path: Type.String(),
  filename: deprecated(Type.String(), 'path'),
  id: nullable(Type.Integer()),
  ref: Type.String(),
  startline: Type.Integer(),
  project_id: Type.Integer(),
});
export type BlobRecord = Static<typeof BlobRecord>;

/** Later matches are not shown. */
const MAX_FOUND = 1_000;
/** Lines shown of a file that only its name was found by. */
const FIRST_LINES = 5;
/** Such a file is not read when it is larger, in bytes. */
const MAX_SHOWN_BYTES = 1_048_576;

/** The matches that are shown: excerpts of files, then files by their names, which have no text yet. */
async function findMatches(git: GitFolder, commit: string, search: string): Promise<Partial<Excerpt>[]> {
  const { text, filters } = fileSearchOf(search);
  const wanted = text.toLowerCase();
  const { excerpts, names } = await findInFiles(
    git,
    commit,
    text,
    (path) => path.toLowerCase().includes(wanted) && passes(path, filters),
  );
  const byContent = excerpts.filter(({ path }) => passes(path, filters));
  const known = new Set(byContent.map(({ path }) => path));
  const byName = names.filter((path) => !known.has(path));
  return [...byContent, ...byName.map((path) => ({ path }))].slice(0, MAX_FOUND);
}

/** The beginning of a text file; empty for any other, and for a large one. */
async function firstLines(git: GitFolder, { tree }: Commit, path: string): Promise<string> {
  const entry = await findEntry(git, tree, path.split('/'));
  const info = entry && (await git.info(entry.oid));
  if (info?.type !== 'blob' || info.size > MAX_SHOWN_BYTES) return '';
  const content = (await git.read(info.oid))?.content;
  if (!content || content.includes(0)) return '';
  return decode(content).split('\n').slice(0, FIRST_LINES).join('\n');
}

/** One page of the files that match, of the project's repository or its wiki's. */
export async function searchFiles(
  request: SearchRequest,
  key: RepositoryKey,
  project: AuthorizedProject,
): Promise<Page<BlobRecord>> {
  const { page, search } = request;
  fileSearchOf(search);
  const places = await readCommit(request, key, project, async (git, { commit, ref }) => {
    const all = await findMatches(git, commit.oid, search);
    const shown = all.slice(page.offset, page.offset + page.perPage + 1);
    const records = shown.map(async ({ path = '', line = 1, text }) => ({
      basename: path.slice(0, path.length - posix.extname(path).length),
      data: text ?? (await firstLines(git, commit, path)),
      path,
      filename: path,
      id: null,
      ref,
      startline: line,
      project_id: project.id,
    }));
    return offsetPage(page, await Promise.all(records), async () => all.length);
  });
  return places ?? nothing;
}
