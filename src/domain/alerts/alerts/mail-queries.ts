/** Statements of mail about new alerts. */
import type { Db } from '../../../platform/db/database.ts';
import type { AlertRow } from '../records.ts';

export type AlertFact = { project_id: number; alert_id: number; fact_id: number };

/** The alert; undefined where it is no longer triggered. */
export const selectTriggered = (db: Db, { alert_id, project_id }: AlertFact): Promise<AlertRow | undefined> =>
  db
    .selectFrom('alerts')
    .selectAll()
    .where('id', '=', alert_id)
    .where('project_id', '=', project_id)
    .where('status', '=', 'triggered')
    .executeTakeFirst();

/** The number of an issue; undefined where it is gone. */
export const selectIssueIid = async (db: Db, id: number): Promise<number | undefined> =>
  (await db.selectFrom('issues').select('iid').where('id', '=', id).executeTakeFirst())?.iid;
