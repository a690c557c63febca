/** Issues that texts name. */
import { sql } from 'kysely';
import type { Db } from '../../../../platform/db/database.ts';
import type { IssueRow } from './issue-rows.ts';

type Referenced = Pick<
  IssueRow,
  'id' | 'project_id' | 'iid' | 'title' | 'state' | 'confidential' | 'author_id' | 'discussion_locked'
> & { assigned: boolean };

/** The issues that texts name, each by its project and number, and whether the reader is assigned. */
export async function selectReferenced(
  db: Db,
  projectIds: readonly number[],
  numbers: readonly number[],
  readerId: number,
): Promise<Referenced[]> {
  const { rows } = await sql<Referenced>`
    select id, project_id, iid, title, state, confidential, author_id, discussion_locked, exists (
      select from issue_assignees a where a.issue_id = issues.id and a.user_id = ${readerId}) as assigned
    from issues where (project_id, iid) in (
      select * from unnest(${projectIds}::bigint[], ${numbers}::bigint[]))`.execute(db);
  return rows;
}
