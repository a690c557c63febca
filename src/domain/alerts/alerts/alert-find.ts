/** Finds an alert of a project whose alerts the caller reads. */

import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Db } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/failure.ts';
import type { AlertRow } from './records.ts';

/** The alert of the project by its number; 404 without one. */
export async function findAlert(db: Db, project: AuthorizedProject, iid: number): Promise<AlertRow> {
  const alert = await db
    .selectFrom('alerts')
    .selectAll()
    .where('project_id', '=', project.id)
    .where('iid', '=', iid)
    .executeTakeFirst();
  if (!alert) throw notFound('Alert');
  return alert;
}
