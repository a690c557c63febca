/** Pages of wikis, of projects and of groups. */
import { posix } from 'node:path';
import type { HttpResponse } from '../../platform/http/messages.ts';
import { html } from '../../platform/http/pages/html.ts';
import { wikiEndpointsOf } from '../wikis/index.ts';
import { inAddress, listOf, pageNumber, pager, thing } from './view/components.ts';
import { homeOf, showIn } from './view/parents.ts';
import { listingOf, renderedMarkdown } from './view/rendered-markdown.ts';
import type { ViewContext } from './view/view-context.ts';

/** The pages by their paths. */
export async function showWiki(view: ViewContext): Promise<HttpResponse> {
  const home = await homeOf(view);
  const wiki = `${home.address}/-/wikis`;
  const pages = await view.list(wikiEndpointsOf[home.kind].list, {
    id: home.id,
    page: pageNumber(view),
    per_page: 100,
  });
  const rows = pages.items.map((page) =>
    thing(html`<a href="${wiki}/${inAddress(page.slug)}">${page.title}</a>`, page.slug),
  );
  const body = html`<h1>Wiki</h1>
${listOf(rows, 'No pages.')}
${pager(view, pages)}`;
  return showIn(view, home, { title: 'Wiki', tab: 'Wiki', body });
}

export async function showWikiPage(view: ViewContext): Promise<HttpResponse> {
  const home = await homeOf(view);
  const wiki = `${home.address}/-/wikis`;
  const page = await view.one(wikiEndpointsOf[home.kind].one, {
    id: home.id,
    slug: view.param('*'),
  });
  const folder = posix.dirname(page.slug);
  const text =
    page.format === 'markdown'
      ? await renderedMarkdown(view, page.content, {
          project: home.project,
          wiki: { address: wiki, folder: folder === '.' ? '' : inAddress(folder) },
        })
      : listingOf(view, page.content ?? '');
  const body = html`<p class="below"><a href="${wiki}">All pages</a></p>
<h1>${page.title}</h1>
${text ?? html`<p class="none">This page is empty.</p>`}`;
  return showIn(view, home, { title: page.title, tab: 'Wiki', body });
}
