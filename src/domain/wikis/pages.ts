/** Pages in the repository of a wiki: their list, their paths, and their texts. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { Failure } from '../../platform/failure.ts';
import { pathComponents } from '../../platform/git/names.ts';
import type { GitFolder } from '../../platform/git/objects.ts';
import { decode, type TreeEntry } from '../../platform/git/parse.ts';
import { FOLDER_MODE, findEntry, readTree } from '../../platform/git/trees.ts';
import { slugOf } from './rules.ts';
import { type PageName, pageAt } from './wiki-pages.ts';

/** A page with its tree entry. */
export type Page = PageName & Pick<TreeEntry, 'oid' | 'mode'>;

/** Entries that are read for one list, at most: a few bytes can stand for a tree without end. */
const MAX_ENTRIES = 100_000;
/** Folders that were read before take no wait: other requests run all the same. */
const ENTRIES_PER_TURN = 1_000;
/** Bytes of the contents in one response: they are written as JSON in one turn, while other requests wait. */
const MAX_CONTENT = 10 * 1_048_576;

/** The file of an entry as a page; undefined for folders, links, submodules and files that are none. */
function asPage(prefix: string, { mode, name, oid }: TreeEntry): Page | undefined {
  const page = mode.startsWith('100') ? pageAt(`${prefix}${name}`) : undefined;
  return page && { ...page, mode, oid };
}

/** All pages of a tree by their paths; 422 for a tree too large to be listed. */
export async function listPages(git: GitFolder, tree: string): Promise<Page[]> {
  const pages: Page[] = [];
  const folders = [{ oid: tree, prefix: '' }];
  let seen = 0;
  for (const { oid, prefix } of folders) {
    for (const entry of (await readTree(git, oid)) ?? []) {
      seen += 1;
      if (seen % ENTRIES_PER_TURN === 0) await nextTurn();
      if (seen > MAX_ENTRIES) throw new Failure('unprocessable', 'The wiki is too large to be listed.');
      const page = asPage(prefix, entry);
      if (page) pages.push(page);
      else if (entry.mode === FOLDER_MODE)
        folders.push({ oid: entry.oid, prefix: `${prefix}${entry.name}/` });
    }
  }
  return pages.sort((left, right) => (left.path < right.path ? -1 : 1));
}

/** The page of a slug or a title, if need be in other capitals; undefined when there is none. */
export async function findPage(git: GitFolder, tree: string, slug: string): Promise<Page | undefined> {
  return (await findSlug(git, tree, slug)) ?? (await findSlug(git, tree, slugOf(slug)));
}

async function findSlug(git: GitFolder, tree: string, slug: string): Promise<Page | undefined> {
  const folder = pathComponents(slug)?.slice(0, -1);
  const place = folder && (await findEntry(git, tree, folder));
  if (!place || place.mode !== FOLDER_MODE) return undefined;
  const prefix = folder.map((name) => `${name}/`).join('');
  const entries = (await readTree(git, place.oid)) ?? [];
  const pages = entries.flatMap((entry) => asPage(prefix, entry) ?? []);
  const folded = slug.toLowerCase();
  return pages.find((page) => page.slug === slug) ?? pages.find((page) => page.slug.toLowerCase() === folded);
}

/** The texts of pages, as they stand in their files; 422 when they are too much for one response. */
export async function readTexts(git: GitFolder, pages: readonly Page[]): Promise<string[]> {
  const sizes = await Promise.all(pages.map(async ({ oid }) => (await git.info(oid))?.size ?? 0));
  if (sizes.reduce((sum, size) => sum + size, 0) > MAX_CONTENT)
    throw new Failure('unprocessable', 'The contents are too large for one answer.');
  return Promise.all(
    pages.map(async ({ oid }) => {
      const object = await git.read(oid);
      return object ? decode(object.content) : '';
    }),
  );
}
