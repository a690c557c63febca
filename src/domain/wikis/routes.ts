/** The endpoints of wikis: one set, made for projects and for groups (facts: Wikis; Group wikis). */
import { type Access, onGroup, onProject } from '../../kernel/access/access.ts';
import type { Actor, Caller } from '../../kernel/actor.ts';
import { type Endpoint, endpoint, listing, noContent } from '../../kernel/api/endpoint.ts';
import type { Db } from '../../platform/db/database.ts';
import { attachFile, createPage, deletePage, noPage, updatePage } from './actions.ts';
import { findPage, listPages, readTexts } from './pages.ts';
import { presentPage } from './present.ts';
import { pageIds } from './queries.ts';
import {
  AttachmentInput,
  CreateInput,
  ListInput,
  ReadInput,
  SlugInput,
  UpdateInput,
  WikiAttachment,
  WikiPage,
  WikiPageItem,
} from './schema.ts';
import { readWiki, type Wiki, wikiOfGroup, wikiOfProject } from './wiki.ts';
import { presentPageBasic } from './wiki-pages.ts';

/** Larger bodies are refused before they are read: three times the default limit of a page. */
const PAGE_LIMIT = 16 * 1_048_576;
const ATTACHMENT_LIMIT = 32 * 1_048_576;

type Container<Subject> = {
  path: '/projects/:id/wikis' | '/groups/:id/wikis';
  /** The word for the summaries. */
  word: string;
  tier?: 'premium';
  read: Access<Subject, Caller>;
  write: Access<Subject, Actor>;
  remove: Access<Subject, Actor>;
  wikiOf(db: Db, subject: Subject): Promise<Wiki>;
};

function wikiEndpoints<Subject>(container: Container<Subject>) {
  const { path, word, read, write, remove, wikiOf } = container;
  const tier = container.tier && { tier: container.tier };
  const pathOfOne = `${path}/:slug` as const;
  return {
    list: listing({
      ...tier,
      method: 'GET',
      path,
      summary: `Pages of the wiki of a ${word}, by their paths.`,
      access: read,
      also: [422],
      page: 'offset',
      input: ListInput,
      item: WikiPageItem,
      async handle({ db, services, subject, input, page }) {
        const wiki = await wikiOf(db, subject);
        const start = page.kind === 'offset' ? page.offset : 0;
        const listed = await readWiki(services, wiki, 'HEAD', async (git, { tree }) => {
          const all = await listPages(git, tree);
          const pages = all.slice(start, start + page.perPage);
          return { all, pages, texts: input.with_content ? await readTexts(git, pages) : [] };
        });
        const { all, pages, texts } = listed ?? { all: [], pages: [], texts: [] };
        const ids = await pageIds(db, wiki, pages);
        const items = pages.map((each, index) => {
          const id = ids.get(each.slug) ?? 0;
          const text = texts[index];
          return text === undefined ? presentPageBasic(each, id) : presentPage(each, id, text);
        });
        const total = all.length > page.countLimit ? undefined : all.length;
        return { items, total, more: start + items.length < all.length };
      },
    }),
    create: endpoint({
      ...tier,
      method: 'POST',
      path,
      summary: `Make a page in the wiki of a ${word}.`,
      access: write,
      also: [422],
      input: CreateInput,
      bodyLimit: PAGE_LIMIT,
      reply: WikiPage,
      handle: async ({ db, subject, input, ...context }) =>
        createPage({ ...context, wiki: await wikiOf(db, subject) }, input),
    }),
    one: endpoint({
      ...tier,
      method: 'GET',
      path: pathOfOne,
      summary: `One page of the wiki of a ${word}.`,
      access: read,
      also: [422],
      input: ReadInput,
      reply: WikiPage,
      async handle({ db, services, subject, input }) {
        const wiki = await wikiOf(db, subject);
        const found = await readWiki(services, wiki, input.version || 'HEAD', async (git, { tree }) => {
          const page = await findPage(git, tree, input.slug);
          return page && { page, texts: await readTexts(git, [page]) };
        });
        if (!found) throw noPage();
        const { page, texts } = found;
        const ids = await pageIds(db, wiki, [page]);
        return presentPage(page, ids.get(page.slug) ?? 0, texts[0] ?? '');
      },
    }),
    update: endpoint({
      ...tier,
      method: 'PUT',
      path: pathOfOne,
      summary: `Change a page of the wiki of a ${word}; what is not sent stays as it is.`,
      access: write,
      also: [422],
      input: UpdateInput,
      bodyLimit: PAGE_LIMIT,
      reply: WikiPage,
      handle: async ({ db, subject, input, ...context }) =>
        updatePage({ ...context, wiki: await wikiOf(db, subject) }, input),
    }),
    remove: endpoint({
      ...tier,
      method: 'DELETE',
      path: pathOfOne,
      summary: `Delete a page of the wiki of a ${word}.`,
      access: remove,
      also: [422],
      input: SlugInput,
      reply: noContent,
      async handle({ db, subject, input, unmodified, ...context }) {
        await deletePage({ ...context, wiki: await wikiOf(db, subject) }, input.slug, unmodified);
        return null;
      },
    }),
    attach: endpoint({
      ...tier,
      method: 'POST',
      path: `${path}/attachments`,
      summary: `Keep a file in the wiki of a ${word}.`,
      also: [422],
      access: write,
      input: AttachmentInput,
      bodyLimit: ATTACHMENT_LIMIT,
      reply: WikiAttachment,
      handle: async ({ db, subject, input, ...context }) =>
        attachFile({ ...context, wiki: await wikiOf(db, subject) }, input),
    }),
  };
}

/** By what the wiki belongs to. */
export const wikiEndpointsOf = {
  project: wikiEndpoints({
    path: '/projects/:id/wikis',
    word: 'project',
    read: onProject('read_wiki'),
    write: onProject('write_wiki'),
    remove: onProject('delete_wiki_pages'),
    wikiOf: wikiOfProject,
  }),
  group: wikiEndpoints({
    path: '/groups/:id/wikis',
    word: 'group',
    tier: 'premium',
    read: onGroup('read_group_wiki'),
    write: onGroup('write_group_wiki'),
    remove: onGroup('delete_group_wiki_pages'),
    wikiOf: wikiOfGroup,
  }),
};

export const endpoints: Endpoint[] = [
  ...Object.values(wikiEndpointsOf.project),
  ...Object.values(wikiEndpointsOf.group),
];
