/**
 * Lists of groups. Visible groups and those that the caller reaches are two branches, each read in the list's
 * order from its own index and limited to the page: the cost does not grow with the number of groups.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { offsetPage, type Page, type PageRequest } from '../../platform/pagination/page.ts';
import type { Caller } from '../actor.ts';
import type { GroupRow } from '../namespaces/rows.ts';
import { INTERNAL, PUBLIC } from '../policy/roles.ts';
import { CALLER, callerCte, reachedCtes, TODAY } from './membership-queries.ts';

const fragment = (text: string): RawBuilder<unknown> => sql.raw(text);

export const today = (): string => now().toISOString().slice(0, 10);

/**
 * CTEs of the caller's reach: `reached_groups`, `reached_projects`, and `seen_groups`, those with a subgroup
 * or project that has the caller as a member.
 */
export const withReached = (caller: Caller): RawBuilder<unknown> => {
  if (!caller) return sql``;
  return sql`with ${callerCte(caller)}, ${fragment(`${reachedCtes(CALLER, TODAY)},
    seen_groups as materialized (
      select distinct unnest(n.ancestor_ids) as id from namespaces n where n.id in (
        select id from member_groups
        union all select p.namespace_id from members m join projects p on p.id = m.project_id
        where m.user_id = ${CALLER} and not p.deleting and (m.expires_at is null or m.expires_at > ${TODAY})))`)}`;
};

/** The least visibility that the caller sees without a role. */
export const openTo = (caller: Caller): number => (caller && !caller.external ? INTERNAL : PUBLIC);

/** Whether the caller sees all groups and projects. */
export const seesAll = (caller: Caller): boolean => caller !== undefined && (caller.admin || caller.auditor);

/** The condition that the caller sees the group `n`. */
export const isSeenGroup = (caller: Caller): RawBuilder<SqlBool> =>
  seesAll(caller)
    ? sql`true`
    : sql`(n.visibility >= ${openTo(caller)} or n.id in (${
        caller
          ? sql`${withReached(caller)}
        select id from reached_groups union select id from seen_groups`
          : sql`select 0`
      }))`;

/** The groups that a list starts from, before its filters. */
export type GroupListScope = {
  /** All groups that the caller sees, or only the caller's own. */
  all: boolean;
  /** The caller's least role; 0 for any. */
  leastLevel: number;
  /** A further condition over `n` and `r.level`, for groups that the caller reaches. */
  reached?: RawBuilder<unknown>;
};

export type GroupOrder = { by: 'name' | 'path' | 'id' | 'similarity'; sort: 'asc' | 'desc'; search?: string };

export type GroupQuery = {
  caller: Caller;
  scope: GroupListScope;
  where: RawBuilder<unknown>;
  order: GroupOrder;
};

function place({ by, search }: GroupOrder): RawBuilder<unknown> {
  if (by !== 'similarity') return fragment(`n.${by}`);
  if (!search) return fragment('n.name');
  return sql`similarity(n.path, ${search}) + similarity(n.name, ${search})`;
}

/** The branches of the list; each selects id and sort key, at most `limit` rows in order. */
function branches({ caller, scope, where, order }: GroupQuery, limit: number): RawBuilder<unknown>[] {
  const branch = (from: string, condition: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
    select n.id, ${place(order)} as place from ${fragment(from)}
    where n.kind = 'group' and not n.deleting and ${condition} and ${where}
    order by place ${fragment(order.sort)}, n.id ${fragment(order.sort)} limit ${limit})`;
  const asMember = scope.leastLevel > 0;
  const open = branch(
    'namespaces n',
    fragment(openTo(caller) === PUBLIC ? 'n.visibility = 20' : 'n.visibility >= 10'),
  );
  if (!caller) return asMember ? [] : [open];
  if (seesAll(caller) && scope.all && !asMember) return [branch('namespaces n', sql`true`)];
  const reached = branch(
    'reached_groups r join namespaces n on n.id = r.id',
    sql`r.level >= ${scope.leastLevel} and ${scope.reached ?? sql`true`}`,
  );
  if (asMember) return [reached];
  return [
    reached,
    branch('seen_groups r join namespaces n on n.id = r.id', sql`true`),
    ...(scope.all ? [open] : []),
  ];
}

const union = (parts: RawBuilder<unknown>[]): RawBuilder<unknown> => sql.join(parts, fragment(' union '));

async function fetch(db: Db, query: GroupQuery, limit: number, offset: number): Promise<GroupRow[]> {
  const parts = branches(query, limit + offset);
  if (parts.length === 0) return [];
  const sort = fragment(query.order.sort);
  const { rows } = await sql<GroupRow>`
    ${withReached(query.caller)}
    select n.* from (
      select id, place from (${union(parts)}) listed order by place ${sort}, id ${sort} limit ${limit} offset ${offset}) page
    join namespaces n on n.id = page.id order by page.place ${sort}, page.id ${sort}`.execute(db);
  return rows;
}

async function count(db: Db, query: GroupQuery, limit: number): Promise<number> {
  const parts = branches({ ...query, order: { by: 'name', sort: 'asc' } }, limit);
  if (parts.length === 0) return 0;
  const { rows } = await sql<{ count: number }>`
    ${withReached(query.caller)}
    select count(*) as count from (select id from (${union(parts)}) listed limit ${limit}) counted`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/** One page of the groups that the query matches, in two statements at most. */
export async function listGroups(db: Db, query: GroupQuery, page: PageRequest): Promise<Page<GroupRow>> {
  if (page.kind === 'offset') {
    const rows = await fetch(db, query, page.perPage + 1, page.offset);
    return offsetPage(page, rows, () => count(db, query, page.countLimit + 1));
  }
  const { after, sort, perPage } = page;
  const beyond = after ? sql`(n.name, n.id) > (${after.name}, ${after.id})` : sql`true`;
  const where = sql`${query.where} and ${beyond}`;
  const items = await fetch(db, { ...query, where, order: { by: 'name', sort } }, perPage, 0);
  const end = items.at(-1);
  const last = end && { name: end.name, id: end.id };
  return { items, total: undefined, more: items.length === perPage, ...(last && { last }) };
}

/** The groups that the caller sees, by id: for records that name groups. */
export async function selectSeenGroups(
  db: Db,
  caller: Caller,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  if (ids.length === 0 || seesAll(caller)) return new Set(ids);
  const reached = caller
    ? sql`n.id in (select id from reached_groups union select id from seen_groups)`
    : sql`false`;
  const { rows } = await sql<{ id: number }>`
    ${withReached(caller)}
    select n.id from namespaces n
    where n.id = any(${[...ids]}::bigint[]) and not n.deleting
      and (n.visibility >= ${openTo(caller)} or ${reached})`.execute(db);
  return new Set(rows.map((row) => row.id));
}
