/** Snippets, of projects and of people: one with its files, their bytes, and a project's list. */
import { Readable } from 'node:stream';
import { notFound } from '../../platform/failure.ts';
import type { HttpResponse } from '../../platform/http/messages.ts';
import { type Html, html } from '../../platform/http/pages/html.ts';
import {
  projectSnippetEndpoint,
  projectSnippetFileEndpoint,
  projectSnippetsEndpoint,
  rawProjectSnippetEndpoint,
  rawSnippetEndpoint,
  type SnippetRecord,
  snippetConversation,
  snippetEndpoint,
  snippetFileEndpoint,
} from '../snippets/index.ts';
import { isMarkdown, MAX_SHOWN_BYTES } from './repositories/readme.ts';
import { codeLines } from './view/code.ts';
import {
  facts,
  inAddress,
  listOf,
  pageNumber,
  pager,
  personLink,
  thing,
  timeOf,
  wordTag,
} from './view/components.ts';
import { discussionsView } from './view/discussion.ts';
import { numberIn, projectOf, showInProject } from './view/parents.ts';
import { renderedMarkdown } from './view/rendered-markdown.ts';
import { show, type ViewContext } from './view/view-context.ts';
import { pathOf } from './work-items/work-rows.ts';

/** Files of which the contents are shown. */
const MAX_FILES = 10;

type Found = {
  id: number;
  project: Awaited<ReturnType<typeof projectOf>> | undefined;
  one(): Promise<SnippetRecord>;
  /** The bytes of its first file. */
  raw(): Promise<HttpResponse>;
  file(ref: string, file_path: string): Promise<HttpResponse>;
};

/** A snippet of the project before the dash, or a person's own where there is none. */
async function findSnippet(view: ViewContext): Promise<Found> {
  const id = numberIn(view, 'id');
  if (view.param('path') === '')
    return {
      id,
      project: undefined,
      one: () => view.one(snippetEndpoint, { id }),
      raw: () => view.file(rawSnippetEndpoint, { id }),
      file: (ref, file_path) => view.file(snippetFileEndpoint, { id, ref, file_path }),
    };
  const project = await projectOf(view);
  const named = { id: project.id, snippet_id: id };
  return {
    id,
    project,
    one: () => view.one(projectSnippetEndpoint, named),
    raw: () => view.file(rawProjectSnippetEndpoint, named),
    file: (ref, file_path) => view.file(projectSnippetFileEndpoint, { ...named, ref, file_path }),
  };
}

/** The text of a file; undefined for one that is binary or too large to be shown. */
async function textOf({ file }: Found, path: string): Promise<string | undefined> {
  const { body, headers } = await file('HEAD', path);
  if (body instanceof Readable) body.destroy();
  const isText = headers['content-type']?.startsWith('text/plain') ?? false;
  return Buffer.isBuffer(body) && isText && body.length <= MAX_SHOWN_BYTES ? body.toString() : undefined;
}

async function fileView(
  view: ViewContext,
  found: Found,
  file: SnippetRecord['files'][number],
): Promise<Html> {
  const text = await textOf(found, file.path);
  const shown =
    text === undefined
      ? html`<p class="none">This file is binary, or too large to be shown.</p>`
      : isMarkdown(file.path)
        ? await renderedMarkdown(view, text, { project: found.project })
        : codeLines(text);
  return html`<section class="file"><h2>${file.path} <a class="below" href="${pathOf(view, file.raw_url)}">Raw</a></h2>${shown}</section>`;
}

export async function showSnippet(view: ViewContext): Promise<HttpResponse> {
  const found = await findSnippet(view);
  const { project } = found;
  const snippet = await found.one();
  const files: Html[] = [];
  for (const file of snippet.files.slice(0, MAX_FILES)) files.push(await fileView(view, found, file));
  const left = snippet.files.slice(MAX_FILES);
  const discussions =
    project &&
    (await discussionsView(
      view,
      (page) => view.list(snippetConversation.threads, { id: project.id, noteable_id: found.id, ...page }),
      { project },
    ));
  const body = html`<h1>${snippet.title}</h1>
<p class="below">${wordTag(snippet.visibility)} made ${timeOf(snippet.created_at)} by ${personLink(snippet.author)}</p>
${facts(['Clone', html`<code class="whole">${snippet.http_url_to_repo}</code>`])}
${await renderedMarkdown(view, snippet.description, { project })}
${files}
${left.length > 0 && html`<ul>${left.map((file) => html`<li><a href="${pathOf(view, file.raw_url)}">${file.path}</a></li>`)}</ul>`}
${discussions}`;
  if (!project) return show(view, snippet.title, html`<div class="page">${body}</div>`);
  return showInProject(view, project, { title: snippet.title, tab: 'Snippets', body });
}

/** The bytes of the first file. */
export async function sendSnippet(view: ViewContext): Promise<HttpResponse> {
  const { raw } = await findSnippet(view);
  return raw();
}

/** The bytes of a file: `<branch>/<path>`, where the branch may have slashes in its name. */
export async function sendSnippetFile(view: ViewContext): Promise<HttpResponse> {
  const { one, file } = await findSnippet(view);
  const parts = view.param('*').split('/');
  const snippet = await one();
  const path = snippet.files.find((file) =>
    pathOf(view, file.raw_url).endsWith(`/raw/${inAddress(parts.join('/'))}`),
  );
  if (parts.length < 2) throw notFound('File');
  return path ? file('HEAD', path.path) : file(parts[0] ?? 'HEAD', parts.slice(1).join('/'));
}

export async function showSnippets(view: ViewContext): Promise<HttpResponse> {
  const project = await projectOf(view);
  const snippets = await view.list(projectSnippetsEndpoint, {
    id: project.id,
    page: pageNumber(view),
  });
  const rows = snippets.items.map((snippet) =>
    thing(
      html`<a href="${pathOf(view, snippet.web_url)}">${snippet.title}</a> ${wordTag(snippet.visibility)}`,
      html`${timeOf(snippet.created_at)} by ${personLink(snippet.author)}`,
      html`${snippet.files.length} ${snippet.files.length === 1 ? 'file' : 'files'}`,
    ),
  );
  const body = html`<h1>Snippets</h1>
${listOf(rows, 'No snippets.')}
${pager(view, snippets)}`;
  return showInProject(view, project, { title: 'Snippets', tab: 'Snippets', body });
}
