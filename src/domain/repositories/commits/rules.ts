/** Decisions about commits and their lists. Pure. */

import type { HistoryFilter, Window } from '../../../platform/git/history/history.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import type { Page, PageRequest } from '../../../platform/pagination/page.ts';
import type { ListInput } from './schema.ts';

/** The page's part of an endless list. */
export const windowOf = (page: PageRequest): Window => ({
  offset: page.kind === 'offset' ? page.offset : 0,
  limit: page.perPage,
});

/** The page of a list of `total`, of which `items` are the page's own. */
export const countedPage = <T>(page: PageRequest, items: T[], total: number): Page<T> => ({
  items,
  total: total > page.countLimit ? undefined : total,
  more: windowOf(page).offset + items.length < total && items.length > 0,
});

const secondsOf = (time: string | undefined): number | undefined =>
  time === undefined ? undefined : Date.parse(time) / 1_000;

export const historyFilter = (input: ListInput): HistoryFilter => ({
  since: secondsOf(input.since),
  until: secondsOf(input.until),
  path: input.path,
  author: input.author,
  firstParent: input.first_parent,
  topological: input.order === 'topo',
});

/** The program that signed a commit; undefined for an unsigned one. */
export function signatureType({ signature }: Pick<Commit, 'signature'>): 'PGP' | 'SSH' | 'X509' | undefined {
  if (signature === undefined) return undefined;
  if (signature.startsWith('-----BEGIN SSH SIGNATURE-----')) return 'SSH';
  return signature.startsWith('-----BEGIN SIGNED MESSAGE-----') ? 'X509' : 'PGP';
}
