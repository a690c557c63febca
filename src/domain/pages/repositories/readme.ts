/** The README of a folder, and texts of files for pages. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { decode, type TreeEntry } from '../../../platform/git/parse.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import { entryType, readTree } from '../../../platform/git/trees.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import { renderedMarkdown } from '../view/rendered-markdown.ts';
import type { ViewContext } from '../view/view-context.ts';
import { reading } from './repository.ts';

/** Bytes of a file that a page shows. */
export const MAX_SHOWN_BYTES = 1_048_576;
/** Bytes of the beginning in which git looks for a zero, to tell a binary file. */
const SNIFFED_BYTES = 8_000;

const markdown = /\.(md|markdown|mdown|mkdn?)$/i;
export const isMarkdown = (name: string): boolean => markdown.test(name);

const readmeName = /^readme(\.(md|markdown|mdown|mkdn?|txt|rst|adoc|org))?$/i;

/** The README among the entries; Markdown first. */
function findReadme(entries: readonly TreeEntry[]): TreeEntry | undefined {
  const found = entries.filter((entry) => entryType(entry) === 'blob' && readmeName.test(entry.name));
  return found.find(({ name }) => isMarkdown(name)) ?? found[0];
}

/** The text of a blob; undefined for one that is binary or too large to be shown. */
export async function textOf(git: GitFolder, oid: string): Promise<string | undefined> {
  const info = await git.info(oid);
  if (!info || info.size > MAX_SHOWN_BYTES) return undefined;
  const content = (await git.read(oid))?.content;
  if (!content || content.subarray(0, SNIFFED_BYTES).includes(0)) return undefined;
  return decode(content);
}

/** The README of a folder whose entries are known, under its name. */
export async function readmeAmong(
  view: ViewContext,
  project: AuthorizedProject,
  git: GitFolder,
  spot: { ref: string; path: readonly string[]; entries: readonly TreeEntry[] },
): Promise<Html | undefined> {
  const file = findReadme(spot.entries);
  const text = file && (await textOf(git, file.oid));
  if (!file || text === undefined) return undefined;
  const shown = isMarkdown(file.name)
    ? await renderedMarkdown(view, text, { project, file: { ref: spot.ref, folder: spot.path } })
    : html`<pre class="listing">${text}</pre>`;
  return html`<section class="file"><h2>${file.name}</h2>${shown}</section>`;
}

/** The README at the top of a branch; undefined where there is none. */
export const readmeOf = (
  view: ViewContext,
  project: AuthorizedProject,
  branch: string,
): Promise<Html | undefined> =>
  reading(view, project, async (git) => {
    const commit = await findCommit(git, branch);
    const entries = commit && (await readTree(git, commit.tree));
    return {
      readme: entries && (await readmeAmong(view, project, git, { ref: branch, path: [], entries })),
    };
  }).then(({ readme }) => readme);
