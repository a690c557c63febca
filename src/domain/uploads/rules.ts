/** Names of uploaded files, and how each is shown. Pure. */
import { extname, posix } from 'node:path';

/** Characters. */
const LONGEST_NAME = 200;

/** The file's own name without folders, of letters, digits, `_`, `.`, `-` and `+` of any script; its ending is kept. */
export function cleanName(filename: string): string {
  const own = posix.basename(filename.replaceAll('\\', '/'));
  const plain = own.replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}.+-]/gu, '_');
  if (plain === '') return 'unnamed';
  const named = /^\.+$/.test(plain) ? `_${plain}` : plain;
  if (named.length <= LONGEST_NAME) return named;
  const ending = extname(named).slice(0, LONGEST_NAME / 4);
  return `${named.slice(0, LONGEST_NAME - ending.length)}${ending}`.toWellFormed();
}

/** Pictures that a browser can do nothing with but show. Drawings that may hold scripts are not among them. */
const pictures: Record<string, string> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.bmp': 'image/bmp',
  '.webp': 'image/webp',
  '.ico': 'image/vnd.microsoft.icon',
  '.tiff': 'image/tiff',
};

const endingOf = (filename: string): string => extname(filename).toLowerCase();

/** The type that a picture is shown as; undefined for a file that is only ever downloaded. */
export const pictureType = (filename: string): string | undefined =>
  Object.hasOwn(pictures, endingOf(filename)) ? pictures[endingOf(filename)] : undefined;

const isMedia = (filename: string): boolean =>
  /\.(mp4|m4v|mov|webm|ogv|mp3|oga|ogg|spx|wav)$/i.test(filename);

/** What a text shows in its place, and the Markdown that shows it, or links to it. */
export function markdownOf(filename: string, url: string): { alt: string; markdown: string } {
  const embedded = pictureType(filename) !== undefined || isMedia(filename);
  const alt = embedded ? posix.basename(filename, extname(filename)) : filename;
  return { alt, markdown: `${embedded ? '!' : ''}[${alt}](${url})` };
}
