/** Display of uploaded files. Pure. */
import { extname, posix } from 'node:path';

/** Pictures that a browser can only show; drawings that may have scripts are not among them. */
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

export const shownTypes: readonly string[] = [...new Set(Object.values(pictures))];

const endingOf = (filename: string): string => extname(filename).toLowerCase();

/** The type that a picture is shown as; undefined for a file that is only ever downloaded. */
export const pictureType = (filename: string): string | undefined =>
  Object.hasOwn(pictures, endingOf(filename)) ? pictures[endingOf(filename)] : undefined;

const isMedia = (filename: string): boolean =>
  /\.(mp4|m4v|mov|webm|ogv|mp3|oga|ogg|spx|wav)$/i.test(filename);

/** The alternative text, and the Markdown that embeds the file, or links to it. */
export function markdownOf(filename: string, url: string): { alt: string; markdown: string } {
  const embedded = pictureType(filename) !== undefined || isMedia(filename);
  const alt = embedded ? posix.basename(filename, extname(filename)) : filename;
  return { alt, markdown: `${embedded ? '!' : ''}[${alt}](${url})` };
}
