/** Characters of texts: which PostgreSQL takes, and lengths in them, as PostgreSQL counts them, where UTF-16 units are fewer at a time. */

export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** UTF-16 units bound the number of characters from both sides, so characters are counted only in doubt. */
export const hasMoreCharacters = (text: string, most: number): boolean =>
  text.length > most && (text.length > 2 * most || countCharacters(text) > most);

/** Whether PostgreSQL stores the text: it takes neither NUL nor half a character. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();
