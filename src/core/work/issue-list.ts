/**
 * Lists of issues. The projects whose issues the caller reads come first, and do not grow with issues; of each, the first
 * issues in the order of the list are read from its own index and cut at the page. What few issues meet is found from
 * those few instead.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../../platform/db/database.ts';
import { offsetPage, type Page, type PageRequest } from '../../platform/db/page.ts';
import type { ColumnKind, CursorValues } from '../../platform/http/pagination.ts';
import type { IssueRow } from './issue-rows.ts';
import type { VisibleIssues } from './issue-visibility.ts';

export type IssueCondition = RawBuilder<SqlBool>;

/** A statement giving ids of issues, below the CTEs of a list; `tail` orders them, by their number as `1`, and bounds them. */
export type IssueSeed = (tail: RawBuilder<unknown>) => RawBuilder<unknown>;

/** A condition over `issues i` and, where an index leads to all that it is true of, the way there. */
export type IssueClause = { where: IssueCondition; seed?: IssueSeed };

/** What a list is narrowed by: all of them are true. */
export type IssueFilter = readonly IssueClause[];

const labelPriority = `(select min(order_lp.priority) from label_links order_ll
  join label_priorities order_lp on order_lp.label_id = order_ll.label_id and order_lp.project_id = i.project_id
  where order_ll.issue_id = i.id)`;
const milestoneDue = '(select order_m.due_date from milestones order_m where order_m.id = i.milestone_id)';

type Order = { place: string; nullable?: boolean };

/** `order_by` names and what they order by; what has no such value comes last in both directions. */
const orders = {
  id: { place: 'i.id' },
  created_at: { place: 'i.created_at' },
  updated_at: { place: 'i.updated_at' },
  title: { place: 'i.title' },
  relative_position: { place: 'i.relative_position' },
  popularity: { place: 'i.upvotes' },
  due_date: { place: 'i.due_date', nullable: true },
  weight: { place: 'i.weight', nullable: true },
  milestone_due: { place: milestoneDue, nullable: true },
  label_priority: { place: labelPriority, nullable: true },
  priority: {
    place: `array[coalesce(${milestoneDue} - date '2000-01-01', 2147483647), coalesce(${labelPriority}, 2147483647)]`,
  },
} as const satisfies Record<string, Order>;
export type IssueOrder = keyof typeof orders;
export const issueOrders = Object.keys(orders) as [IssueOrder, ...IssueOrder[]];

/** The orders that are columns, and so have keyset pages; a day is carried as its midnight. */
export const issueKeysets = {
  created_at: 'time',
  updated_at: 'time',
  title: 'text',
  id: 'integer',
  weight: 'integer',
  due_date: 'time',
  relative_position: 'integer',
} as const satisfies Partial<Record<IssueOrder, ColumnKind>>;
type KeysetOrder = keyof typeof issueKeysets;

export type IssueListQuery = {
  visible: VisibleIssues;
  filter: IssueFilter;
  by: IssueOrder;
  sort: 'asc' | 'desc';
};

