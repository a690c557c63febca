/**
 * Lists of issues and the like over projects. The projects in which the caller reads them come first, and do not grow with
 * them; from each, the first in the list's order are read by its own index, up to the page. A filter that few match starts
 * from those instead.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import { offsetPage, type Page, type PageRequest } from '../../../platform/pagination/page.ts';
import type { CursorValues } from '../../../platform/pagination/pagination.ts';

export type Condition = RawBuilder<SqlBool>;

/** A statement giving ids of what is listed, below the CTEs of a list; `tail` orders them, by their number as `1`, and bounds them. */
export type Seed = (tail: RawBuilder<unknown>) => RawBuilder<unknown>;

/** A condition over the listed rows `i` and, where an index finds all its matches, the statement that does. */
export type Clause = { where: Condition; seed?: Seed };

/** The conditions of a list, joined by `and`. */
export type Filter = readonly Clause[];

/** What a caller sees. */
export type Visible = {
  /** CTEs for a `with`, among them `listed_projects(id)`: the projects in which the caller reads what is listed. */
  ctes: RawBuilder<unknown>;
  /** Over the rows `i` joined with `listed_projects v on v.id = i.project_id`. */
  condition: Condition;
  /** The same over the rows alone, for many of them: the projects are looked up in a table made once. */
  conditionAlone: Condition;
};

/** An expression over `i`; of a nullable one, rows without a value come last in both directions. */
export type Order = { place: string; nullable?: boolean };

/** What is listed: a table with `id`, `project_id`, `created_at` and `updated_at`. */
export type Listed<By extends string> = {
  table: 'issues' | 'merge_requests';
  /** The values of `order_by`. */
  orders: Record<By, Order>;
};

/** The orders that both kinds have; `column` refers to them in `label_links`. */
export function plannedOrders(column: 'issue_id' | 'merge_request_id') {
  const labelPriority = `(select min(order_lp.priority) from label_links order_ll
  join label_priorities order_lp on order_lp.label_id = order_ll.label_id and order_lp.project_id = i.project_id
  where order_ll.${column} = i.id)`;
  const milestoneDue = '(select order_m.due_date from milestones order_m where order_m.id = i.milestone_id)';
  return {
    id: { place: 'i.id' },
    created_at: { place: 'i.created_at' },
    updated_at: { place: 'i.updated_at' },
    title: { place: 'i.title' },
    popularity: { place: 'i.upvotes' },
    milestone_due: { place: milestoneDue, nullable: true },
    label_priority: { place: labelPriority, nullable: true },
    priority: {
      place: `array[coalesce(${milestoneDue} - date '2000-01-01', 2147483647), coalesce(${labelPriority}, 2147483647)]`,
    },
  } as const satisfies Record<string, Order>;
}

export type ListQuery<By extends string> = {
  visible: Visible;
  filter: Filter;
  by: By;
  sort: 'asc' | 'desc';
};

