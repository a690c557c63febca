/** Pagination of lists: the requested page, and the headers with links to others (spec: Pagination). */
import { type Static, Type } from 'typebox';
import { Failure, invalid } from '../failure.ts';

const DEFAULT_PER_PAGE = 20;
const MAX_PER_PAGE = 100;

/** Query fields of every list. A larger `per_page` is clamped, not refused, so the schema has no maximum. */
export const pageFields = {
  page: Type.Optional(
    Type.Integer({ minimum: 1, default: 1, description: 'Index of the page, starting at 1.' }),
  ),
  per_page: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: DEFAULT_PER_PAGE,
      description: 'Items per page; more than 100 count as 100.',
    }),
  ),
};

/** Further query fields of lists with keyset pagination. Their defaults are in the list's rule. */
export const keysetFields = {
  pagination: Type.Optional(Type.String({ description: '`keyset` for keyset pagination.' })),
  order_by: Type.Optional(Type.String({ description: 'Column to order by.' })),
  sort: Type.Optional(Type.Enum(['asc', 'desc'], { type: 'string', description: 'Direction of the order.' })),
  id_after: Type.Optional(Type.Integer({ description: 'Only records whose id is greater.' })),
  id_before: Type.Optional(Type.Integer({ description: 'Only records whose id is smaller.' })),
  cursor: Type.Optional(Type.String({ description: 'Where the page starts, from the `Link` header.' })),
};

export type Sort = 'asc' | 'desc';

/** The type of an ordering column, so that no cursor has a value that the database refuses. */
export type ColumnKind = 'integer' | 'text' | 'time';

/**
 * The last row of a page: the ordering column, and `id` as the tie-breaker. Times are text in the column's
 * precision (microseconds), or rows of the same millisecond would be lost or repeated.
 */
export type CursorValues = Readonly<Record<string, string | number | null>>;

/** The keyset pagination of a list (spec: Pagination, Supported keyset resources). */
export type KeysetRule = {
  /** The record's name in error texts: `Project`. */
  type: string;
  orderBy: Readonly<Record<string, ColumnKind>>;
  sort: readonly Sort[];
  anonymous: boolean;
  signedIn: boolean;
  /** For a missing `order_by` or `sort`. */
  default: { orderBy: string; sort: Sort };
  /**
   * How the next page is identified: by `id_after` or `id_before` (order by id only), or by an opaque
   * `cursor`.
   */
  link: 'id' | 'cursor';
};

/** The decoded fields above, without the defaults of `order_by` and `sort` that a list has for offset pages. */
export type PageQuery = {
  [Name in keyof (typeof pageFields & typeof keysetFields)]?:
    | Static<(typeof pageFields & typeof keysetFields)[Name]>
    | undefined;
};

export type OffsetPage = { kind: 'offset'; page: number; perPage: number; offset: number };

export type KeysetPage = {
  kind: 'keyset';
  orderBy: string;
  sort: Sort;
  perPage: number;
  /** The page starts after this row; at the beginning when undefined. */
  after: CursorValues | undefined;
};

/** 405 with the text in both properties; the method is allowed, but not with these parameters. */
const notAvailable = (text: string): Failure =>
  new Failure('method_not_allowed', text, { error: text, headers: { allow: 'GET, HEAD' } });

/**
 * The requested page; offset pages end after `maximumOffset` records, 0 for no limit. Lists without keyset
 * pagination always use offsets, like the public API. Fails with 405 where a list lacks the requested keyset
 * pagination for this order or caller, or beyond the maximum offset; with 400 for a bad cursor (spec:
 * Pagination; Limits, Users listing).
 */
export function choosePagination(
  rule: KeysetRule | undefined,
  query: PageQuery,
  signedIn: boolean,
  maximumOffset: number,
): OffsetPage | KeysetPage {
  const perPage = Math.min(query.per_page ?? DEFAULT_PER_PAGE, MAX_PER_PAGE);
  if (rule && query.pagination === 'keyset') return chooseKeyset(rule, query, signedIn, perPage);

  const page = query.page ?? 1;
  const maximum = rule ? maximumOffset : 0;
  if (rule && maximum > 0 && page * perPage > maximum) {
    throw notAvailable(
      `Offset pagination has a maximum allowed offset of ${maximum} for requests that return objects of type ${rule.type}. ` +
        'Remaining records can be retrieved using keyset pagination.',
    );
  }
  return { kind: 'offset', page, perPage, offset: (page - 1) * perPage };
}

function chooseKeyset(rule: KeysetRule, query: PageQuery, signedIn: boolean, perPage: number): KeysetPage {
  const orderBy = query.order_by ?? rule.default.orderBy;
  const sort = query.sort ?? rule.default.sort;
  const open = signedIn ? rule.signedIn : rule.anonymous;
  if (!open || !Object.hasOwn(rule.orderBy, orderBy) || !rule.sort.includes(sort)) {
    throw notAvailable('Keyset pagination is not yet available for this type of request');
  }
  return { kind: 'keyset', orderBy, sort, perPage, after: startOf(rule, query, orderBy, sort) };
}

function startOf(rule: KeysetRule, query: PageQuery, orderBy: string, sort: Sort): CursorValues | undefined {
  if (rule.link === 'id') {
    const id = sort === 'asc' ? query.id_after : query.id_before;
    return id === undefined ? undefined : { id };
  }
  if (query.cursor === undefined) return undefined;
  return decodeCursor(query.cursor, { [orderBy]: rule.orderBy[orderBy] ?? 'text', id: 'integer' });
}

