/** Finds merge requests for a caller: a hidden one is 404, as a missing one is. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/failure.ts';
import type { MergeRequestRow } from './merge-request-rows.ts';

/** The merge request of the target's project by its number; 404 unless it exists. */
export async function findMergeRequest(
  db: Db,
  project: AuthorizedProject,
  iid: number,
): Promise<MergeRequestRow> {
  const row = await db
    .selectFrom('merge_requests')
    .selectAll()
    .where('project_id', '=', project.id)
    .where('iid', '=', iid)
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

/** The same with the commits of its present version, newest first; by one statement. */
export async function findWithCommits(
  db: Db,
  project: AuthorizedProject,
  iid: number,
): Promise<{ row: MergeRequestRow; commits: string[] }> {
  const found = await db
    .selectFrom('merge_requests')
    .selectAll()
    .select(
      sql<string[]>`array(select c.sha from merge_request_commits c
        where c.merge_request_id = merge_requests.id order by c.place)`.as('commits'),
    )
    .where('project_id', '=', project.id)
    .where('iid', '=', iid)
    .executeTakeFirst();
  if (!found) throw notFound();
  const { commits, ...row } = found;
  return { row, commits };
}

/** The row by its id, of whatever project: what calls it asks for the rights. */
export const selectMergeRequest = (db: Db, id: number): Promise<MergeRequestRow | undefined> =>
  db.selectFrom('merge_requests').selectAll().where('id', '=', id).executeTakeFirst();

/** The row, locked until the transaction ends; 404 when it is gone. */
export async function lockMergeRequest(tx: Db, id: number): Promise<MergeRequestRow> {
  const row = await tx
    .selectFrom('merge_requests')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}
