/** Selects a page of a list, by offset or by keyset, with the capped count for the headers. */
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/rows.ts';
import type { CursorValues, KeysetPage, OffsetPage } from './pagination.ts';

/** The requested page, and the number of records above which counting stops. */
export type PageRequest = (OffsetPage | KeysetPage) & { countLimit: number };

export type Page<T> = {
  items: T[];
  /** Undefined above the count limit, and for keyset pages. */
  total: number | undefined;
  more: boolean;
  /** The last row of a keyset page. */
  last?: CursorValues;
};

/** Column expressions by their names in `order_by`; `id` is the tie-breaker. */
export type OrderColumns = Record<string, string>;

export type Order = { by: string; sort: 'asc' | 'desc' };

type Builder<Tb extends keyof Tables, O> = SelectQueryBuilder<Tables, Tb, O>;

/** A value of a row in a cursor. */
const cursorValue = (value: unknown): string | number | null => {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'string' || typeof value === 'number' ? value : null;
};

/**
 * One page of `query` (filters and selection set; no order, no limit) in at most two statements. The rows must select
 * `id` and, under keyset, the ordering column under its `order_by` name.
 */
export async function selectPage<Tb extends keyof Tables, O extends { id: number }>(
  db: Db,
  query: Builder<Tb, O>,
  page: PageRequest,
  order: Order,
  columns: OrderColumns,
): Promise<Page<O>> {
  const { by, sort } = page.kind === 'keyset' ? { by: page.orderBy, sort: page.sort } : order;
  const column = sql.raw(columns[by] ?? columns.id ?? 'id');
  const id = sql.raw(columns.id ?? 'id');
  const direction = sql.raw(sort);
  const ordered = (builder: Builder<Tb, O>) =>
    by === 'id'
      ? builder.orderBy(sql`${id} ${direction}`)
      : builder.orderBy(sql`${column} ${direction}`).orderBy(sql`${id} ${direction}`);

  if (page.kind === 'keyset') {
    const beyond = sql.raw(sort === 'asc' ? '>' : '<');
    const start = page.after;
    const from =
      start === undefined
        ? query
        : query.where(
            by === 'id'
              ? sql<boolean>`${id} ${beyond} ${start.id}`
              : sql<boolean>`(${column}, ${id}) ${beyond} (${start[by]}, ${start.id})`,
          );
    const items = await ordered(from).limit(page.perPage).execute();
    const end: Record<string, unknown> | undefined = items.at(-1);
    const last = end && { [by]: cursorValue(end[by]), id: cursorValue(end.id) };
    return { items, total: undefined, more: items.length === page.perPage, ...(last && { last }) };
  }

  const count = () =>
    db
      .selectFrom(
        query
          .clearSelect()
          .select(sql`1`.as('one'))
          .limit(page.countLimit + 1)
          .as('counted'),
      )
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
  const rows = await ordered(query)
    .limit(page.perPage + 1)
    .offset(page.offset)
    .execute();
  return offsetPage(page, rows, async () => Number((await count()).count));
}

/**
 * The page whose `rows` were read from its offset, with one row more where there are more. `count` is called
 * only when the end is not reached, and need not count beyond the count limit and one.
 */
export async function offsetPage<T>(
  page: PageRequest & { kind: 'offset' },
  rows: readonly T[],
  count: () => Promise<number>,
): Promise<Page<T>> {
  const items = rows.slice(0, page.perPage);
  const more = rows.length > page.perPage;
  const ends = !more && (items.length > 0 || page.page === 1);
  const total = ends ? page.offset + items.length : await count();
  return { items, total: total > page.countLimit ? undefined : total, more };
}

/** The page with its items mapped. */
export const mapPage = <T, U>(page: Page<T>, present: (item: T) => U): Page<U> => ({
  ...page,
  items: page.items.map(present),
});
