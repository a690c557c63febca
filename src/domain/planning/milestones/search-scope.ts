/** Milestones in searches. */
import { mapPage } from '../../../platform/pagination/page.ts';
import type { SearchScope } from '../../search/index.ts';
import { MilestoneRecord, presentMilestone } from './milestone-records.ts';
import { searchMilestones } from './search-queries.ts';

export const milestoneSearch: SearchScope<typeof MilestoneRecord> = {
  record: MilestoneRecord,
  async find(request) {
    const baseUrl = request.services.baseUrl();
    return mapPage(await searchMilestones(request), (row) =>
      presentMilestone(row, { baseUrl, fullPath: row.full_path }),
    );
  },
};
