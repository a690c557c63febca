/** Pages of wikis, of projects and of groups. */
import { posix } from 'node:path';
import type { Answer } from '../../platform/http/answer.ts';
import { html } from '../../platform/http/html.ts';
import type { Looking } from './door.ts';
import { inAddress, listOf, pageNumber, pager, thing } from './parts.ts';
import { homeOf, showIn } from './places.ts';
import { listingOf, proseOf } from './prose.ts';

type WikiPage = { title: string; slug: string; format: string; content?: string };

/** The pages by their paths. */
export async function showWiki(looking: Looking): Promise<Answer> {
  const home = await homeOf(looking);
  const wiki = `${home.address}/-/wikis`;
  const pages = await looking.list<WikiPage>(`${home.api}/wikis`, {
    id: String(home.id),
    page: String(pageNumber(looking)),
    per_page: '100',
  });
  const rows = pages.items.map((page) =>
    thing(html`<a href="${wiki}/${inAddress(page.slug)}">${page.title}</a>`, page.slug),
  );
  const body = html`<h1>Wiki</h1>
${listOf(rows, 'No pages.')}
${pager(looking, pages)}`;
  return showIn(looking, home, { title: 'Wiki', tab: 'Wiki', body });
}

export async function showWikiPage(looking: Looking): Promise<Answer> {
  const home = await homeOf(looking);
  const wiki = `${home.address}/-/wikis`;
  const page = await looking.one<WikiPage>(`${home.api}/wikis/:slug`, {
    id: String(home.id),
    slug: looking.param('*'),
  });
  const folder = posix.dirname(page.slug);
  const text =
    page.format === 'markdown'
      ? await proseOf(looking, page.content, {
          project: home.project,
          wiki: { address: wiki, folder: folder === '.' ? '' : inAddress(folder) },
        })
      : listingOf(looking, page.content ?? '');
  const body = html`<p class="below"><a href="${wiki}">All pages</a></p>
<h1>${page.title}</h1>
${text ?? html`<p class="none">This page is empty.</p>`}`;
  return showIn(looking, home, { title: page.title, tab: 'Wiki', body });
}
