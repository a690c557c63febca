/** Keeps the pages of a wiki in the table that searches and events read. */

import { sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import { ahead, type Db } from '../../platform/db/database.ts';
import { runAsOne, type StatementParts } from '../../platform/db/run-as-one.ts';
import type { PageName, WikiOwner } from './wiki-pages.ts';

type Named = Pick<PageName, 'slug' | 'title'>;

const keeping = (db: Db, wiki: WikiOwner, pages: readonly Named[]) =>
  db
    .insertInto('wiki_pages')
    .values(pages.map(({ slug, title }) => ({ [wiki.owner]: wiki.id, slug, title, created_at: now() })))
    .onConflict((conflict) =>
      conflict
        .columns([wiki.owner, 'slug'])
        .where(wiki.owner, 'is not', null)
        .doUpdateSet({ title: sql<string>`excluded.title` }),
    )
    .returning(['id', 'slug']);

/** Rows for the slugs, inserted or as they were. */
export const keepPages = (
  db: Db,
  wiki: WikiOwner,
  pages: readonly Named[],
): Promise<{ id: number; slug: string }[]> => keeping(db, wiki, pages).execute();

/** The id of a page that is renamed from the slug `from`, or is new; `beside` is run with the same statement. */
export async function keepPage(
  db: Db,
  wiki: WikiOwner,
  from: string | undefined,
  page: Named,
  beside: StatementParts = { statements: [] },
): Promise<number> {
  if (from === undefined || from === page.slug) {
    const [kept] = await runAsOne(db, beside, keeping(db, wiki, [page]));
    return kept?.id ?? 0;
  }
  // A page that a push removed may have left its row.
  await forgetPage(db, wiki, page.slug);
  const { slug, title } = page;
  const renaming = db
    .updateTable('wiki_pages')
    .set({ slug, title })
    .where(wiki.owner, '=', wiki.id)
    .where('slug', '=', from)
    .returning('id');
  const [renamed] = await runAsOne(db, beside, renaming);
  return renamed?.id ?? keepPage(db, wiki, undefined, page);
}

export async function forgetPage(tx: Db, wiki: WikiOwner, slug: string): Promise<void> {
  await ahead(tx).deleteFrom('wiki_pages').where(wiki.owner, '=', wiki.id).where('slug', '=', slug).execute();
}
