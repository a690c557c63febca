/** Titles of pages, their slugs and their files; and names of attachments. Pure. */
import { extname, posix } from 'node:path';
import { pathComponents } from '../../platform/git/names.ts';
import { type Format, MAX_SLUG_LENGTH, type PageName, pageAt } from './wiki-pages.ts';

/** The formats by their public names, each with the ending of new files. */
export const endings = {
  markdown: 'md',
  rdoc: 'rdoc',
  asciidoc: 'asciidoc',
  org: 'org',
} as const satisfies Record<Format, string>;

const MAX_FOLDER_LENGTH = 255;
/** So that the longest ending fits. */
const MAX_NAME_LENGTH = 245;

/** Characters of a title before it is made a slug, which is shorter. */
const MAX_TITLE_LENGTH = 10_000;

/** The slug of a title: spaces become hyphens, folders stay, and no `..` leads out of the wiki. */
export const slugOf = (title: string): string =>
  posix.resolve('/', title.trim()).slice(1).replaceAll(' ', '-');

/** The page of a title and a format; for an invalid title, its problem. */
export function nameOf(title: string, ending: string): PageName | { problem: string } {
  // Resolving a path takes time by the square of its slashes.
  if (title.length > MAX_TITLE_LENGTH) return { problem: `exceeds the limit of ${MAX_SLUG_LENGTH} bytes` };
  const slug = slugOf(title);
  if (slug === '') return { problem: "can't be blank" };
  const parts = slug.split('/');
  const folder = parts.slice(0, -1).find((part) => Buffer.byteLength(part) > MAX_FOLDER_LENGTH);
  if (folder !== undefined)
    return { problem: `exceeds the limit of ${MAX_FOLDER_LENGTH} bytes for directory name "${folder}"` };
  if (Buffer.byteLength(parts.at(-1) ?? '') > MAX_NAME_LENGTH)
    return { problem: `exceeds the limit of ${MAX_NAME_LENGTH} bytes` };
  if (Buffer.byteLength(slug) > MAX_SLUG_LENGTH)
    return { problem: `exceeds the limit of ${MAX_SLUG_LENGTH} bytes` };
  const path = `${slug}.${ending}`;
  const page = pathComponents(path) && pageAt(path);
  return page ?? { problem: 'is invalid' };
}

/** The ending of a page that is changed to a format: its own as long as that is of the format. */
export const endingFor = (page: PageName, format: Format): string =>
  page.format === format ? extname(page.path).slice(1) : endings[format];

/** Bytes of an attachment's name. */
const MAX_ATTACHMENT_LENGTH = 200;

/** A file's name of letters, digits, `.`, `+`, `-` and `_`, that does not begin with a dot; its ending is kept. */
export function attachmentName(filename: string): string {
  const plain = filename.replaceAll(/[^\w.+-]/g, '_').replace(/^\.+/, '_') || '_';
  const ending = extname(plain).slice(0, MAX_ATTACHMENT_LENGTH / 2);
  return plain.length <= MAX_ATTACHMENT_LENGTH
    ? plain
    : `${plain.slice(0, MAX_ATTACHMENT_LENGTH - ending.length)}${ending}`;
}

const embedded = /\.(png|jpe?g|gif|bmp|tiff|ico|webp|avif|mp4|m4v|mov|webm|ogv|mp3|oga|ogg|spx|wav)$/i;

/** The Markdown that embeds the attachment, or links to it. */
export const markdownOf = (name: string, url: string): string =>
  embedded.test(name) ? `![${posix.basename(name, extname(name))}](${url})` : `[${name}](${url})`;
