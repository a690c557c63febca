/** Finds merged merge requests by the commits that merging them made. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { SystemNote } from '../../work-items/index.ts';

/** Where it was merged without a commit of its own, by its newest one. */
export async function selectMergedBy(db: Db, projectId: number, sha: string): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select id from merge_requests where project_id = ${projectId} and state = 'merged' and id in (
      select id from merge_requests where merge_commit_sha = ${sha}
      union select id from merge_requests where squash_commit_sha = ${sha}
      union select c.merge_request_id from merge_request_commits c join merge_requests m on m.id = c.merge_request_id
        where c.sha = ${sha} and m.head_sha = ${sha} and m.merge_commit_sha is null)
    order by id limit 1`.execute(db);
  return rows[0]?.id;
}

export const hasNote = async (tx: Db, id: number, { action, body }: SystemNote): Promise<boolean> =>
  (await tx
    .selectFrom('notes')
    .select('id')
    .where('merge_request_id', '=', id)
    .where('system_action', '=', action)
    .where('body', '=', body)
    .executeTakeFirst()) !== undefined;
