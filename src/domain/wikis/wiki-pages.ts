/** Wiki pages: the files that are pages, and the ids that stay while titles change. */
import { extname, posix } from 'node:path';

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
