/** Finds merge requests for a caller: a hidden one is 404, as a missing one is. */
import { type AuthorizedProject, authorizeProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import { Failure, notFound } from '../../../platform/failure.ts';
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

/** The merge request by its id, with its project; 404 unless it exists and the caller sees it. */
export async function findMergeRequestById(
  db: Db,
  points: Sql,
  caller: Caller,
  id: number,
): Promise<{ row: MergeRequestRow; project: AuthorizedProject }> {
  const row = await db.selectFrom('merge_requests').selectAll().where('id', '=', id).executeTakeFirst();
  if (!row) throw notFound();
  const project = await authorizeProject(points, caller, 'read_merge_requests', row.project_id).catch(
    (error) => {
      // A 403 from the project would reveal the merge request.
      throw error instanceof Failure && error.kind !== 'unavailable' ? notFound() : error;
    },
  );
  return { row, project };
}

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
