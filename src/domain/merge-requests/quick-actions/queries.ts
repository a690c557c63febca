/** Whom a merge request has now, for quick actions that add to them. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';

export type PeopleIds = { assigneeIds: number[]; reviewerIds: number[] };

export async function selectPeopleIds(db: Db, id: number): Promise<PeopleIds> {
  const { rows } = await sql<PeopleIds>`
    select array(select user_id from merge_request_assignees where merge_request_id = ${id} order by user_id) as "assigneeIds",
      array(select user_id from merge_request_reviewers where merge_request_id = ${id} order by user_id) as "reviewerIds"`.execute(
    db,
  );
  return rows[0] ?? { assigneeIds: [], reviewerIds: [] };
}
