/**
 * The parts of the statements of search scopes. Each has its words and its visibility in the statement itself: hidden
 * rows are neither found nor counted.
 */
import { type RawBuilder, sql } from 'kysely';
import { openTo, seesAll } from '../../kernel/access/group-list-queries.ts';
import { GUEST } from '../../kernel/policy/roles.ts';
import { offsetPage, type Page } from '../../platform/pagination/page.ts';
import type { SearchRequest } from './request.ts';
import { patternsOf } from './rules.ts';

type Sql = RawBuilder<unknown>;
const fragment = (text: string): Sql => sql.raw(text);
const all = (conditions: readonly Sql[]): Sql => sql`(${sql.join(conditions, fragment(' and '))})`;
const any = (conditions: readonly Sql[]): Sql => sql`(${sql.join(conditions, fragment(' or '))})`;

/** One of the columns contains all the words. */
export const matches = (columns: readonly string[], search: string): Sql => {
  const patterns = patternsOf(search);
  return any(
    columns.map((column) => all(patterns.map((pattern) => sql`${fragment(column)} ilike ${pattern}`))),
  );
};

/** `ctes` with its `with`; `from` with its conditions. */
type Statement = { ctes: Sql; columns: Sql; from: Sql; order: string };

/** One page, newest first where the order says so, in two statements at most. */
export async function searchPage<T>({ db, page }: SearchRequest, statement: Statement): Promise<Page<T>> {
  const { ctes, columns, from, order } = statement;
  const { rows } = await sql<T>`${ctes} select ${columns} from ${from}
    order by ${fragment(order)} limit ${page.perPage + 1} offset ${page.offset}`.execute(db);
  return offsetPage(page, rows, async () => {
    const { rows: counted } = await sql<{ count: number }>`
      ${ctes} select count(*) as count from (select 1 from ${from} limit ${page.countLimit + 1}) counted`.execute(
      db,
    );
    return counted[0]?.count ?? 0;
  });
}

const isArchived =
  fragment(`(p.archived or exists (select from namespaces h join namespaces a on a.id = any(h.ancestor_ids)
  where h.id = p.namespace_id and a.archived))`);

/** The projects `p` of the container, for every caller. */
export function inContainer({ container, includeArchived }: SearchRequest): Sql {
  if (container.in === 'project') return sql`p.id = ${container.project.id}`;
  const present = [
    sql`p.marked_for_deletion_on is null`,
    ...(includeArchived ? [] : [sql`not ${isArchived}`]),
    ...(container.in === 'group'
      ? [
          sql`exists (select from namespaces h where h.id = p.namespace_id
            and h.ancestor_ids @> array[${container.group.id}::bigint])`,
        ]
      : []),
  ];
  return all(present);
}

/** The projects `p` that the caller sees, below withReached(): decided as read_project and read_planning are. */
export function visibleProjects({ actor }: SearchRequest): Sql {
  if (seesAll(actor)) return sql`not p.deleting`;
  const reached = actor
    ? sql`or p.namespace_id in (select id from reached_groups where level >= ${sql.lit(GUEST)})
        or p.id in (select id from reached_projects where level >= ${sql.lit(GUEST)})`
    : sql``;
  return sql`not p.deleting and (p.visibility >= ${openTo(actor)} ${reached})`;
}
