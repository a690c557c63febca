/** Statements with which a metric image's file is served. */
import type { Db } from '../../../platform/db/database.ts';
import type { MetricImageRow } from './actions.ts';

/** The image of the project by its id and the name of its file. */
export const selectImageByName = (
  db: Db,
  projectId: number,
  id: number,
  fileName: string,
): Promise<MetricImageRow | undefined> =>
  db
    .selectFrom('metric_images')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .where('file_name', '=', fileName)
    .executeTakeFirst();

/** The number of the project's issue with an id. */
export const selectIid = async (
  db: Db,
  projectId: number,
  issueId: number | null,
): Promise<number | undefined> => {
  const issue = await db
    .selectFrom('issues')
    .select('iid')
    .where('id', '=', issueId)
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  return issue?.iid;
};
