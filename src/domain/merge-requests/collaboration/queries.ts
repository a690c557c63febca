/** Open merge requests whose source branch others may push to. */
import type { Db } from '../../../platform/db/database.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';

/** Of one project: a push by somebody else looks at no more. */
const MAX_SHARED = 100;

/** From the project into others, one for each pair of branches. */
export const selectShared = (
  db: Db,
  sourceProjectId: number,
): Promise<Pick<MergeRequestRow, 'project_id' | 'source_branch' | 'target_branch'>[]> =>
  db
    .selectFrom('merge_requests')
    .select(['project_id', 'source_branch', 'target_branch'])
    .where('source_project_id', '=', sourceProjectId)
    .where('project_id', '<>', sourceProjectId)
    .where('state', '=', 'opened')
    .where('allow_collaboration', '=', true)
    .orderBy('source_branch')
    .orderBy('id')
    .limit(MAX_SHARED)
    .execute();
