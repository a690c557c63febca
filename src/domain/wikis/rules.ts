/** How the title of a page, its slug, and the file that it is kept in belong together; and names of attachments. Pure. */
import { extname, posix } from 'node:path';
import { pathComponents } from '../../platform/git/names.ts';

/** The formats by their public names, each with the ending of new files. */
export const endings = { markdown: 'md', rdoc: 'rdoc', asciidoc: 'asciidoc', org: 'org' } as const;
export type Format = keyof typeof endings;
export const formats = ['markdown', 'rdoc', 'asciidoc', 'org'] as const satisfies readonly Format[];

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
const LONGEST_SLUG = 1_000;
const LONGEST_FOLDER = 255;
/** Leaves room for the longest ending. */
const LONGEST_NAME = 245;

/** The page that a file is; undefined for one that is no page, and for one whose path is too long to be kept. */
export function pageAt(path: string): PageName | undefined {
  const ending = extname(path);
  const format = formatOf(ending.slice(1));
  const slug = path.slice(0, path.length - ending.length);
  if (format === undefined || Buffer.byteLength(slug) > LONGEST_SLUG) return undefined;
  return { path, slug, title: posix.basename(slug).replaceAll('-', ' '), format };
}

/** The slug of a title: spaces become hyphens, folders stay, and no `..` leads out of the wiki. */
export const slugOf = (title: string): string =>
  posix.resolve('/', title.trim()).slice(1).replaceAll(' ', '-');

/** The page that a title and a format make; where there is none, what is wrong with the title. */
export function nameOf(title: string, ending: string): PageName | { problem: string } {
  const slug = slugOf(title);
  if (slug === '') return { problem: "can't be blank" };
  const parts = slug.split('/');
  const folder = parts.slice(0, -1).find((part) => Buffer.byteLength(part) > LONGEST_FOLDER);
  if (folder !== undefined)
    return { problem: `exceeds the limit of ${LONGEST_FOLDER} bytes for directory name "${folder}"` };
  if (Buffer.byteLength(parts.at(-1) ?? '') > LONGEST_NAME)
    return { problem: `exceeds the limit of ${LONGEST_NAME} bytes` };
  if (Buffer.byteLength(slug) > LONGEST_SLUG)
    return { problem: `exceeds the limit of ${LONGEST_SLUG} bytes` };
  const path = `${slug}.${ending}`;
  const page = pathComponents(path) && pageAt(path);
  return page ?? { problem: 'is invalid' };
}

/** The ending of a page that is changed to a format: its own as long as that is of the format. */
export const endingFor = (page: PageName, format: Format): string =>
  page.format === format ? extname(page.path).slice(1) : endings[format];

/** Bytes of an attachment's name. */
const LONGEST_ATTACHMENT = 200;

/** A file's name of letters, digits, `.`, `+`, `-` and `_`, that does not begin with a dot; its ending is kept. */
export function attachmentName(filename: string): string {
  const plain = filename.replaceAll(/[^\w.+-]/g, '_').replace(/^\.+/, '_') || '_';
  const ending = extname(plain).slice(0, LONGEST_ATTACHMENT / 2);
  return plain.length <= LONGEST_ATTACHMENT
    ? plain
    : `${plain.slice(0, LONGEST_ATTACHMENT - ending.length)}${ending}`;
}

const embedded = /\.(png|jpe?g|gif|bmp|tiff|ico|webp|avif|mp4|m4v|mov|webm|ogv|mp3|oga|ogg|spx|wav)$/i;

/** The Markdown that shows the attachment, or links to it. */
export const markdownOf = (name: string, url: string): string =>
  embedded.test(name) ? `![${posix.basename(name, extname(name))}](${url})` : `[${name}](${url})`;
