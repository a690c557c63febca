/** Statements with which issues are found for notes, mails, references and to-dos. */

import type { RawBuilder } from 'kysely';
import { sql } from 'kysely';
import type { Actor, Caller } from '../../../../kernel/actor.ts';
import type { Db } from '../../../../platform/db/database.ts';
import { type CrossReference, inProjects } from '../../../conversation/index.ts';
import type { LabelCounts } from '../../../planning/index.ts';
import type { IssueRow } from '../records/issue-rows.ts';
import { visibleIssues } from '../records/visibility-queries.ts';

type Reader = { db: Db; actor: Caller };

/** The keys of the issues that the reader may read. */
export async function readableIssues({ db, actor }: Reader, named: readonly CrossReference[]) {
  const { ctes, condition } = visibleIssues(actor, sql`p.id in (select id from named)`);
  const { rows } = await sql<{ key: string }>`with named(key, id, iid) as (${inProjects(named)}), ${ctes}
    select named.key from named join issues i on i.project_id = named.id and i.iid = named.iid
    join listed_projects v on v.id = i.project_id where ${condition}`.execute(db);
  return rows;
}

export const selectAssignees = (id: number): RawBuilder<unknown> =>
  sql`select user_id from issue_assignees where issue_id = ${id}`;

export async function countAssigned(db: Db, actor: Actor, limit: number): Promise<number> {
  const mine = sql`(select a.issue_id from issue_assignees a where a.user_id = ${actor.id})`;
  const { ctes, condition } = visibleIssues(
    actor,
    sql`p.id in (select m.project_id from issues m where m.id in ${mine})`,
  );
  const { rows } = await sql<{ count: number }>`
    with ${ctes} select count(*) as count from (
      select 1 from issues i join listed_projects v on v.id = i.project_id
      where i.id in ${mine} and i.state = 'opened' and ${condition} limit ${limit}) counted`.execute(db);
  return rows[0]?.count ?? 0;
}

/** The number and title of an issue, below an activity event `e`. */
export const shownIssue = (id: RawBuilder<unknown>, and: RawBuilder<unknown> = sql``): RawBuilder<unknown> =>
  sql`select i.iid, i.title from issues i where i.id = ${id} and i.project_id = e.project_id ${and}`;

/** The condition that the issue `i` of a to-do `t` is revealed. */
export const isTodoRevealed = (revealed: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`exists (select from issues i where i.id = t.issue_id and i.project_id = t.project_id and ${revealed})`;

export const selectIssueRows = (db: Db, ids: readonly number[]): Promise<IssueRow[]> =>
  db.selectFrom('issues').selectAll().where('id', 'in', ids).execute();

/** An issue and the ids of its assignees. */
export type AssignedIssue = IssueRow & { assignee_ids: number[] };

export const selectInProject = (projectId: number, id: number): RawBuilder<AssignedIssue> => sql`
  select *, array(select user_id from issue_assignees a where a.issue_id = issues.id) as assignee_ids
  from issues where id = ${id} and project_id = ${projectId}`;

/** Keeps the issue from being deleted until the transaction ends; undefined when it is gone. */
export const keepIssue = (tx: Db, id: number) =>
  tx.selectFrom('issues').select('id').where('id', '=', id).forKeyShare().executeTakeFirst();

type Properties = { assignees: string[]; labels: string[]; milestone: string | null };

/** The names of the issue's assignees and labels, and the title of its milestone. */
export async function selectProperties(db: Db, id: number): Promise<Properties> {
  const { rows } = await sql<Properties>`select
    array(select u.name from issue_assignees a join users u on u.id = a.user_id where a.issue_id = i.id order by u.id) as assignees,
    array(select l.name from label_links k join labels l on l.id = k.label_id where k.issue_id = i.id order by l.name, l.id) as labels,
    (select m.title from milestones m where m.id = i.milestone_id) as milestone from issues i where i.id = ${id}`.execute(
    db,
  );
  return rows[0] ?? { assignees: [], labels: [], milestone: null };
}

type Counted = { label_id: number } & Pick<LabelCounts, 'open_issues_count' | 'closed_issues_count'>;

/** The numbers of open and closed issues that the caller sees, of each label. */
export async function countByLabel(db: Db, caller: Caller, labelIds: readonly number[]): Promise<Counted[]> {
  const { ctes, condition } = visibleIssues(caller);
  const { rows } = await sql<Counted>`
    with ${ctes}
    select l.label_id, count(*) filter (where i.state = 'opened') as open_issues_count,
      count(*) filter (where i.state = 'closed') as closed_issues_count
    from label_links l join issues i on i.id = l.issue_id join listed_projects v on v.id = i.project_id
    where l.label_id = any(${[...labelIds]}::bigint[]) and ${condition} group by l.label_id`.execute(db);
  return rows;
}
