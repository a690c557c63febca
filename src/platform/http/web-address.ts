/** Addresses of pages, which browsers may be sent to: others they would run, show or open. */

export function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') && url.hostname !== '';
}

/** Of a text, for the API's description; the empty one says that there is no page. */
export const webAddress = { ruled: { format: 'uri', pattern: '^(?:[Hh][Tt][Tt][Pp][Ss]?:|$)' } };
