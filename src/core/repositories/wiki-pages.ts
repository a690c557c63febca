/** Pages of wikis: which files are pages, and the id that the database keeps for each while its title changes. */
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
  /** Of the file, from the top of the repository. */
  path: string;
  /** The path without the ending. */
  slug: string;
  title: string;
  format: Format;
};

/** Bytes of a slug: what an index of the database takes. */
export const MAX_SLUG_LENGTH = 1_000;

/** The page that a file is; undefined for one that is no page, and for one whose path is too long to be kept. */
export function pageAt(path: string): PageName | undefined {
  const ending = extname(path);
  const format = formatOf(ending.slice(1));
  const slug = path.slice(0, path.length - ending.length);
  if (format === undefined || Buffer.byteLength(slug) > MAX_SLUG_LENGTH) return undefined;
  return { path, slug, title: posix.basename(slug).replaceAll('-', ' '), format };
}

/** What a list shows of a page, and an activity event. */
export const presentPageBasic = ({ format, slug, title }: PageName, id: number) => ({
  format,
  slug,
  title,
  wiki_page_meta_id: id,
});

/** Whose pages they are: the column of wiki_pages that names the owner. */
export type WikiOwner = { owner: 'project_id' | 'group_id'; id: number };

type Named = Pick<PageName, 'slug' | 'title'>;

/** Rows for the slugs, new or as they were. */
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

/** The id of a page that was at the slug `from`, if it is no new one, and has this name now. */
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
