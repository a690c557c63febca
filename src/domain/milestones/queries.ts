/** Milestones: the lists of a project or group, one by id, and the data of its charts. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Caller } from '../../core/identity/actor.ts';
import { type IssueClause, listIssues } from '../../core/work/issue-list.ts';
import type { IssueRow } from '../../core/work/issue-rows.ts';
import { type VisibleIssues, visibleIssues } from '../../core/work/issue-visibility.ts';
import type { MilestoneRow } from '../../core/work/milestone-records.ts';
import { groupsBelow, isProject, type ResourceParent } from '../../core/work/resource-parents.ts';
import type { Db } from '../../platform/db/database.ts';
import { type Page, type PageRequest, selectPage } from '../../platform/db/page.ts';
import { containing } from '../../platform/db/search.ts';
import type { BurndownEvent, ListInput } from './schema.ts';

const own = (parent: ResourceParent): RawBuilder<SqlBool> =>
  isProject(parent) ? sql`milestones.project_id = ${parent.id}` : sql`milestones.namespace_id = ${parent.id}`;

/** The condition on milestones that a caller finds in the parent. */
function within(
  caller: Caller,
  parent: ResourceParent,
  scope: { ancestors: boolean; descendants: boolean },
): RawBuilder<SqlBool> {
  const parts = [own(parent)];
  if (scope.ancestors) parts.push(sql`milestones.namespace_id = any(${parent.row.ancestor_ids}::bigint[])`);
  if (scope.descendants && !isProject(parent))
    parts.push(sql`milestones.namespace_id in ${groupsBelow(caller, parent.id)}`);
  return sql`(${sql.join(parts, sql` or `)})`;
}

/** Milestones without a due day come last; of one day the newest comes first. */
const byDueDate = "coalesce(milestones.due_date, 'infinity'::date) asc, -milestones.id";

/** One page, the next due first. */
export function selectMilestones(
  db: Db,
  caller: Caller,
  parent: ResourceParent,
  filters: ListInput,
  page: PageRequest,
): Promise<Page<MilestoneRow>> {
  const { state = 'all', iids, title, search, updated_before, updated_after } = filters;
  const ancestors = filters.include_ancestors ?? filters.include_parent_milestones ?? false;
  const scope = { ancestors, descendants: filters.include_descendants ?? false };
  let query = db
    .selectFrom('milestones')
    .selectAll()
    .where(within(caller, parent, scope));
  if (state !== 'all') query = query.where('state', '=', state);
  // A number is ambiguous where several projects and groups have it.
  if (iids && !ancestors) query = query.where(sql<SqlBool>`iid = any(${[...iids]}::bigint[])`);
  if (title !== undefined) query = query.where('title', '=', title);
  if (search)
    query = query.where((where) =>
      where.or([
        where('title', 'ilike', containing(search)),
        where('description', 'ilike', containing(search)),
      ]),
    );
  if (updated_before !== undefined) query = query.where('updated_at', '<=', new Date(updated_before));
  if (updated_after !== undefined) query = query.where('updated_at', '>=', new Date(updated_after));
  const columns = { due_date: byDueDate, id: 'milestones.id' };
  return selectPage(db, query, page, { by: 'due_date', sort: 'asc' }, columns);
}

const ofParent = (db: Db, parent: ResourceParent, id: number) =>
  db.selectFrom('milestones').selectAll().where(own(parent)).where('id', '=', id);

/** The parent's own milestone. */
export const selectMilestone = (
  db: Db,
  parent: ResourceParent,
  id: number,
): Promise<MilestoneRow | undefined> => ofParent(db, parent, id).executeTakeFirst();

/** The same, locked until the transaction ends. */
export const lockMilestone = (
  tx: Db,
  parent: ResourceParent,
  id: number,
): Promise<MilestoneRow | undefined> => ofParent(tx, parent, id).forUpdate().executeTakeFirst();

/** Whether another milestone has the title: of the project and its group, or of the group and the projects in it. */
export async function isTitleTaken(
  tx: Db,
  parent: ResourceParent,
  title: string,
  exceptId: number | undefined,
): Promise<boolean> {
  const around = isProject(parent)
    ? sql<SqlBool>`milestones.namespace_id = ${parent.row.namespace_id}`
    : sql<SqlBool>`milestones.project_id in (select p.id from projects p where p.namespace_id = ${parent.id})`;
  const found = await tx
    .selectFrom('milestones')
    .select('id')
    .where('title', '=', title)
    .where(sql<SqlBool>`(${own(parent)} or ${around})`)
    .where('id', '<>', exceptId ?? 0)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** The issues that a milestone of the parent can have, as far as the caller sees them. */
const issuesOf = (caller: Caller, parent: ResourceParent): VisibleIssues =>
  visibleIssues(
    caller,
    isProject(parent)
      ? sql`p.id = ${parent.id}`
      : sql`p.namespace_id in (select n.id from namespaces n where n.ancestor_ids @> array[${parent.id}]::bigint[])`,
  );

/** One page of the milestone's issues that the caller sees, the most urgent label first. */
export const selectIssues = (
  db: Db,
  caller: Caller,
  parent: ResourceParent,
  { id }: MilestoneRow,
  page: PageRequest,
): Promise<Page<IssueRow>> => {
  const ofMilestone: IssueClause = {
    where: sql`i.milestone_id = ${id}`,
    seed: (tail) => sql`select id from issues where milestone_id = ${id} ${tail}`,
  };
  const visible = issuesOf(caller, parent);
  const query = { visible, filter: [ofMilestone], by: 'label_priority', sort: 'asc' } as const;
  return listIssues(db, query, page);
};

/** More than any chart shows. */
const MAX_EVENTS = 50_000;

/**
 * The times at which the milestone's issues that the caller sees were added, closed and reopened, between its
 * days; earlier events count as of the first day.
 */
export async function selectBurndown(
  db: Db,
  caller: Caller,
  parent: ResourceParent,
  { id }: MilestoneRow,
  { start_date, due_date }: { start_date: string; due_date: string },
): Promise<(Omit<BurndownEvent, 'created_at'> & { created_at: Date })[]> {
  const { ctes, condition } = issuesOf(caller, parent);
  const { rows } = await sql<Omit<BurndownEvent, 'created_at'> & { created_at: Date }>`
    with ${ctes}, shown as (
      select i.* from issues i join issue_projects v on v.id = i.project_id
      where i.milestone_id = ${id} and ${condition}),
    changes as (
      select e.issue_id, e.created_at, s.weight, e.action from shown s
      join resource_events e on e.issue_id = s.id and e.kind = 'state' and e.action in ('closed', 'reopened')),
    told as (
      select created_at, weight, 'created' as action from shown
      union all select created_at, weight, action from changes
      union all select closed_at, weight, 'closed' from shown s
        where state = 'closed' and not exists (select from changes c where c.issue_id = s.id and c.action = 'closed'))
    select greatest(created_at, ${start_date}::date) as created_at, weight, action from told
    where created_at < ${due_date}::date + 1 order by 1, action desc limit ${MAX_EVENTS}`.execute(db);
  return rows;
}
