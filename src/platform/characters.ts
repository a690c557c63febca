/** Lengths of texts in characters, as PostgreSQL counts them, where UTF-16 units are fewer at a time. */

export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** UTF-16 units bound the number of characters from both sides, so characters are counted only in doubt. */
export const hasMoreCharacters = (text: string, most: number): boolean =>
  text.length > most && (text.length > 2 * most || countCharacters(text) > most);
