/** Lists of branches and tags: matches of a search, and the beginning of a page. Pure. */
import { invalid } from '../../../platform/failure.ts';
import type { Ref } from '../../../platform/git/refs.ts';

/** Matches names: `^a` at the beginning, `a$` at the end, `^a$` the whole; upper and lower case are the same. */
export function matchesSearch(search: string | undefined): (name: string) => boolean {
  if (search === undefined || search === '') return () => true;
  const text = search.toLowerCase();
  const begins = text.startsWith('^');
  const ends = text.endsWith('$');
  const word = text.slice(begins ? 1 : 0, ends ? -1 : undefined);
  return (name) => {
    const lower = name.toLowerCase();
    if (begins && ends) return lower === word;
    if (begins) return lower.startsWith(word);
    return ends ? lower.endsWith(word) : lower.includes(word);
  };
}

/**
 * The index behind the ref that a page token names. In an order of names the ref itself may be gone
 * meanwhile; elsewhere a token without its ref is a 400.
 */
export function startBehind(refs: readonly Ref[], token: string, order: string): number {
  const at = refs.findIndex(({ name }) => name === token);
  if (at >= 0) return at + 1;
  if (order !== 'name' && order !== 'name_desc') throw invalid({ page_token: ['is invalid'] });
  const sign = order === 'name' ? 1 : -1;
  // As git orders them: by their bytes.
  const next = refs.findIndex(({ name }) => sign * Buffer.compare(Buffer.from(name), Buffer.from(token)) > 0);
  return next < 0 ? refs.length : next;
}
