/** Search texts, as PostgreSQL matches them. */
import { badRequest } from '../failure.ts';

/** A pattern for `like`: the text anywhere, with `%` and `_` as the letters that they are. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** The public server's bound of a search. */
const MAX_TERMS = 64;

/**
 * The terms of a search, each once, however it is written: all of them must be found, and each one asked for again costs as
 * much as the first time. 400 for too many.
 */
export function distinctTerms(terms: readonly string[]): string[] {
  const distinct = new Map(
    terms.flatMap((term) => (term === '' ? [] : [[term.toLowerCase(), term] as const])),
  );
  if (distinct.size > MAX_TERMS) throw badRequest(`search has too many words (maximum is ${MAX_TERMS})`);
  return [...distinct.values()];
}
