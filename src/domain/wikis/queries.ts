/** Rows of pages: an id for each that stays when the page gets another title. */

import type { Db } from '../../platform/db/database.ts';
import type { Wiki } from './wiki.ts';
import { keepPages, type PageName } from './wiki-pages.ts';

type Named = Pick<PageName, 'slug' | 'title'>;

/** The ids of pages by their slugs. A pushed page has none before its first read. */
export async function pageIds(db: Db, wiki: Wiki, pages: readonly Named[]): Promise<Map<string, number>> {
  // Two files of different formats may have one slug.
  const wanted = new Map(pages.map((page) => [page.slug, page]));
  if (wanted.size === 0) return new Map();
  const known = await db
    .selectFrom('wiki_pages')
    .select(['id', 'slug'])
    .where(wiki.owner, '=', wiki.id)
    .where('slug', 'in', [...wanted.keys()])
    .execute();
  for (const { slug } of known) wanted.delete(slug);
  const added = wanted.size === 0 ? [] : await keepPages(db, wiki, [...wanted.values()]);
  return new Map([...known, ...added].map(({ id, slug }) => [slug, id]));
}
