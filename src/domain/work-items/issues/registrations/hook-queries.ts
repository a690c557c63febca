/** Reads what payloads of issues show beside the row. */
import { sql } from 'kysely';
import type { Db } from '../../../../platform/db/database.ts';

export const selectNewestIssue = (
  db: Db,
  projectId: number,
  isConfidential: boolean,
): Promise<{ id: number } | undefined> =>
  db
    .selectFrom('issues')
    .select('id')
    .where('project_id', '=', projectId)
    .where('confidential', '=', isConfidential)
    .orderBy('iid', 'desc')
    .executeTakeFirst();

export async function selectSpentSeconds(db: Db, issueId: number): Promise<number> {
  const { rows } = await sql<{ spent: number }>`
    select coalesce(sum(seconds), 0)::bigint as spent from timelogs where issue_id = ${issueId}`.execute(db);
  return rows[0]?.spent ?? 0;
}
