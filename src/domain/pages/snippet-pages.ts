/** Snippets, of projects and of people: one with its files, their bytes, and a project's list. */
import { Readable } from 'node:stream';
import type { SnippetRecord } from '../../core/repositories/snippet-records.ts';
import { notFound } from '../../platform/failure.ts';
import type { Answer } from '../../platform/http/answer.ts';
import { type Html, html } from '../../platform/http/html.ts';
import { codeLines } from './code.ts';
import { discussionsView } from './discussion.ts';
import { type Looking, show } from './door.ts';
import { pathOf } from './issue-pages.ts';
import { facts, inAddress, listOf, pageNumber, pager, personLink, thing, timeOf, wordTag } from './parts.ts';
import { numberIn, projectOf, showInProject } from './places.ts';
import { proseOf } from './prose.ts';
import { isMarkdown, LARGEST_SHOWN } from './readme.ts';

/** Files of which the contents are shown. */
const MOST_FILES = 10;

type Found = {
  project: Awaited<ReturnType<typeof projectOf>> | undefined;
  /** Of its endpoint, with what is named in it. */
  api: string;
  named: Record<string, string>;
};

/** A snippet of the project before the dash, or a person's own where there is none. */
async function findSnippet(looking: Looking): Promise<Found> {
  const id = numberIn(looking, 'id');
  if (looking.param('path') === '') return { project: undefined, api: '/snippets/:id', named: { id } };
  const project = await projectOf(looking);
  const named = { id: String(project.id), snippet_id: id };
  return { project, api: '/projects/:id/snippets/:snippet_id', named };
}

/** The text of a file; undefined for one that is binary or too large to be shown. */
async function textOf(looking: Looking, { api, named }: Found, path: string): Promise<string | undefined> {
  const { body, headers } = await looking.file(`${api}/files/:ref/:file_path/raw`, {
    ...named,
    ref: 'HEAD',
    file_path: path,
  });
  if (body instanceof Readable) body.destroy();
  const isText = headers['content-type']?.startsWith('text/plain') ?? false;
  return Buffer.isBuffer(body) && isText && body.length <= LARGEST_SHOWN ? body.toString() : undefined;
}

async function fileView(looking: Looking, found: Found, file: SnippetRecord['files'][number]): Promise<Html> {
  const text = await textOf(looking, found, file.path);
  const shown =
    text === undefined
      ? html`<p class="none">This file is binary, or too large to be shown.</p>`
      : isMarkdown(file.path)
        ? await proseOf(looking, text, { project: found.project })
        : codeLines(text);
  return html`<section class="file"><h2>${file.path} <a class="below" href="${pathOf(looking, file.raw_url)}">Raw</a></h2>${shown}</section>`;
}

export async function showSnippet(looking: Looking): Promise<Answer> {
  const found = await findSnippet(looking);
  const { project, api, named } = found;
  const snippet = await looking.one<SnippetRecord>(api, named);
  const files: Html[] = [];
  for (const file of snippet.files.slice(0, MOST_FILES)) files.push(await fileView(looking, found, file));
  const left = snippet.files.slice(MOST_FILES);
  const discussions =
    project &&
    (await discussionsView(looking, '/projects/:id/snippets/:noteable_id/discussions', {
      parameters: { id: named.id, noteable_id: named.snippet_id },
      project,
    }));
  const body = html`<h1>${snippet.title}</h1>
<p class="below">${wordTag(snippet.visibility)} made ${timeOf(snippet.created_at)} by ${personLink(snippet.author)}</p>
${facts(['Clone', html`<code class="whole">${snippet.http_url_to_repo}</code>`])}
${await proseOf(looking, snippet.description, { project })}
${files}
${left.length > 0 && html`<ul>${left.map((file) => html`<li><a href="${pathOf(looking, file.raw_url)}">${file.path}</a></li>`)}</ul>`}
${discussions}`;
  if (!project) return show(looking, snippet.title, html`<div class="page">${body}</div>`);
  return showInProject(looking, project, { title: snippet.title, tab: 'Snippets', body });
}

/** The bytes of the first file. */
export async function sendSnippet(looking: Looking): Promise<Answer> {
  const { api, named } = await findSnippet(looking);
  return looking.file(`${api}/raw`, named);
}

/** The bytes of a file: `<branch>/<path>`, where the branch may have slashes in its name. */
export async function sendSnippetFile(looking: Looking): Promise<Answer> {
  const { api, named } = await findSnippet(looking);
  const parts = looking.param('*').split('/');
  const snippet = await looking.one<SnippetRecord>(api, named);
  const path = snippet.files.find((file) =>
    pathOf(looking, file.raw_url).endsWith(`/raw/${inAddress(parts.join('/'))}`),
  );
  if (parts.length < 2) throw notFound('File');
  const file_path = path?.path ?? parts.slice(1).join('/');
  const ref = path ? 'HEAD' : (parts[0] ?? 'HEAD');
  return looking.file(`${api}/files/:ref/:file_path/raw`, { ...named, ref, file_path });
}

export async function showSnippets(looking: Looking): Promise<Answer> {
  const project = await projectOf(looking);
  const snippets = await looking.list<SnippetRecord>('/projects/:id/snippets', {
    id: String(project.id),
    page: String(pageNumber(looking)),
  });
  const rows = snippets.items.map((snippet) =>
    thing(
      html`<a href="${pathOf(looking, snippet.web_url)}">${snippet.title}</a> ${wordTag(snippet.visibility)}`,
      html`${timeOf(snippet.created_at)} by ${personLink(snippet.author)}`,
      html`${snippet.files.length} ${snippet.files.length === 1 ? 'file' : 'files'}`,
    ),
  );
  const body = html`<h1>Snippets</h1>
${listOf(rows, 'No snippets.')}
${pager(looking, snippets)}`;
  return showInProject(looking, project, { title: 'Snippets', tab: 'Snippets', body });
}
