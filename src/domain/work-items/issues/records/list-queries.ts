/**
 * Lists of issues. The projects whose issues the caller reads come first, and do not grow with issues; from
 * each, the first issues in the list's order are read by its own index, up to the page. A filter that few
 * issues match starts from those issues instead.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../../../../platform/db/database.ts';
import { offsetPage, type Page, type PageRequest } from '../../../../platform/pagination/page.ts';
import type { ColumnKind, CursorValues } from '../../../../platform/pagination/pagination.ts';
import type { IssueRow } from './issue-rows.ts';
import type { VisibleIssues } from './visibility-queries.ts';

export type IssueCondition = RawBuilder<SqlBool>;

/** A statement giving ids of issues, below the CTEs of a list; `tail` orders them, by their number as `1`, and bounds them. */
export type IssueSeed = (tail: RawBuilder<unknown>) => RawBuilder<unknown>;

/** A condition over `issues i` and, where an index finds all its matches, the statement that does. */
export type IssueClause = { where: IssueCondition; seed?: IssueSeed };

/** The conditions of a list, joined by `and`. */
export type IssueFilter = readonly IssueClause[];

const labelPriority = `(select min(order_lp.priority) from label_links order_ll
  join label_priorities order_lp on order_lp.label_id = order_ll.label_id and order_lp.project_id = i.project_id
  where order_ll.issue_id = i.id)`;
const milestoneDue = '(select order_m.due_date from milestones order_m where order_m.id = i.milestone_id)';

type Order = { place: string; nullable?: boolean };

/** `order_by` values and their expressions; rows without a value come last in both directions. */
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

/** The orders that are columns, and so have keyset pages; a day is its midnight. */
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
/** The conditions, without that of the clause that found the issues. */
const wheres = (filter: IssueFilter, found?: IssueClause): IssueCondition[] =>
  filter.flatMap((clause) => (clause === found ? [] : clause.where));

function ordering({ by, sort }: IssueListQuery): { place: string; order: RawBuilder<unknown> } {
  const { place, nullable }: Order = orders[by];
  return { place, order: fragment(`order by place ${sort}${nullable ? ' nulls last' : ''}, id ${sort}`) };
}

/** With at most so many matches, reading and sorting them beats walking through the projects. */
const FEW_ISSUES = 1_000;

/** The clause with the fewest matches by its index. */
type Seeded = { clause: IssueClause; seed: IssueSeed; isFew: boolean };

/** With more issues in the listed projects, a clause is not counted to compare the two. */
const MANY_ISSUES = 100_000;

/** Whether a clause matches as many issues as the listed projects have: most are in other projects. */
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

/** The best clause to find issues by, if any; counted no further than FEW_ISSUES at first. */
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

/** The selected columns of all matches of a clause, or of the first of them. */
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
  // One issue at a time, so that a `limit` can stop the scan.
  return sql`select ${fragment(columns)} from (${seed(first ?? sql``)}) seeded(id)
    cross join lateral (select * from issues where issues.id = seeded.id offset 0) i
    where ${all([visible.conditionAlone, ...others])}`;
}

/** The plan of a list: from a clause, or from the projects down to a time. */
type Way = { seeded?: Seeded; until?: Date };

/** Newest matches that are read to bound the scan of each project. */
const SCANNED_ISSUES = 300;

/**
 * The plan for the first `count` issues. Where a clause has many matches, but perhaps none in most projects,
 * its newest matches bound the scan of each project: the first `count` end no later than theirs.
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

/** The selected columns of the listed issues by this plan; `tail` bounds those of each project. */
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

/** Row limits of a first page and of the longest: as literals, so that the planner plans once, for few. */
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
 * The number of matches of a clause that are in the list, counted to `limit`; undefined where too many of
 * those read are not. One batch takes a fraction of the time of single lookups.
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

/** The number of issues, counted to `limit`. */
async function count(
  db: Db,
  query: IssueListQuery,
  seeded: Seeded | undefined,
  limit: number,
): Promise<number> {
  const together = seeded && !seeded.isFew ? await countBatched(db, query, seeded, limit) : undefined;
  if (together !== undefined) return together;
  const bound = fragment(`limit ${limit}`);
  // Two labels of one name can match an issue twice.
  const { rows } = await sql<{ count: number }>`
    with ${query.visible.ctes}
    select count(distinct id) as count from (
      ${selection(query, seeded ? { seeded } : {}, 'i.id', bound)} ${bound}) counted`.execute(db);
  return rows[0]?.count ?? 0;
}

/** One page of the issues that the caller sees and the filter matches, in six statements at most. */
export async function listIssues(db: Db, query: IssueListQuery, page: PageRequest): Promise<Page<IssueRow>> {
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

/** Rows after the cursor; rows without a value come last. */
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

/** All matches, unordered. */
const everywhere = ({ visible, filter }: Pick<IssueListQuery, 'visible' | 'filter'>): RawBuilder<unknown> =>
  sql`select i.state from issues i join issue_projects v on v.id = i.project_id
    where ${all([visible.condition, ...wheres(filter)])}`;

/** The numbers of open and closed issues, counted in full. */
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
