/** The issues of a milestone, and the data of its burndown chart. */
import { sql } from 'kysely';
import type { ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Page, PageRequest } from '../../../platform/pagination/page.ts';
import { type Clause, type MilestoneRow, projectsOf } from '../../planning/index.ts';
import type { IssueRow } from './records/issue-rows.ts';
import { issueLists } from './records/list-queries.ts';
import { type VisibleIssues, visibleIssues } from './records/visibility-queries.ts';

/** The issues that a milestone of the parent can have, as far as the caller sees them. */
const issuesOf = (caller: Caller, parent: ResourceParent): VisibleIssues =>
  visibleIssues(caller, projectsOf(parent));

/** One page of the milestone's issues that the caller sees, the most urgent label first. */
export const selectIssues = (
  db: Db,
  caller: Caller,
  parent: ResourceParent,
  { id }: MilestoneRow,
  page: PageRequest,
): Promise<Page<IssueRow>> => {
  const ofMilestone: Clause = {
    where: sql`i.milestone_id = ${id}`,
    seed: (tail) => sql`select id from issues where milestone_id = ${id} ${tail}`,
  };
  const visible = issuesOf(caller, parent);
  const query = { visible, filter: [ofMilestone], by: 'label_priority', sort: 'asc' } as const;
  return issueLists.page(db, query, page);
};

/** An event of the chart. */
type BurndownRow = { created_at: Date; weight: number | null; action: 'created' | 'closed' | 'reopened' };

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
): Promise<BurndownRow[]> {
  const { ctes, condition } = issuesOf(caller, parent);
  const { rows } = await sql<BurndownRow>`
    with ${ctes}, shown as (
      select i.* from issues i join listed_projects v on v.id = i.project_id
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
