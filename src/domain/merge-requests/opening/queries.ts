/** Finds the open merge request of the same branches. */
import type { Db } from '../../../platform/db/database.ts';
import type { Branches } from './branches.ts';

export const selectOpenTwin = (
  db: Db,
  { sourceProjectId, sourceBranch, target, targetBranch }: Branches,
): Promise<{ iid: number } | undefined> =>
  db
    .selectFrom('merge_requests')
    .select('iid')
    .where('project_id', '=', target.id)
    .where('source_project_id', '=', sourceProjectId)
    .where('source_branch', '=', sourceBranch)
    .where('target_branch', '=', targetBranch)
    .where('state', 'in', ['opened', 'locked'])
    .executeTakeFirst();
