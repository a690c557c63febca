/**
 * The list of projects that a caller sees. Visible projects are a union of bounded branches (everything for
 * an administrator; projects visible to everybody; those of each reached group; those reached otherwise),
 * each in the list's order, so that the cost of a page does not grow with the number of projects.
 */
import { type RawBuilder, sql } from 'kysely';
import {
  CALLER,
  callerCte,
  directProjectLevel,
  namespaceLevel,
  reachedCtes,
  sharedProjectLevel,
  TODAY,
} from '../../../../kernel/access/membership-queries.ts';
import type { Caller } from '../../../../kernel/actor.ts';
import { notificationLevels } from '../../../../kernel/namespaces/notification-levels.ts';
import { projectColumns, projectTables, type ReachedProjectRow } from '../../../../kernel/namespaces/rows.ts';
import { GUEST, INTERNAL, PUBLIC } from '../../../../kernel/policy/roles.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { offsetPage, type Page, type PageRequest } from '../../../../platform/pagination/page.ts';
import type { CursorValues } from '../../../../platform/pagination/pagination.ts';
import type { ProjectFilters, ProjectListScope } from './filter-queries.ts';
import { type ProjectOrder, projectOrders } from './schema.ts';

const fragment = (text: string): RawBuilder<unknown> => sql.raw(text);

type Plan = {
  caller: Caller;
  scope: ProjectListScope;
  where: RawBuilder<unknown>;
  by: ProjectOrder;
  sort: 'asc' | 'desc';
};

/** A part of the visible projects: a table expression with `projects p`, and its conditions. */
type Branch = {
  from: string;
  condition: string;
  /** Read from each group `g` that is reached with at least this level. */
  groupLevel?: number;
};

/** The visible projects, as branches that have no project in common. */
function branches({ caller, scope }: Plan): Branch[] {
  const asMember = scope.membership || scope.leastLevel > 0;
  const all = { from: 'projects p', condition: 'true' };
  if (!caller) return asMember ? [] : [{ ...all, condition: `p.visibility = ${PUBLIC}` }];
  if ((caller.admin || caller.auditor) && !asMember) return [all];
  const open = caller.external ? `p.visibility = ${PUBLIC}` : `p.visibility >= ${INTERNAL}`;
  const rest = asMember ? 'true' : `not (${open})`;
  // Minimal Access on a group shows none of its projects.
  const level = Math.max(scope.leastLevel, GUEST);
  return [
    ...(asMember ? [] : [{ ...all, condition: open }]),
    { ...all, condition: `p.namespace_id = g.id and ${rest}`, groupLevel: level },
    {
      from: 'reached_projects r join projects p on p.id = r.id',
      condition: `r.level >= ${level} and ${rest}
        and not exists (select from reached_groups g where g.id = p.namespace_id and g.level >= ${level})`,
    },
  ];
}

/** All branches, each ending with `tail`, which bounds it. */
function visible(plan: Plan, columns: string, tail: RawBuilder<unknown>): RawBuilder<unknown> | undefined {
  const parts = branches(plan).map(({ from, condition, groupLevel }) => {
    const rows = sql`(select ${fragment(columns)} from ${fragment(from)}
      where not p.deleting and ${fragment(condition)} and ${plan.where} ${tail})`;
    if (groupLevel === undefined) return rows;
    return sql`(select own.* from reached_groups g cross join lateral ${rows} own
      where g.level >= ${fragment(String(groupLevel))} ${tail})`;
  });
  return parts.length === 0 ? undefined : sql`(${sql.join(parts, fragment(' union all '))}) visible`;
}

const withReached = (caller: Caller): RawBuilder<unknown> => {
  const reached = caller === undefined ? '' : `, ${reachedCtes(CALLER, TODAY)}`;
  return sql`with ${callerCte(caller)}${fragment(reached)}`;
};

/**
 * Rows of a first page, and of the longest: with these in the text the planner knows that they are few, and
 * plans once.
 */
const ROW_BOUNDS = [21, 101];
const few = (rows: number): RawBuilder<unknown> => {
  const bound = ROW_BOUNDS.find((each) => each >= rows);
  return bound === undefined ? sql`${rows}` : fragment(String(bound));
};

async function fetch(db: Db, plan: Plan, limit: number, offset: number): Promise<ReachedProjectRow[]> {
  const sort = fragment(plan.sort);
  const order = sql`order by place ${sort}, id ${sort}`;
  const rows = visible(
    plan,
    `p.id, ${projectOrders[plan.by]} as place`,
    sql`${order} limit ${few(limit + offset)}`,
  );
  if (rows === undefined) return [];
  const { rows: projects } = await sql<ReachedProjectRow>`
    ${withReached(plan.caller)}
    select ${fragment(projectColumns)}, ${fragment(directProjectLevel(CALLER, TODAY))} as level_project,
      greatest(${fragment(namespaceLevel(CALLER, TODAY, 'contents'))}, ${fragment(sharedProjectLevel(CALLER, TODAY))}) as level_group,
      ${fragment(notificationLevels(CALLER))}
    from (select id, place from ${rows} ${order} limit ${limit} offset ${offset}) listed
    join ${fragment(projectTables)} on p.id = listed.id
    order by listed.place ${sort}, listed.id ${sort}`.execute(db);
  return projects;
}

/** The number of visible projects, counted to `limit` and no further. */
async function count(db: Db, plan: Plan, limit: number): Promise<number> {
  const bound = fragment(`limit ${limit}`);
  const rows = visible(plan, '1 as one', bound);
  if (rows === undefined) return 0;
  const { rows: counted } = await sql<{ count: number }>`
    ${withReached(plan.caller)}
    select count(*) as count from (select one from ${rows} ${bound}) counted`.execute(db);
  return counted[0]?.count ?? 0;
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
    const after = positionAfter(page.after, page.sort);
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

function positionAfter(after: CursorValues | undefined, sort: 'asc' | 'desc'): RawBuilder<unknown> {
  if (after === undefined) return sql`true`;
  return sort === 'asc' ? sql`p.id > ${after.id}` : sql`p.id < ${after.id}`;
}
