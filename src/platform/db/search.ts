/** Search texts, as PostgreSQL matches them. */
import { badRequest } from '../failure.ts';

/** Characters: more than a request line holds. */
const MAX_SEARCH = 10_000;

/** A pattern for `like`: the text as it stands. 400 for one that would take long to send. */
export function literally(text: string): string {
  if (text.length > MAX_SEARCH)
    throw badRequest(`search is too long (maximum is ${MAX_SEARCH.toLocaleString('en')} characters)`);
  return text.replace(/[\\%_]/g, '\\$&');
}

/** The same: the text anywhere. */
export const containing = (text: string): string => `%${literally(text)}%`;

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
