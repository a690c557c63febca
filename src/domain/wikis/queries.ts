/** What the database knows of pages: an id for each that stays when the page gets another title. */
import { sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import type { PageName } from './rules.ts';
import type { Wiki } from './wiki.ts';

type Named = Pick<PageName, 'slug' | 'title'>;

/** The ids of pages by their slugs. Pages that came by a push have none before they are first looked at. */
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

/** Rows for the slugs, new or as they were. */
const keepPages = (db: Db, wiki: Wiki, pages: readonly Named[]): Promise<{ id: number; slug: string }[]> =>
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

/** The id of a page that was at the slug `from`, if it is no new one, and has this name now. */
export async function keepPage(tx: Db, wiki: Wiki, from: string | undefined, page: Named): Promise<number> {
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

export const forgetPage = (tx: Db, wiki: Wiki, slug: string) =>
  tx.deleteFrom('wiki_pages').where(wiki.owner, '=', wiki.id).where('slug', '=', slug).execute();
