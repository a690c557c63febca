/** Parses the text of a search in files: the text to find, and the filters that may stand in it. Pure. */
import { posix } from 'node:path';
import { badRequest } from '../../../platform/failure.ts';
import { fits } from '../../../platform/patterns/wildcard.ts';

const MAX_FILTERS = 64;

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
