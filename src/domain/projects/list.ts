/**
 * The list of projects that a caller sees. What is visible is a union of bounded branches (everything for an
 * administrator; what everybody sees; what each reached group holds; what is reached otherwise), each in the list's
 * order, so that the cost of a page does not grow with the number of projects.
 */
import { type RawBuilder, sql } from 'kysely';
import {
  directProjectLevel,
  namespaceLevel,
  reachedCtes,
  sharedProjectLevel,
} from '../../core/access/memberships.ts';
import { GUEST, INTERNAL, PUBLIC } from '../../core/access/roles.ts';
import type { Caller } from '../../core/identity/actor.ts';
import { projectColumns, projectTables, type ReachedProjectRow } from '../../core/namespaces/rows.ts';
import { now } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { offsetPage, type Page, type PageRequest } from '../../platform/db/page.ts';
import type { CursorValues } from '../../platform/http/pagination.ts';
import { type ProjectFilters, type ProjectListScope, type ProjectOrder, projectOrders } from './filters.ts';

const NOBODY = 0;
const fragment = (text: string): RawBuilder<unknown> => sql.raw(text);

type Plan = {
  caller: Caller;
  scope: ProjectListScope;
  where: RawBuilder<unknown>;
  by: ProjectOrder;
  sort: 'asc' | 'desc';
};

/** The branches of what is visible; each selects id and the ordering column, at most `limit` rows in order. */
function branches(plan: Plan, limit: number): RawBuilder<unknown>[] {
  const { caller, scope, where, by, sort } = plan;
  const column = projectOrders[by];
  const order = fragment(by === 'id' ? `p.id ${sort}` : `${column} ${sort}, p.id ${sort}`);
  const branch = (from: RawBuilder<unknown>, condition: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
    select p.id, ${fragment(column)} as place from ${from}
    where not p.deleting and ${condition} and ${where} order by ${order} limit ${limit})`;
  const projects = fragment('projects p');
  const everything = sql`true`;
  const asMember = scope.membership || scope.leastLevel > 0;
  if (!caller) return asMember ? [] : [branch(projects, fragment(`p.visibility = ${PUBLIC}`))];
  if ((caller.admin || caller.auditor) && !asMember) return [branch(projects, everything)];
  const open = caller.external ? `p.visibility = ${PUBLIC}` : `p.visibility >= ${INTERNAL}`;
  // Minimal Access on a group shows nothing that is in it.
  const level = Math.max(scope.leastLevel, GUEST);
  return [
    ...(asMember ? [] : [branch(projects, fragment(open))]),
    sql`(
      select own.id, own.place from reached_groups g
      cross join lateral ${branch(projects, sql`p.namespace_id = g.id`)} own
      where g.level >= ${level} order by own.place ${fragment(sort)}, own.id ${fragment(sort)} limit ${limit})`,
    branch(fragment('reached_projects r join projects p on p.id = r.id'), sql`r.level >= ${level}`),
  ];
}

const withReached = (caller: Caller): RawBuilder<unknown> =>
  caller ? fragment(`with ${reached(caller.id)}`) : sql``;

// The id is a number of ours and the date is made here: neither is text from outside.
const today = (): string => `'${now().toISOString().slice(0, 10)}'`;
const reached = (id: number): string => reachedCtes(String(id), today());

const union = (parts: RawBuilder<unknown>[]): RawBuilder<unknown> => sql.join(parts, fragment(' union '));

async function fetch(db: Db, plan: Plan, limit: number, offset: number): Promise<ReachedProjectRow[]> {
  const parts = branches(plan, limit + offset);
  if (parts.length === 0) return [];
  const user = String(plan.caller?.id ?? NOBODY);
  const { sort } = plan;
  const { rows } = await sql<ReachedProjectRow>`
    ${withReached(plan.caller)}
    select ${fragment(projectColumns)},
      ${fragment(directProjectLevel(user, today()))} as level_project,
      greatest(${fragment(namespaceLevel(user, today(), 'contents'))}, ${fragment(sharedProjectLevel(user, today()))}) as level_group
    from (select id, place from (${union(parts)}) visible
          order by place ${fragment(sort)}, id ${fragment(sort)} limit ${limit} offset ${offset}) listed
    join ${fragment(projectTables)} on p.id = listed.id
    order by listed.place ${fragment(sort)}, listed.id ${fragment(sort)}`.execute(db);
  return rows;
}

async function count(db: Db, plan: Plan, limit: number): Promise<number> {
  const parts = branches({ ...plan, by: plan.by === 'id' ? 'id' : 'created_at' }, limit);
  if (parts.length === 0) return 0;
  const { rows } = await sql<{ count: number }>`
    ${withReached(plan.caller)}
    select count(*) as count from (select id from (${union(parts)}) visible limit ${limit}) counted`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/** One page of the projects that the caller sees and the filters admit, in two statements at most. */
export async function listProjects(
  db: Db,
  caller: Caller,
  filters: ProjectFilters,
  page: PageRequest,
  order: { by: ProjectOrder; sort: 'asc' | 'desc' },
): Promise<Page<ReachedProjectRow>> {
  if (page.kind === 'keyset') {
    const after = placeAfter(page.after, page.sort);
    const plan: Plan = {
      caller,
      scope: filters.scope,
      where: sql`${filters.where} and ${after}`,
      by: 'id',
      sort: page.sort,
    };
    const items = await fetch(db, plan, page.perPage, 0);
    const last = items.at(-1);
    return {
      items,
      total: undefined,
      more: items.length === page.perPage,
      ...(last && { last: { id: last.id } }),
    };
  }
  const plan: Plan = { caller, scope: filters.scope, where: filters.where, ...order };
  const rows = await fetch(db, plan, page.perPage + 1, page.offset);
  return offsetPage(page, rows, () => count(db, plan, page.countLimit + 1));
}

function placeAfter(after: CursorValues | undefined, sort: 'asc' | 'desc'): RawBuilder<unknown> {
  if (after === undefined) return sql`true`;
  return sort === 'asc' ? sql`p.id > ${after.id}` : sql`p.id < ${after.id}`;
}
