/** Addresses of web pages; browsers would run or open some other schemes. */

export function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') && url.hostname !== '';
}

/** For the API's description of a text; the empty one means no page. */
export const webAddress = { ruled: { format: 'uri', pattern: '^(?:[Hh][Tt][Tt][Pp][Ss]?:|$)' } };
