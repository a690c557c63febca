/** Keeps the pages of a wiki in the table that searches and events read. */

import { sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import type { PageName, WikiOwner } from './wiki-pages.ts';

type Named = Pick<PageName, 'slug' | 'title'>;

/** Rows for the slugs, inserted or as they were. */
export const keepPages = (
  db: Db,
  wiki: WikiOwner,
  pages: readonly Named[],
): Promise<{ id: number; slug: string }[]> =>
  db
    .insertInto('wiki_pages')
    .values(pages.map(({ slug, title }) => ({ [wiki.owner]: wiki.id, slug, title, created_at: now() })))
    .onConflict((conflict) =>
      conflict
        .columns([wiki.owner, 'slug'])
        .where(wiki.owner, 'is not', null)
        .doUpdateSet({ title: sql<string>`excluded.title` }),
    )
    .returning(['id', 'slug'])
    .execute();

/** The id of a page that is renamed from the slug `from`, or is new. */
export async function keepPage(
  tx: Db,
  wiki: WikiOwner,
  from: string | undefined,
  page: Named,
): Promise<number> {
  if (from !== undefined && from !== page.slug) {
    // A page that a push removed may have left its row.
    await forgetPage(tx, wiki, page.slug);
    const { slug, title } = page;
    const renamed = await tx
      .updateTable('wiki_pages')
      .set({ slug, title })
      .where(wiki.owner, '=', wiki.id)
      .where('slug', '=', from)
      .returning('id')
      .executeTakeFirst();
    if (renamed) return renamed.id;
  }
  return (await keepPages(tx, wiki, [page]))[0]?.id ?? 0;
}

export const forgetPage = (tx: Db, wiki: WikiOwner, slug: string) =>
  tx.deleteFrom('wiki_pages').where(wiki.owner, '=', wiki.id).where('slug', '=', slug).execute();
