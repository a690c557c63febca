/** Parses a search text: the words that must all occur, or the number that it names. Pure. */
import { containing, distinctTerms, literally } from '../../platform/db/search.ts';
import { badRequest } from '../../platform/failure.ts';

/** Fewer letters than these have no trigram of their own. */
const MIN_LENGTH = 3;

/**
 * Patterns for `ilike`, all of which must match: one for each word of three letters and up, and each quoted
 * phrase. A text without any matches only its exact copy, which the index can find too. 400 for no words, or
 * too many.
 */
export function patternsOf(text: string): string[] {
  const whole = text.trim();
  if (whole === '') throw badRequest('search is empty');
  const terms = [...whole.matchAll(/"([^"]+)"|([^\s"]+)/g)].map(([, phrase, word]) => phrase ?? word ?? '');
  const long = distinctTerms(terms.map((term) => term.trim())).filter(
    (term) => [...term].length >= MIN_LENGTH,
  );
  return long.length > 0 ? long.map(containing) : [literally(whole)];
}

const MAX_IID = 2_147_483_647;

/** The number that `#12`, or `!12`, names; undefined for any other text. */
export function numberOf(text: string, sign: '#' | '!'): number | undefined {
  const [, found, digits] = /^([#!])(\d{1,10})$/.exec(text.trim()) ?? [];
  const number = found === sign ? Number(digits) : Number.NaN;
  return number <= MAX_IID ? number : undefined;
}