const fragment = (text: string): RawBuilder<unknown> => sql.raw(text);
const all = (conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
  sql.join(conditions, fragment(' and '));
/** The conditions, without that of the clause that found the rows. */
const wheres = (filter: Filter, found?: Clause): Condition[] =>
  filter.flatMap((clause) => (clause === found ? [] : clause.where));

/** With at most so many matches, reading and sorting them beats walking through the projects. */
const FEW_MATCHES = 1_000;

/** The clause with the fewest matches by its index. */
type Seeded = { clause: Clause; seed: Seed; isFew: boolean };

/** With more in the listed projects, a clause is not counted to compare the two. */
const MANY_LISTED = 100_000;

/** The plan of a list: from a clause, or from the projects down to a time. */
type Way = { seeded?: Seeded; until?: Date };

/** Newest matches that are read to bound the scan of each project. */
const SCANNED_MATCHES = 300;

/** Row limits of a first page and of the longest: as literals, so that the planner plans once, for few. */
const FEW_ROWS = [21, 101];
const few = (rows: number): RawBuilder<unknown> => {
  const bound = FEW_ROWS.find((each) => each >= rows);
  return bound === undefined ? sql`${rows}` : fragment(String(bound));
};

type Listable = { id: number; state: string };

/** The lists of one table. */
export function listsOf<Row extends Listable, By extends string>({ table, orders }: Listed<By>) {
  type Query = ListQuery<By>;
  type Selected = Pick<Query, 'visible' | 'filter'>;
  const rowsOf = fragment(`${table} i`);
  const joined = fragment(`${table} i join listed_projects v on v.id = i.project_id`);

  function ordering({ by, sort }: Query): { place: string; order: RawBuilder<unknown> } {
    const { place, nullable }: Order = orders[by];
    return { place, order: fragment(`order by place ${sort}${nullable ? ' nulls last' : ''}, id ${sort}`) };
  }

  function orderOf({ by, sort }: Query): RawBuilder<unknown> {
    const { nullable }: Order = orders[by];
    return fragment(`page.place ${sort}${nullable ? ' nulls last' : ''}, page.id ${sort}`);
  }

  /** Whether a clause matches as many rows as the listed projects have: most are in other projects. */
  async function leadsElsewhere(db: Db, { ctes }: Visible, seed: Seed): Promise<boolean> {
    const { rows } = await sql<{ elsewhere: boolean }>`
    with ${ctes}, listed as materialized (
      select coalesce(sum(${sql.ref(table)}), 0) as rows from project_counters
      where project_id in (select id from listed_projects))
    select case when rows > ${fragment(String(MANY_LISTED))} then false
      else rows <= (select count(*) from (${seed(sql`limit (select rows from listed)`)}) counted) end as elsewhere
    from listed`.execute(db);
    return rows[0]?.elsewhere ?? false;
  }

  /** The best clause to start from, if any; counted no further than FEW_MATCHES at first. */
  async function seedOf(db: Db, { visible, filter }: Selected): Promise<Seeded | undefined> {
    const seeded = filter.flatMap((clause) => (clause.seed ? [{ clause, seed: clause.seed }] : []));
    const [first] = seeded;
    if (!first) return undefined;
    const bound = fragment(`limit ${FEW_MATCHES + 1}`);
    const counts = seeded.map(({ seed }) => sql`(select count(*) from (${seed(bound)}) counted)::integer`);
    const { rows } = await sql<{ counts: number[] }>`
    with ${visible.ctes} select array[${sql.join(counts)}] as counts`.execute(db);
    const found = rows[0]?.counts ?? [];
    const least = Math.min(...found);
    const best = seeded[found.indexOf(least)] ?? first;
    const isFew = least <= FEW_MATCHES;
    return isFew || !(await leadsElsewhere(db, visible, best.seed)) ? { ...best, isFew } : undefined;
  }

  /** The selected columns of all matches of a clause, or of the first of them. */
  function fromSeed(
    { visible, filter }: Selected,
    { clause, seed, isFew }: Seeded,
    columns: string,
    first?: RawBuilder<unknown>,
  ): RawBuilder<unknown> {
    const others = wheres(filter, clause);
    if (isFew)
      return sql`select ${fragment(columns)} from ${joined}
      where i.id = any(array(${seed(sql``)})) and ${all([visible.condition, ...others])}`;
    // One row at a time, so that a `limit` can stop the scan.
    return sql`select ${fragment(columns)} from (${seed(first ?? sql``)}) seeded(id)
    cross join lateral (select * from ${sql.table(table)} where ${sql.ref(`${table}.id`)} = seeded.id offset 0) i
    where ${all([visible.conditionAlone, ...others])}`;
  }

  /**
   * The plan for the first `count` rows. Where a clause has many matches, but perhaps none in most projects,
   * its newest matches bound the scan of each project: the first `count` end no later than theirs.
   */
  async function wayTo(db: Db, query: Query, seeded: Seeded | undefined, count: number): Promise<Way> {
    if (!seeded) return {};
    if (seeded.isFew || (query.by !== 'created_at' && query.by !== 'updated_at')) return { seeded };
    const sort = fragment(query.sort);
    const newest = sql`order by 1 ${sort} limit ${fragment(String(SCANNED_MATCHES))}`;
    const { rows } = await sql<{ place: Date }>`
    with ${query.visible.ctes}
    select place from (${fromSeed(query, seeded, `i.id, ${orders[query.by].place} as place`, newest)}) looked_at
    group by id, place order by place ${sort} offset ${count - 1} limit 1`.execute(db);
    const [last] = rows;
    return last ? { until: last.place } : { seeded };
  }

  /** The selected columns of the listed rows by this plan; `tail` bounds those of each project. */
  function selection(
    query: Query,
    { seeded, until }: Way,
    columns: string,
    tail: RawBuilder<unknown>,
  ): RawBuilder<unknown> {
    if (seeded) return fromSeed(query, seeded, columns);
    const before = fragment(query.sort === 'asc' ? '<=' : '>=');
    const bounded = until ? sql`${fragment(orders[query.by].place)} ${before} ${until}` : sql`true`;
    const where = all([bounded, query.visible.condition, ...wheres(query.filter)]);
    return sql`select listed.* from listed_projects v cross join lateral (
    select ${fragment(columns)} from ${rowsOf} where i.project_id = v.id and ${where} ${tail}) listed`;
  }

  async function fetch(
    db: Db,
    query: Query,
    seeded: Seeded | undefined,
    limit: number,
    offset: number,
  ): Promise<Row[]> {
    const { place, order } = ordering(query);
    const way = await wayTo(db, query, seeded, limit + offset);
    const tail = sql`${order} limit ${few(limit + offset)}`;
    const { rows } = await sql<Row & { place: unknown }>`
    with ${query.visible.ctes}
    select i.*, place from (
      select distinct page.id, page.place from (${selection(query, way, `i.id, ${place} as place`, tail)}) page
      ${order} limit ${limit} offset ${offset}) page
    join lateral (select * from ${sql.table(table)} where ${sql.ref(`${table}.id`)} = page.id) i on true
    ${fragment('order by')} ${orderOf(query)}`.execute(db);
    return rows.map(({ place: _, ...row }) => row as unknown as Row);
  }

  /**
   * The number of matches of a clause that are in the list, counted to `limit`; undefined where too many of
   * those read are not. One batch takes a fraction of the time of single lookups.
   */
  async function countBatched(
    db: Db,
    { visible, filter }: Query,
    { clause, seed }: Seeded,
    limit: number,
  ): Promise<number | undefined> {
    const lookedAt = 2 * limit;
    // The newest, of which most are open.
    const newest = fragment(`order by 1 desc limit ${lookedAt}`);
    const { rows } = await sql<{ count: number; found: number }>`
    with ${visible.ctes}, found as materialized (select array(${seed(newest)}) as ids)
    select (select count(*) from (select i.id from ${rowsOf} where i.id = any((select ids from found)::bigint[])
      and ${all([visible.conditionAlone, ...wheres(filter, clause)])} limit ${fragment(String(limit))}) counted) as count,
      cardinality(ids) as found from found`.execute(db);
    const [row] = rows;
    return row && (row.count === limit || row.found < lookedAt) ? row.count : undefined;
  }

  /** The number of rows, counted to `limit`. */
  async function count(db: Db, query: Query, seeded: Seeded | undefined, limit: number): Promise<number> {
    const batched = seeded && !seeded.isFew ? await countBatched(db, query, seeded, limit) : undefined;
    if (batched !== undefined) return batched;
    const bound = fragment(`limit ${limit}`);
    // Two labels of one name can match a row twice.
    const { rows } = await sql<{ count: number }>`
    with ${query.visible.ctes}
    select count(distinct id) as count from (
      ${selection(query, seeded ? { seeded } : {}, 'i.id', bound)} ${bound}) counted`.execute(db);
    return rows[0]?.count ?? 0;
  }

  /** All matches, unordered. */
  const everywhere = ({ visible, filter }: Selected): RawBuilder<unknown> =>
    sql`select i.state from ${joined} where ${all([visible.condition, ...wheres(filter)])}`;

  return {
    /** One page of the rows that the caller sees and the filter matches, in six statements at most. */
    async page(db: Db, query: Query, page: PageRequest): Promise<Page<Row>> {
      const seeded = await seedOf(db, query);
      if (page.kind === 'offset') {
        const fetching = fetch(db, query, seeded, page.perPage + 1, page.offset);
        const counting = () => count(db, query, seeded, page.countLimit + 1);
        if (!seeded || seeded.isFew) return offsetPage(page, await fetching, counting);
        // Counting takes longest with many matches: run it at the same time.
        const [rows, total] = await Promise.all([fetching, counting()]);
        return offsetPage(page, rows, async () => total);
      }
      // The list's keyset rule admits only these.
      const by = page.orderBy as By;
      const after = page.after && beyond(by, orders[by], page.sort, page.after);
      const filter = after ? [...query.filter, { where: after }] : query.filter;
      const items = await fetch(db, { ...query, filter, by, sort: page.sort }, seeded, page.perPage, 0);
      const end = items.at(-1);
      const last = end && { [by]: cursorValue(by, end), id: end.id };
      return { items, total: undefined, more: items.length === page.perPage, ...(last && { last }) };
    },

    /** The numbers of rows by their state, counted in full. */
    async countStates(db: Db, query: Selected): Promise<{ opened: number; closed: number }> {
      const seeded = await seedOf(db, query);
      const { rows } = await sql<{ opened: number; closed: number }>`
    with ${query.visible.ctes}
    select count(*) filter (where state = 'opened') as opened, count(*) filter (where state = 'closed') as closed
    from (${seeded ? sql`select distinct * from (${fromSeed(query, seeded, 'i.id, i.state')}) found` : everywhere(query)}) counted`.execute(
        db,
      );
      return rows[0] ?? { opened: 0, closed: 0 };
    },
  };
}

function cursorValue(by: string, row: object): string | number | null {
  const value = (row as Record<string, unknown>)[by];
  if (by === 'due_date' && typeof value === 'string') return `${value}T00:00:00Z`;
  return value instanceof Date ? value.toISOString() : (value as string | number | null);
}

/** Rows after the cursor; rows without a value come last. */
function beyond(
  by: string,
  { place, nullable }: Order,
  sort: 'asc' | 'desc',
  after: CursorValues,
): Condition {
  const column = fragment(place);
  const than = fragment(sort === 'asc' ? '>' : '<');
  const value = after[by] ?? null;
  if (by === 'id') return sql`i.id ${than} ${after.id}`;
  if (value === null) return sql`(${column} is null and i.id ${than} ${after.id})`;
  const typed = by === 'due_date' ? sql`(${value}::timestamptz at time zone 'UTC')::date` : sql`${value}`;
  const behind = sql<SqlBool>`(${column}, i.id) ${than} (${typed}, ${after.id})`;
  return nullable ? sql`(${behind} or ${column} is null)` : behind;
}
