/** Merge requests in searches. */
import type { SearchScope } from '../../search/index.ts';
import { MergeRequestBasicRecord, presentMergeRequests } from '../records/merge-request-records.ts';
import { searchMergeRequests } from './search-queries.ts';

export const mergeRequestSearch: SearchScope<typeof MergeRequestBasicRecord> = {
  record: MergeRequestBasicRecord,
  async find(request) {
    const page = await searchMergeRequests(request);
    const across = request.container.in !== 'project';
    return { ...page, items: await presentMergeRequests(request, page.items, { across }) };
  },
};
