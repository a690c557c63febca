/**
 * The scopes of search that git serves: files and wiki pages of a project by content and by name, and its
 * commits.
 */

import { posix } from 'node:path';
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { found } from '../../kernel/api/endpoint.ts';
import type { RepositoryKey } from '../../kernel/repository-store.ts';
import { badRequest } from '../../platform/failure.ts';
import { type Excerpt, findInFiles } from '../../platform/git/files/grep.ts';
import { countListed, listHistory } from '../../platform/git/history/history.ts';
import { isAbbreviatedId, shortRef } from '../../platform/git/names.ts';
import type { GitFolder } from '../../platform/git/objects.ts';
import { type Commit, decode } from '../../platform/git/parse.ts';
import { findCommit, headRef } from '../../platform/git/refs.ts';
import { findEntry } from '../../platform/git/trees.ts';
import { offsetPage, type Page } from '../../platform/pagination/page.ts';
import { presentCommit, projectRepository, projectWiki } from '../repositories/index.ts';
import { nothing, type SearchRequest } from './request.ts';
import { fileSearchOf, passes } from './rules.ts';
import type { BlobRecord, SearchRecord } from './schema.ts';

/** Later matches are not shown. */
const MAX_FOUND = 1_000;
/** Lines shown of a file that only its name was found by. */
const FIRST_LINES = 5;
/** Such a file is not read when it is larger, in bytes. */
const MAX_SHOWN_BYTES = 1_048_576;

type Head = { commit: Commit; ref: string };

/** The commit to search; undefined in an empty repository, 404 for a ref that names none. */
async function headOf(git: GitFolder, ref: string | undefined): Promise<Head | undefined> {
  if (ref) return { commit: found(await findCommit(git, ref), 'Commit'), ref };
  const commit = await findCommit(git, 'HEAD');
  const head = await headRef(git.folder);
  return commit && { commit, ref: shortRef(head)?.name ?? commit.oid };
}

/** Work on the commit; undefined where there is no repository, or no commit. */
async function read<T>(
  { services, ref }: SearchRequest,
  key: RepositoryKey,
  project: AuthorizedProject,
  work: (git: GitFolder, head: Head) => Promise<T>,
): Promise<T | undefined> {
  return services.repositories.read(key, project.row.repository_storage, async (git) => {
    const head = await headOf(git, ref);
    return head && work(git, head);
  });
}

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

async function searchTree(
  request: SearchRequest,
  key: RepositoryKey,
  project: AuthorizedProject,
): Promise<Page<BlobRecord>> {
  const { page, search } = request;
  fileSearchOf(search);
  const places = await read(request, key, project, async (git, { commit, ref }) => {
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

export const searchBlobs = async (
  request: SearchRequest,
  project: AuthorizedProject,
): Promise<Page<BlobRecord>> =>
  project.may('read_code') ? searchTree(request, projectRepository(project.id), project) : nothing;

export const searchWiki = async (
  request: SearchRequest,
  project: AuthorizedProject,
): Promise<Page<BlobRecord>> =>
  project.may('read_wiki') ? searchTree(request, projectWiki(project.id), project) : nothing;

/** Commits by a part of their message, or the one that an id, or the beginning of one, names. */
export async function searchCommits(
  request: SearchRequest,
  project: AuthorizedProject,
): Promise<Page<SearchRecord>> {
  const { page, services } = request;
  const search = request.search.trim();
  if (search === '') throw badRequest('search is empty');
  if (!project.may('read_code')) return nothing;
  const commits = await read(request, projectRepository(project.id), project, async (git, { commit }) => {
    const named = isAbbreviatedId(search) && (await git.info(search.toLowerCase()))?.type === 'commit';
    const own = named ? await findCommit(git, search) : undefined;
    if (own) return offsetPage(page, [own].slice(page.offset), async () => 1);
    const filter = { message: search };
    const limit = page.perPage + 1;
    return offsetPage(page, await listHistory(git, commit.oid, filter, { offset: page.offset, limit }), () =>
      countListed(git, commit.oid, filter, page.countLimit),
    );
  });
  if (!commits) return nothing;
  const url = `${services.baseUrl()}/${project.fullPath}`;
  const items = commits.items.map((commit) => ({ ...presentCommit(url, commit), project_id: project.id }));
  return { ...commits, items };
}
