/** Merge requests as labels and milestones plan them. */
import type { Planned } from '../../planning/index.ts';
import { countByLabel } from './queries.ts';

export const plannedMergeRequests: Planned = {
  table: 'merge_requests',
  column: 'merge_request_id',
  async countByLabel(db, caller, labelIds) {
    if (labelIds.length === 0) return new Map();
    const rows = await countByLabel(db, caller, labelIds);
    return new Map(rows.map(({ label_id, ...counts }) => [label_id, counts]));
  },
};
