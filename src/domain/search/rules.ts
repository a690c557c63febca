/** Parses a search text: the words that must all occur, and for files the filters that may stand in it. Pure. */
import { posix } from 'node:path';
import { containing, distinctTerms, literally } from '../../platform/db/search.ts';
import { badRequest } from '../../platform/failure.ts';
import { fits } from '../../platform/wildcard.ts';

/** Fewer letters than these have no trigram of their own. */
const MIN_LENGTH = 3;
const MAX_FILTERS = 64;

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

/** The number that `#12` names; undefined for any other text. */
export function numberOf(text: string): number | undefined {
  const [, digits] = /^#(\d{1,10})$/.exec(text.trim()) ?? [];
  const number = Number(digits ?? Number.NaN);
  return number <= MAX_IID ? number : undefined;
}

type FileFilter = { name: 'filename' | 'path' | 'extension'; value: string; excluded: boolean };
type FileSearch = { text: string; filters: FileFilter[] };

/** The text to find in files, and its filters: `filename:`, `path:` and `extension:`, each with `*`, or `-` before it. */
export function fileSearchOf(search: string): FileSearch {
  const filters: FileFilter[] = [];
  const text = search
    .replaceAll(/(^|\s)(-?)(filename|path|extension):(\S+)/gi, (_, _space, minus, name, value) => {
      filters.push({ name: name.toLowerCase(), value: value.toLowerCase(), excluded: minus === '-' });
      return ' ';
    })
    .trim();
  if (text === '' && filters.length === 0) throw badRequest('search is empty');
  if (filters.length > MAX_FILTERS)
    throw badRequest(`search has too many filters (maximum is ${MAX_FILTERS})`);
  return { text, filters };
}

/** Whether a path passes all filters. */
export function passes(path: string, filters: readonly FileFilter[]): boolean {
  const lower = path.toLowerCase();
  const name = posix.basename(lower);
  return filters.every(({ name: kind, value, excluded }) => {
    const matches =
      kind === 'path'
        ? fits(lower, `*${value}*`)
        : fits(name, kind === 'filename' ? value : `*.${value.replace(/^\./, '')}`);
    return matches !== excluded;
  });
}
