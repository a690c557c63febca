/** Wiki pages: the files that are pages, and the ids that stay while titles change. */
import { extname, posix } from 'node:path';
import { sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';

/** The formats by their public names. */
export const formats = ['markdown', 'rdoc', 'asciidoc', 'org'] as const;
export type Format = (typeof formats)[number];

const formatOf = (ending: string): Format | undefined => {
  if (/^(md|mkdn?|mdown|markdown)$/i.test(ending)) return 'markdown';
  if (/^(adoc|asciidoc)$/i.test(ending)) return 'asciidoc';
  return formats.find((format) => format === ending.toLowerCase());
};

export type PageName = {
  /** The file's path from the top of the repository. */
  path: string;
  /** The path without the ending. */
  slug: string;
  title: string;
  format: Format;
};

/** Bytes, as a database index limits them. */
export const MAX_SLUG_LENGTH = 1_000;

/** The page of a file; undefined for a file that is no page, and for a path that is too long. */
export function pageAt(path: string): PageName | undefined {
  const ending = extname(path);
  const format = formatOf(ending.slice(1));
  const slug = path.slice(0, path.length - ending.length);
  if (format === undefined || Buffer.byteLength(slug) > MAX_SLUG_LENGTH) return undefined;
  return { path, slug, title: posix.basename(slug).replaceAll('-', ' '), format };
}

/** The basic record, in lists and activity events. */
export const presentPageBasic = ({ format, slug, title }: PageName, id: number) => ({
  format,
  slug,
  title,
  wiki_page_meta_id: id,
});

/** The owner of the pages: its column in wiki_pages, and its id. */
export type WikiOwner = { owner: 'project_id' | 'group_id'; id: number };

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
