/** Addresses on this site in requests, which lead nowhere else. */

/** Characters: an authorization is led back to with all its parameters. */
const MAX_ADDRESS_LENGTH = 16_384;

const NOWHERE = 'http://here.invalid';

/** The path on this site that the text names, or `/`: never another site's address, however it is written. */
export function localPath(text: string): string {
  if (!text.startsWith('/') || text.length > MAX_ADDRESS_LENGTH || /[\\\p{Cc}]/u.test(text)) return '/';
  const url = URL.parse(text, NOWHERE);
  if (url?.origin !== NOWHERE) return '/';
  const path = url.pathname + url.search + url.hash;
  // `/.//host` resolves to `//host`, which a browser takes for another site.
  return path.startsWith('//') ? '/' : path;
}
