/** Search texts, as PostgreSQL matches them. */
import { badRequest } from '../failure.ts';

/** A pattern for `like`: the text anywhere, with `%` and `_` escaped. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** The public server's limit of a search. */
const MAX_TERMS = 64;

/**
 * The distinct terms of a search, whatever their case: all must match, and a repeated one would cost as much
 * again. 400 for too many.
 */
export function distinctTerms(terms: readonly string[]): string[] {
  const distinct = new Map(
    terms.flatMap((term) => (term === '' ? [] : [[term.toLowerCase(), term] as const])),
  );
  if (distinct.size > MAX_TERMS) throw badRequest(`search has too many words (maximum is ${MAX_TERMS})`);
  return [...distinct.values()];
}
