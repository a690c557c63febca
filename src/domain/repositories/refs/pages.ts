/** A page of branches or tags, and the headers that lead to the others (spec: Pagination). */
import Type, { type Static } from 'typebox';
import type { Needs } from '../../../kernel/services.ts';
import type { Ref } from '../../../platform/git/refs.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { stringEnum } from '../../../platform/http/parameters/schema.ts';
import {
  choosePagination,
  offsetHeaders,
  pageFields,
  tokenLink,
} from '../../../platform/pagination/pagination.ts';
import { startBehind } from './rules.ts';

const fields = Type.Object({
  ...pageFields,
  search: Type.Optional(
    Type.String({ maxLength: 1_000, description: 'Part of the name; `^` and `$` stand for its ends.' }),
  ),
  pagination: Type.Optional(stringEnum(['legacy', 'keyset'])),
  page_token: Type.Optional(Type.String({ description: 'The name that the page before ended with.' })),
});
/** Query fields of both lists. */
export const refListFields = fields.properties;

export type RefPage = { refs: readonly Ref[]; headers: Record<string, string> };

/** The requested page of all refs that were found, in their order. */
export function pageOfRefs(
  refs: readonly Ref[],
  order: string,
  requested: Static<typeof fields>,
  request: HttpRequest,
  { config }: Needs<'config'>,
): RefPage {
  const address = { origin: request.origin, path: request.path, query: request.query };
  const { page = 1 } = requested;
  const { perPage } = choosePagination(undefined, { per_page: requested.per_page }, true, 0);
  if (requested.pagination === 'keyset' || requested.page_token !== undefined) {
    const start = requested.page_token ? startBehind(refs, requested.page_token, order) : 0;
    const items = refs.slice(start, start + perPage);
    const last = items.at(-1);
    // Only an empty page is the end, as in all keyset lists.
    return {
      refs: items,
      headers: last ? { link: tokenLink(address, perPage, encodeURIComponent(last.name)) } : {},
    };
  }
  const items = refs.slice((page - 1) * perPage, page * perPage);
  const total = refs.length > config.paginationCountLimit ? undefined : refs.length;
  const omitTotals = config.offering === 'hosted';
  const hasNext = refs.length > page * perPage;
  return { refs: items, headers: offsetHeaders({ address, page, perPage, total, hasNext, omitTotals }) };
}
