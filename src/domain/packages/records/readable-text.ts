/** Texts of packages as programs read them. Pure. */

/** Controls, halves of pairs, and what is no character: XML and JSON do not have them in common. */
const UNREADABLE = /[^\P{Cc}\t\n\r]|[\ufffe\uffff]|\p{Surrogate}/gu;

/** The readable characters of the text, so many at most; what is behind twice as many is not looked at. */
export const readableText = (text: string, most: number): string =>
  [...text.slice(0, 2 * most).replaceAll(UNREADABLE, '')].slice(0, most).join('');
