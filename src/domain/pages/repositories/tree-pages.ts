/** Folders and files of a repository, and the bytes of a file. */
import { posix } from 'node:path';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { redirect } from '../../../kernel/api/page.ts';
import { notFound } from '../../../platform/failure.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import type { TreeEntry } from '../../../platform/git/parse.ts';
import { entryType, readTree } from '../../../platform/git/trees.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import { rawFileEndpoint } from '../../repositories/index.ts';
import { codeLines } from '../view/code.ts';
import { inAddress } from '../view/components.ts';
import { projectAddress, showInProject } from '../view/parents.ts';
import { renderedMarkdown } from '../view/rendered-markdown.ts';
import type { ViewContext } from '../view/view-context.ts';
import { isMarkdown, MAX_SHOWN_BYTES, readmeAmong, textOf } from './readme.ts';
import { codeOf, findSpot, reading, type Spot } from './repository.ts';

/** Entries of a folder that a page shows. */
const MAX_ENTRIES = 2_000;

const address = (project: AuthorizedProject, kind: string, ref: string, path: readonly string[]): string =>
  [`${projectAddress(project)}/-/${kind}/${inAddress(ref)}`, ...path.map(encodeURIComponent)].join('/');

/** The folders from the top of the tree to here, as links. */
function trail(project: AuthorizedProject, { ref, path, commit }: Spot): Html {
  const top = html`<a href="${address(project, 'tree', ref, [])}">${project.row.path}</a>`;
  const steps = path.map((name, index) => {
    const last = index === path.length - 1;
    const href = address(project, 'tree', ref, path.slice(0, index + 1));
    return html` / ${last ? html`<strong>${name}</strong>` : html`<a href="${href}">${name}</a>`}`;
  });
  return html`<h1 class="trail">${top}${steps} <span class="below">at <a href="${projectAddress(project)}/-/commit/${commit.oid}"><code>${ref}</code></a></span></h1>`;
}

const order = { tree: 0, commit: 1, blob: 2 } as const;

function entryRow(project: AuthorizedProject, { ref, path }: Spot, entry: TreeEntry): Html {
  const type = entryType(entry);
  const shown = type === 'tree' ? `${entry.name}/` : entry.name;
  if (type === 'commit')
    return html`<li>${shown} <span class="below">at ${entry.oid.slice(0, 8)}</span></li>`;
  return html`<li><a href="${address(project, type, ref, [...path, entry.name])}">${shown}</a></li>`;
}

async function folderView(
  view: ViewContext,
  project: AuthorizedProject,
  git: GitFolder,
  spot: Spot,
): Promise<Html> {
  const entries = (await readTree(git, spot.entry.oid)) ?? [];
  const sorted = entries.toSorted((a, b) => order[entryType(a)] - order[entryType(b)]);
  const hiddenCount = sorted.length - MAX_ENTRIES;
  const readme = await readmeAmong(view, project, git, { ref: spot.ref, path: spot.path, entries });
  return html`${trail(project, spot)}
<ul class="entries">${sorted.slice(0, MAX_ENTRIES).map((entry) => entryRow(project, spot, entry))}</ul>
${hiddenCount > 0 && html`<p class="none">${hiddenCount} more are not shown here.</p>`}
${readme}`;
}

/** Pictures that browsers show, by the ends of their names. */
const pictures: Record<string, string> = {
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
};

const pictureType = (name: string): string | undefined =>
  pictures[posix.extname(name).slice(1).toLowerCase()];

async function fileView(
  view: ViewContext,
  project: AuthorizedProject,
  git: GitFolder,
  spot: Spot,
): Promise<Html> {
  const { ref, path, entry } = spot;
  const text = await textOf(git, entry.oid);
  const raw = address(project, 'raw', ref, path);
  const type = pictureType(entry.name);
  const hasTwoForms = text !== undefined && (isMarkdown(entry.name) || type === pictures.svg);
  const source = view.choice('plain', ['', '1']) === '1' || !hasTwoForms;
  const shown =
    type && (text === undefined || !source)
      ? html`<p class="picture"><img src="${raw}" alt="${entry.name}"></p>`
      : text === undefined
        ? html`<p class="none">This file is binary, or larger than ${MAX_SHOWN_BYTES / 1_048_576} MiB.</p>`
        : source
          ? codeLines(text)
          : await renderedMarkdown(view, text, { project, file: { ref, folder: path.slice(0, -1) } });
  return html`${trail(project, spot)}
<p class="actions"><a href="${raw}">Raw</a>${
    hasTwoForms && html`<a href="${source ? '?' : '?plain=1'}">${source ? 'Rendered' : 'Source'}</a>`
  }</p>
<section class="file">${shown}</section>`;
}

/** A folder; a file's address leads to the file. */
export async function showTree(looking: ViewContext): Promise<HttpResponse> {
  const project = await codeOf(looking);
  const ref = looking.param('*') || project.row.default_branch || 'HEAD';
  const view = await reading(looking, project, async (git) => {
    const spot = await findSpot(git, ref);
    if (entryType(spot.entry) === 'tree')
      return { spot, body: await folderView(looking, project, git, spot) };
    return { spot };
  });
  const { spot, body } = view;
  if (!body) return redirect(address(project, 'blob', spot.ref, spot.path));
  return showInProject(looking, project, { title: spot.path.at(-1) ?? 'Files', tab: 'Files', body });
}

/** A file; a folder's address leads to the folder. */
export async function showBlob(view: ViewContext): Promise<HttpResponse> {
  const project = await codeOf(view);
  const { spot, body } = await reading(view, project, async (git) => {
    const spot = await findSpot(git, view.param('*'));
    const type = entryType(spot.entry);
    if (type === 'commit') throw notFound('File');
    return type === 'blob' ? { spot, body: await fileView(view, project, git, spot) } : { spot };
  });
  if (!body) return redirect(address(project, 'tree', spot.ref, spot.path));
  return showInProject(view, project, { title: spot.path.join('/'), tab: 'Files', body });
}

/** A picture that is also a document: opened by itself it runs and loads nothing, and has no origin. */
const SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";

/** The bytes of a file, or of the large file that it points to, as the API sends them; pictures with their type, for pages that show them. */
export async function sendRaw(view: ViewContext): Promise<HttpResponse> {
  const project = await codeOf(view);
  const { ref, path } = await reading(view, project, (git) => findSpot(git, view.param('*')));
  const response = await view.file(rawFileEndpoint, {
    id: project.id,
    file_path: path.join('/'),
    ref,
    lfs: true,
  });
  const type = pictureType(path.at(-1) ?? '');
  if (!type) return response;
  const isText = response.headers['content-type'] !== 'application/octet-stream';
  // A text file that has the name of a picture of another kind is shown as text.
  if (isText && type !== pictures.svg) return response;
  const headers = { 'content-type': type, 'content-security-policy': SANDBOX };
  return { ...response, headers: { ...response.headers, ...headers } };
}