const fragment = (text: string): RawBuilder<unknown> => sql.raw(text);
const all = (conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
  sql.join(conditions, fragment(' and '));
/** Of all clauses but that which the issues were found by. */
const wheres = (filter: IssueFilter, found?: IssueClause): IssueCondition[] =>
  filter.flatMap((clause) => (clause === found ? [] : clause.where));

function ordering({ by, sort }: IssueListQuery): { place: string; order: RawBuilder<unknown> } {
  const { place, nullable }: Order = orders[by];
  return { place, order: fragment(`order by place ${sort}${nullable ? ' nulls last' : ''}, id ${sort}`) };
}

/** As many issues as are sooner found and sorted than met on the way through a project. */
const FEW_ISSUES = 1_000;

/** The clause that is true of the least issues by its index. */
type Seeded = { clause: IssueClause; seed: IssueSeed; isFew: boolean };

/** Of more issues in the projects listed, a clause is not counted on to see whether it is true of even more. */
const MANY_ISSUES = 100_000;

/** Whether a clause leads to no fewer issues than there are in the projects listed: most of them are elsewhere. */
async function leadsElsewhere(db: Db, { ctes }: VisibleIssues, seed: IssueSeed): Promise<boolean> {
  const { rows } = await sql<{ elsewhere: boolean }>`
    with ${ctes}, listed as materialized (
      select coalesce(sum(issues), 0) as issues from project_counters
      where project_id in (select id from issue_projects))
    select case when issues > ${fragment(String(MANY_ISSUES))} then false
      else issues <= (select count(*) from (${seed(sql`limit (select issues from listed)`)}) counted) end as elsewhere
    from listed`.execute(db);
  return rows[0]?.elsewhere ?? false;
}

/** The best of the clauses to find issues by, if there is one; counted no further than FEW_ISSUES at first. */
async function seedOf(
  db: Db,
  { visible, filter }: Pick<IssueListQuery, 'visible' | 'filter'>,
): Promise<Seeded | undefined> {
  const seeded = filter.flatMap((clause) => (clause.seed ? [{ clause, seed: clause.seed }] : []));
  const [first] = seeded;
  if (!first) return undefined;
  const bound = fragment(`limit ${FEW_ISSUES + 1}`);
  const counts = seeded.map(({ seed }) => sql`(select count(*) from (${seed(bound)}) counted)::integer`);
  const { rows } = await sql<{ counts: number[] }>`
    with ${visible.ctes} select array[${sql.join(counts)}] as counts`.execute(db);
  const found = rows[0]?.counts ?? [];
  const least = Math.min(...found);
  const best = seeded[found.indexOf(least)] ?? first;
  const isFew = least <= FEW_ISSUES;
  return isFew || !(await leadsElsewhere(db, visible, best.seed)) ? { ...best, isFew } : undefined;
}

/** The selected columns of all issues that a clause leads to, or of the first of them. */
function fromSeed(
  { visible, filter }: Pick<IssueListQuery, 'visible' | 'filter'>,
  { clause, seed, isFew }: Seeded,
  columns: string,
  first?: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const others = wheres(filter, clause);
  if (isFew)
    return sql`select ${fragment(columns)} from issues i join issue_projects v on v.id = i.project_id
      where i.id = any(array(${seed(sql``)})) and ${all([visible.condition, ...others])}`;
  // Issue by issue, so that whoever has enough of them can stop.
  return sql`select ${fragment(columns)} from (${seed(first ?? sql``)}) seeded(id)
    cross join lateral (select * from issues where issues.id = seeded.id offset 0) i
    where ${all([visible.conditionAlone, ...others])}`;
}

/** How the issues of a list are come by: from a clause, or from the projects, down to a place in the order. */
type Way = { seeded?: Seeded; until?: Date };

/** As many of the newest show well enough how far to read, and are quickly looked at. */
const SCANNED_ISSUES = 300;

/**
 * The way to the first `count` issues. Where a clause is true of many issues, but perhaps of none in most projects, the
 * newest of those many show how far each project must be read at most: the first `count` end no later than theirs.
 */
async function wayTo(db: Db, query: IssueListQuery, seeded: Seeded | undefined, count: number): Promise<Way> {
  if (!seeded) return {};
  if (seeded.isFew || (query.by !== 'created_at' && query.by !== 'updated_at')) return { seeded };
  const sort = fragment(query.sort);
  const newest = sql`order by 1 ${sort} limit ${fragment(String(SCANNED_ISSUES))}`;
  const { rows } = await sql<{ place: Date }>`
    with ${query.visible.ctes}
    select place from (${fromSeed(query, seeded, `i.id, ${orders[query.by].place} as place`, newest)}) looked_at
    group by id, place order by place ${sort} offset ${count - 1} limit 1`.execute(db);
  const [last] = rows;
  return last ? { until: last.place } : { seeded };
}

/** The selected columns of the issues to be listed, along the way; `tail` bounds those of each project. */
function selection(
  query: IssueListQuery,
  { seeded, until }: Way,
  columns: string,
  tail: RawBuilder<unknown>,
): RawBuilder<unknown> {
  if (seeded) return fromSeed(query, seeded, columns);
  const before = fragment(query.sort === 'asc' ? '<=' : '>=');
  const bounded = until ? sql`${fragment(orders[query.by].place)} ${before} ${until}` : sql`true`;
  const where = all([bounded, query.visible.condition, ...wheres(query.filter)]);
  return sql`select listed.* from issue_projects v cross join lateral (
    select ${fragment(columns)} from issues i where i.project_id = v.id and ${where} ${tail}) listed`;
}

/** Rows of a first page, and of the longest: with these in the text the planner knows that it is few, and plans once. */
const FEW_ROWS = [21, 101];
const few = (rows: number): RawBuilder<unknown> => {
  const bound = FEW_ROWS.find((each) => each >= rows);
  return bound === undefined ? sql`${rows}` : fragment(String(bound));
};

async function fetch(
  db: Db,
  query: IssueListQuery,
  seeded: Seeded | undefined,
  limit: number,
  offset: number,
): Promise<IssueRow[]> {
  const { place, order } = ordering(query);
  const way = await wayTo(db, query, seeded, limit + offset);
  const tail = sql`${order} limit ${few(limit + offset)}`;
  const { rows } = await sql<IssueRow & { place: unknown }>`
    with ${query.visible.ctes}
    select i.*, place from (
      select distinct page.id, page.place from (${selection(query, way, `i.id, ${place} as place`, tail)}) page
      ${order} limit ${limit} offset ${offset}) page
    join lateral (select * from issues where issues.id = page.id) i on true
    ${fragment('order by')} ${orderOf(query)}`.execute(db);
  return rows.map(({ place: _, ...row }) => row);
}

function orderOf({ by, sort }: IssueListQuery): RawBuilder<unknown> {
  const { nullable }: Order = orders[by];
  return fragment(`page.place ${sort}${nullable ? ' nulls last' : ''}, page.id ${sort}`);
}

/**
 * How many of the issues that a clause is true of are in the list, counted to `limit`; undefined where too many of those
 * looked at are not. Looked up together they are found in a fraction of the time that one by one takes.
 */
async function countBatched(
  db: Db,
  { visible, filter }: IssueListQuery,
  { clause, seed }: Seeded,
  limit: number,
): Promise<number | undefined> {
  const lookedAt = 2 * limit;
  // The newest, of which most are open.
  const newest = fragment(`order by 1 desc limit ${lookedAt}`);
  const { rows } = await sql<{ count: number; found: number }>`
    with ${visible.ctes}, found as materialized (select array(${seed(newest)}) as ids)
    select (select count(*) from (select i.id from issues i where i.id = any((select ids from found)::bigint[])
      and ${all([visible.conditionAlone, ...wheres(filter, clause)])} limit ${fragment(String(limit))}) counted) as count,
      cardinality(ids) as found from found`.execute(db);
  const [row] = rows;
  return row && (row.count === limit || row.found < lookedAt) ? row.count : undefined;
}

/** How many there are, counted to `limit` and no further. */
async function count(
  db: Db,
  query: IssueListQuery,
  seeded: Seeded | undefined,
  limit: number,
): Promise<number> {
  const together = seeded && !seeded.isFew ? await countBatched(db, query, seeded, limit) : undefined;
  if (together !== undefined) return together;
  const bound = fragment(`limit ${limit}`);
  // An issue can be met twice, by two labels of one name.
  const { rows } = await sql<{ count: number }>`
    with ${query.visible.ctes}
    select count(distinct id) as count from (
      ${selection(query, seeded ? { seeded } : {}, 'i.id', bound)} ${bound}) counted`.execute(db);
  return rows[0]?.count ?? 0;
}

/** One page of the issues that the caller sees and the filter admits, in six statements at most. */
export async function listIssues(db: Db, query: IssueListQuery, page: PageRequest): Promise<Page<IssueRow>> {
  const seeded = await seedOf(db, query);
  if (page.kind === 'offset') {
    const fetching = fetch(db, query, seeded, page.perPage + 1, page.offset);
    const counting = () => count(db, query, seeded, page.countLimit + 1);
    if (!seeded || seeded.isFew) return offsetPage(page, await fetching, counting);
    // There are many, so that they will be counted: that takes longest, and goes on meanwhile.
    const [rows, total] = await Promise.all([fetching, counting()]);
    return offsetPage(page, rows, async () => total);
  }
  // Only these are offered by the list's keyset rule.
  const by = page.orderBy as KeysetOrder;
  const filter = page.after ? [...query.filter, { where: beyond(by, page.sort, page.after) }] : query.filter;
  const items = await fetch(db, { ...query, filter, by, sort: page.sort }, seeded, page.perPage, 0);
  const end = items.at(-1);
  const last = end && { [by]: cursorValue(by, end), id: end.id };
  return { items, total: undefined, more: items.length === page.perPage, ...(last && { last }) };
}

function cursorValue(by: KeysetOrder, row: IssueRow): string | number | null {
  const value = row[by];
  if (by === 'due_date' && typeof value === 'string') return `${value}T00:00:00Z`;
  return value instanceof Date ? value.toISOString() : value;
}

/** What comes behind a place in the order, in which rows without a value come last. */
function beyond(by: KeysetOrder, sort: 'asc' | 'desc', after: CursorValues): IssueCondition {
  const column = fragment(orders[by].place);
  const than = fragment(sort === 'asc' ? '>' : '<');
  const value = after[by] ?? null;
  if (by === 'id') return sql`i.id ${than} ${after.id}`;
  if (value === null) return sql`(${column} is null and i.id ${than} ${after.id})`;
  const typed = by === 'due_date' ? sql`(${value}::timestamptz at time zone 'UTC')::date` : sql`${value}`;
  const behind = sql<SqlBool>`(${column}, i.id) ${than} (${typed}, ${after.id})`;
  const { nullable }: Order = orders[by];
  return nullable ? sql`(${behind} or ${column} is null)` : behind;
}

/** All of them, in no order. */
const everywhere = ({ visible, filter }: Pick<IssueListQuery, 'visible' | 'filter'>): RawBuilder<unknown> =>
  sql`select i.state from issues i join issue_projects v on v.id = i.project_id
    where ${all([visible.condition, ...wheres(filter)])}`;

/** How many of the issues are open and how many closed, all of them counted. */
export async function countIssueStates(
  db: Db,
  query: Pick<IssueListQuery, 'visible' | 'filter'>,
): Promise<{ opened: number; closed: number }> {
  const seeded = await seedOf(db, query);
  const { rows } = await sql<{ opened: number; closed: number }>`
    with ${query.visible.ctes}
    select count(*) filter (where state = 'opened') as opened, count(*) filter (where state = 'closed') as closed
    from (${seeded ? sql`select distinct * from (${fromSeed(query, seeded, 'i.id, i.state')}) found` : everywhere(query)}) counted`.execute(
    db,
  );
  return rows[0] ?? { opened: 0, closed: 0 };
}