/** An opaque cursor: base64url JSON of the row's values, with `_kd: 'n'` for the next page. */
export const encodeCursor = (values: CursorValues): string =>
  Buffer.from(JSON.stringify({ ...values, _kd: 'n' })).toString('base64url');

/**
 * The values of a cursor, exactly those of the columns; 400 for a text that encodeCursor() did not make for
 * them.
 */
export function decodeCursor(text: string, columns: Readonly<Record<string, ColumnKind>>): CursorValues {
  const { _kd: direction, ...values } = parseCursor(text);
  const wanted = Object.entries(columns);
  const right = wanted.every(([name, kind]) => isOfKind(values[name], kind, name !== 'id'));
  if (direction !== 'n' || !right || Object.keys(values).length !== wanted.length) throw badCursor();
  return values;
}

const badCursor = (): Failure => invalid({ cursor: ['is invalid'] });

function parseCursor(text: string): Record<string, string | number | null> {
  if (!/^[\w-]+={0,2}$/.test(text)) throw badCursor();
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'base64url')));
  } catch {
    throw badCursor();
  }
  if (!isFlatRecord(parsed)) throw badCursor();
  return parsed;
}

const isFlatRecord = (value: unknown): value is Record<string, string | number | null> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((each) => each === null || typeof each === 'string' || typeof each === 'number');

const TIME = /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/;

function isOfKind(value: string | number | null | undefined, kind: ColumnKind, nullable: boolean): boolean {
  if (value === null) return nullable;
  if (kind === 'integer') return Number.isSafeInteger(value);
  if (typeof value !== 'string') return false;
  return kind === 'text' ? !value.includes('\0') : TIME.test(value) && !Number.isNaN(Date.parse(value));
}

/** The address in links: trusted origin, path as requested, and raw query without `?`. */
export type RequestAddress = { origin: string; path: string; query: string };

/**
 * Headers of an offset page; totals and last page are left out when they are unknown (spec: Pagination
 * headers).
 */
export function offsetHeaders(list: {
  address: RequestAddress;
  page: number;
  perPage: number;
  /** Undefined when there are more records than are counted. */
  total: number | undefined;
  hasNext: boolean;
  /** The hosted offering omits the two headers in any case. */
  omitTotals: boolean;
}): Record<string, string> {
  const { page, perPage, total } = list;
  const pages = total === undefined ? undefined : Math.max(1, Math.ceil(total / perPage));
  const previous = page > 1 && page <= (pages ?? page) ? page - 1 : undefined;
  const next = list.hasNext ? page + 1 : undefined;
  const linkTo = (relation: string, target: number | undefined): string[] =>
    target === undefined
      ? []
      : [link(list.address, { page: String(target), per_page: String(perPage) }, relation)];

  return {
    'x-page': String(page),
    'x-per-page': String(perPage),
    'x-prev-page': String(previous ?? ''),
    'x-next-page': String(next ?? ''),
    ...(total !== undefined &&
      !list.omitTotals && { 'x-total': String(total), 'x-total-pages': String(pages) }),
    link: [
      ...linkTo('prev', previous),
      ...linkTo('next', next),
      ...linkTo('first', 1),
      ...linkTo('last', pages),
    ].join(', '),
  };
}

/**
 * The `Link` header of a keyset page, or undefined when the page is empty: only an empty page is the end, so
 * a full one needs no look ahead (spec: Pagination). `last` is the page's last row, with ordering column and
 * id.
 */
export function keysetLink(
  address: RequestAddress,
  rule: KeysetRule,
  page: KeysetPage,
  last: CursorValues | undefined,
): string | undefined {
  if (last === undefined) return undefined;
  const { orderBy, sort, perPage } = page;
  const place =
    rule.link === 'id'
      ? { [sort === 'asc' ? 'id_after' : 'id_before']: String(last.id) }
      : { cursor: encodeCursor({ [orderBy]: last[orderBy] ?? null, id: last.id ?? null }) };
  const order = { pagination: 'keyset', per_page: String(perPage), order_by: orderBy, sort };
  return link(address, { ...order, ...place }, 'next');
}

/** The `Link` header of a page of git's, whose next page starts at an opaque token. */
export const tokenLink = (address: RequestAddress, perPage: number, token: string): string =>
  link(address, { pagination: 'keyset', per_page: String(perPage), page_token: token }, 'next');

const link = (address: RequestAddress, changes: Record<string, string>, relation: string): string =>
  `<${plain(`${address.origin}${address.path}?${changeQuery(address.query, changes)}`)}>; rel="${relation}"`;

/** The raw query with some values replaced in place, or appended; the rest is unchanged. */
function changeQuery(query: string, changes: Record<string, string>): string {
  const missing = new Map(Object.entries(changes));
  const kept = query.split('&').flatMap((part) => {
    const name = nameOf(part);
    if (part === '' || (Object.hasOwn(changes, name) && !missing.has(name))) return [];
    const value = missing.get(name);
    missing.delete(name);
    return [value === undefined ? part : `${name}=${value}`];
  });
  return [...kept, ...[...missing].map(([name, value]) => `${name}=${value}`)].join('&');
}

const nameOf = (part: string): string => [...new URLSearchParams(part).keys()][0] ?? '';

/** Percent-encodes characters that could end the link or split the header; Node sends headers as Latin-1. */
const plain = (url: string): string =>
  url.replace(
    /[^\x21-\x7e]|[<>"\\^`{|}]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`,
  );
