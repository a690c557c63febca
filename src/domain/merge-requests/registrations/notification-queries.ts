/** Statements with which merge requests are found for mails. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

/** A merge request and the ids of its assignees and reviewers. */
export type InvolvedMergeRequest = MergeRequestRow & { assignee_ids: number[]; reviewer_ids: number[] };

type PeopleTable = 'merge_request_assignees' | 'merge_request_reviewers';

export const selectPeopleOf = (table: PeopleTable, id: number): RawBuilder<unknown> =>
  sql`select user_id from ${sql.table(table)} where merge_request_id = ${id}`;

export const selectInProject = (projectId: number, id: number): RawBuilder<InvolvedMergeRequest> => sql`
  select *, array(${selectPeopleOf('merge_request_assignees', id)}) as assignee_ids,
    array(${selectPeopleOf('merge_request_reviewers', id)}) as reviewer_ids
  from merge_requests where id = ${id} and project_id = ${projectId}`;

/** Keeps the merge request from being deleted until the transaction ends; undefined when it is gone. */
export const keepMergeRequest = (tx: Db, id: number) =>
  tx.selectFrom('merge_requests').select('id').where('id', '=', id).forKeyShare().executeTakeFirst();

type Properties = { assignees: string[]; reviewers: string[]; labels: string[]; milestone: string | null };

const namesOf = (table: PeopleTable): RawBuilder<unknown> => sql`
  array(select u.name from ${sql.table(table)} a join users u on u.id = a.user_id
    where a.merge_request_id = i.id order by u.id)`;

/** The names of its assignees, reviewers and labels, and the title of its milestone. */
export async function selectProperties(db: Db, id: number): Promise<Properties> {
  const { rows } = await sql<Properties>`select
    ${namesOf('merge_request_assignees')} as assignees, ${namesOf('merge_request_reviewers')} as reviewers,
    array(select l.name from label_links k join labels l on l.id = k.label_id
      where k.merge_request_id = i.id order by l.name, l.id) as labels,
    (select m.title from milestones m where m.id = i.milestone_id) as milestone
    from merge_requests i where i.id = ${id}`.execute(db);
  return rows[0] ?? noProperties;
}

export const noProperties: Properties = { assignees: [], reviewers: [], labels: [], milestone: null };
